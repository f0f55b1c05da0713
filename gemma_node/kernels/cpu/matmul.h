// Copyright 2026 The gemma_node authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.
// y = x W^T for a block of columns of y. Weights lie so that one vector holds one column of 16
// outputs; x is broadcast. Each output sums its columns in ascending order in runs of 64 (a group
// of Q4), and the runs in ascending order, in every shape of tile. Where bytes can be multiplied,
// codes.h has the products with 4-bit codes.

#ifndef GEMMA_NODE__KERNELS__CPU__MATMUL_H_
#define GEMMA_NODE__KERNELS__CPU__MATMUL_H_

#include "codes.h"
#include "step.h"
#include "vec.h"

namespace
{

constexpr int kRun = 64;

struct Rows
{
  const float * x;
  int stride;
  // Q4: sums of x by group, [rows][groups].
  const float * sums;
};

template<int MR, int NV>
struct Tile
{
  V acc[MR][NV];

  GN_INLINE void clear()
  {
    for (int m = 0; m < MR; ++m) {
      for (int n = 0; n < NV; ++n) {
        acc[m][n] = zero();
      }
    }
  }

  GN_INLINE void step(const float * x, int stride, const V (& w)[NV])
  {
    for (int m = 0; m < MR; ++m) {
      const V value = set(x[static_cast<int64_t>(m) * stride]);
      for (int n = 0; n < NV; ++n) {
        acc[m][n] = fma(value, w[n], acc[m][n]);
      }
    }
  }
};

template<int J, int MR, int NV>
GN_INLINE void step_codes(Tile<MR, NV> & tile, const float * x, int stride, const I (& words)[NV])
{
  V w[NV];
  for (int n = 0; n < NV; ++n) {
    w[n] = code<J>(words[n]);
  }
  tile.step(x + J, stride, w);
}

// Sum columns [begin, end) of one run into the tile.
template<int KIND, int MR, int NV>
GN_INLINE void run(
  Tile<MR, NV> & tile, const GnMatrix & matrix, int first, const float * x, int stride,
  int begin, int end)
{
  const int64_t columns = matrix.columns;
  if (KIND == GN_Q4) {
    const uint32_t * data = static_cast<const uint32_t *>(matrix.data) + first * columns * 2;
    for (int k = begin; k < end; k += 8) {
      I words[NV];
      for (int n = 0; n < NV; ++n) {
        words[n] = load_words(data + n * columns * 2 + static_cast<int64_t>(k) * 2);
      }
      step_codes<0>(tile, x + k, stride, words);
      step_codes<1>(tile, x + k, stride, words);
      step_codes<2>(tile, x + k, stride, words);
      step_codes<3>(tile, x + k, stride, words);
      step_codes<4>(tile, x + k, stride, words);
      step_codes<5>(tile, x + k, stride, words);
      step_codes<6>(tile, x + k, stride, words);
      step_codes<7>(tile, x + k, stride, words);
    }
  } else if (KIND == GN_BF16) {
    const uint16_t * data = static_cast<const uint16_t *>(matrix.data) + first * columns * 16;
    for (int k = begin; k < end; k += 2) {
      V low[NV], high[NV];
      for (int n = 0; n < NV; ++n) {
        const I words = load_words(data + n * columns * 16 + static_cast<int64_t>(k) * 16);
        low[n] = low_bf16(words);
        high[n] = high_bf16(words);
      }
      tile.step(x + k, stride, low);
      tile.step(x + k + 1, stride, high);
    }
  } else {
    const float * data = static_cast<const float *>(matrix.data) + first * columns * 16;
    for (int k = begin; k < end; ++k) {
      V w[NV];
      for (int n = 0; n < NV; ++n) {
        w[n] = load(data + n * columns * 16 + static_cast<int64_t>(k) * 16);
      }
      tile.step(x + k, stride, w);
    }
  }
}

template<int KIND, int MR, int NV>
__attribute__((noinline)) void multiply(
  const GnMatrix & matrix, int first, const Rows & rows, int row, float * y, int y_stride)
{
  const int length = KIND == GN_Q4 ? matrix.group : kRun;
  const int groups = KIND == GN_Q4 ? matrix.columns / matrix.group : 0;
  const float * x = rows.x + static_cast<int64_t>(row) * rows.stride;
  float total[MR][NV][GN_WIDTH];
  for (int begin = 0; begin < matrix.columns; begin += length) {
    const int end = begin + length < matrix.columns ? begin + length : matrix.columns;
    Tile<MR, NV> tile;
    tile.clear();
    run<KIND>(tile, matrix, first, x, rows.stride, begin, end);
    for (int n = 0; n < NV; ++n) {
      V scale, bias;
      if (KIND == GN_Q4) {
        const int64_t at = (static_cast<int64_t>(first + n) * groups + begin / length) * GN_WIDTH;
        scale = load(matrix.scales + at);
        bias = load(matrix.biases + at);
      }
      for (int m = 0; m < MR; ++m) {
        const V before = begin ? load(total[m][n]) : zero();
        V after;
        if (KIND == GN_Q4) {
          const float sum = rows.sums[static_cast<int64_t>(row + m) * groups + begin / length];
          after = fma(bias, set(sum), fma(scale, tile.acc[m][n], before));
        } else {
          after = before + tile.acc[m][n];
        }
        store(total[m][n], after);
      }
    }
  }
  for (int m = 0; m < MR; ++m) {
    float * out = y + static_cast<int64_t>(row + m) * y_stride;
    for (int n = 0; n < NV; ++n) {
      store(out + static_cast<int64_t>(first + n) * GN_WIDTH, load(total[m][n]));
    }
  }
}

template<int KIND, int MR, int NV>
void multiply_range(
  const GnMatrix & matrix, int begin, int end, const Rows & rows, int row, float * y, int y_stride)
{
  int first = begin;
  for (; first + NV <= end; first += NV) {
    multiply<KIND, MR, NV>(matrix, first, rows, row, y, y_stride);
  }
  for (; first < end; ++first) {
    multiply<KIND, MR, 1>(matrix, first, rows, row, y, y_stride);
  }
}

template<int KIND>
void multiply_rows(
  const GnMatrix & matrix, int begin, int end, const Rows & rows, int count, float * y,
  int y_stride)
{
  // What is left below twelve goes in two tiles of few wasted loads: 5 = 3 + 2, 11 = 8 + 3.
  static constexpr int kFirst[12] = {0, 1, 2, 3, 4, 3, 6, 4, 8, 6, 6, 8};
  int row = 0;
  while (row < count) {
    const int left = count - row, size = left >= 12 ? 12 : kFirst[left];
    switch (size) {
      case 12: multiply_range<KIND, 12, 2>(matrix, begin, end, rows, row, y, y_stride); break;
      case 8: multiply_range<KIND, 8, 2>(matrix, begin, end, rows, row, y, y_stride); break;
      case 6: multiply_range<KIND, 6, 4>(matrix, begin, end, rows, row, y, y_stride); break;
      case 4: multiply_range<KIND, 4, 4>(matrix, begin, end, rows, row, y, y_stride); break;
      case 3: multiply_range<KIND, 3, 4>(matrix, begin, end, rows, row, y, y_stride); break;
      case 2: multiply_range<KIND, 2, 4>(matrix, begin, end, rows, row, y, y_stride); break;
      default: multiply_range<KIND, 1, 8>(matrix, begin, end, rows, row, y, y_stride);
    }
    row += size;
  }
}

// Sums of x by group: 16 partial sums, then a fixed tree.
GN_INLINE void group_sums(const float * x, int stride, int count, int columns, int group, float * s)
{
  const int groups = columns / group;
  for (int m = 0; m < count; ++m) {
    for (int g = 0; g < groups; ++g) {
      V acc = zero();
      for (int k = g * group; k < (g + 1) * group; k += GN_WIDTH) {
        acc = acc + load(x + static_cast<int64_t>(m) * stride + k);
      }
      s[static_cast<int64_t>(m) * groups + g] = sum_of(acc);
    }
  }
}

// How many numbers `matmul_range` needs room for.
inline int64_t room_size(int rows, int columns)
{
#if defined(GN_USE_AVX512VNNI)
  return packed_size(rows, columns);
#else
  return static_cast<int64_t>(rows) * (columns / 8 + 1);
#endif
}

// Write output vectors [begin, end) of `count` rows; `room` is of `room_size` numbers.
inline void matmul_range(
  const GnMatrix & matrix, int begin, int end, const float * x, int x_stride, int count, float * y,
  int y_stride, int32_t * room)
{
  // Eight vectors of outputs at a time: their weights stay in the cache while all rows pass.
  constexpr int kChunk = 8;
#if defined(GN_USE_AVX512VNNI)
  Packed packed{};
  if (matrix.kind == GN_Q4) {
    packed = pack_rows(x, x_stride, count, matrix.columns, matrix.group, room);
  }
  const Rows rows{x, x_stride, nullptr};
#else
  float * sums = reinterpret_cast<float *>(room);
  if (matrix.kind == GN_Q4) {
    group_sums(x, x_stride, count, matrix.columns, matrix.group, sums);
  }
  const Rows rows{x, x_stride, sums};
#endif
  for (int at = begin; at < end; at += kChunk) {
    const int stop = at + kChunk < end ? at + kChunk : end;
    if (matrix.kind == GN_Q4) {
#if defined(GN_USE_AVX512VNNI)
      multiply_codes_rows(matrix, at, stop, packed, count, y, y_stride);
#else
      multiply_rows<GN_Q4>(matrix, at, stop, rows, count, y, y_stride);
#endif
    } else if (matrix.kind == GN_BF16) {
      multiply_rows<GN_BF16>(matrix, at, stop, rows, count, y, y_stride);
    } else {
      multiply_rows<GN_F32>(matrix, at, stop, rows, count, y, y_stride);
    }
  }
}

}  // namespace

#endif  // GEMMA_NODE__KERNELS__CPU__MATMUL_H_
