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
// Products of 4-bit codes as integers, where the processor multiplies bytes (AVX-512 VNNI).
//
// x is rounded to fixed point, 24 bits for each group of columns with one power of two as step,
// and cut into three planes of signed bytes. Sums of codes times bytes are exact, so no shape of
// tile can change them; what follows once per group is the same for every element.

#ifndef GEMMA_NODE__KERNELS__CPU__CODES_H_
#define GEMMA_NODE__KERNELS__CPU__CODES_H_

#include "step.h"
#include "vec.h"

#if defined(GN_USE_AVX512VNNI)

namespace
{

constexpr int kPlanes = 3;
// int32 of a group of one row: -8 times each plane's sum, then two floats, the step and the sum.
constexpr int kFacts = 8;
constexpr int kStepAt = 3;
constexpr int kSumAt = 4;

// Room for packed rows: [rows][columns / 8][8], of which word 2 p + h holds plane p of the columns
// that are even (h = 0) or odd; then [rows][groups][kFacts].
struct Packed
{
  const int32_t * words;
  const int32_t * facts;
};

inline int64_t packed_size(int rows, int columns)
{
  // No group is narrower than 16 columns.
  return static_cast<int64_t>(rows) * (columns + columns / 16 * kFacts);
}

GN_INLINE int32_t bits_of(float x) {int32_t bits; std::memcpy(&bits, &x, 4); return bits;}
GN_INLINE float float_of(int32_t bits) {float x; std::memcpy(&x, &bits, 4); return x;}

// Round a group of one row to fixed point, pack its planes and note its facts.
GN_INLINE void pack_group(const float * x, int group, int32_t * words, int32_t * facts)
{
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  __m512i largest = _mm512_setzero_si512();
  for (int k = 0; k < group; k += GN_WIDTH) {
    largest = _mm512_max_epi32(
      largest, _mm512_and_si512(_mm512_loadu_si512(x + k), magnitude));
  }
  const int32_t top = _mm512_reduce_max_epi32(largest);
  // The least power of two above; the margin keeps what is rounded within three signed bytes.
  int exponent = bits_of(float_of(top) * 1.004f) >> 23;
  exponent = exponent < 23 ? 23 : exponent;
  const bool is_finite = top < 0x7f800000;
  const __m512 factor = _mm512_set1_ps(float_of((276 - exponent) << 23));
  const float step = is_finite ? float_of((exponent - 22) << 23) : NAN;
  const __m512i middle = _mm512_set1_epi32(0x8080);
  // In each four columns, bytes of planes by columns 0, 2, 1, 3; then pairs of fours interleave.
  const __m512i by_plane = _mm512_broadcast_i32x4(
    _mm_setr_epi8(0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, -1, -1, -1, -1));
  const __m512i interleave = _mm512_set_epi16(
    31, 23, 30, 22, 29, 21, 28, 20, 27, 19, 26, 18, 25, 17, 24, 16,
    15, 7, 14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0);
  __m512i sums = _mm512_setzero_si512();
  for (int k = 0; k < group; k += GN_WIDTH) {
    const __m512i whole = _mm512_cvt_roundps_epi32(
      _mm512_mul_ps(_mm512_loadu_ps(x + k), factor), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512i bytes = _mm512_xor_si512(_mm512_add_epi32(whole, middle), middle);
    const __m512i planes =
      _mm512_permutexvar_epi16(interleave, _mm512_shuffle_epi8(bytes, by_plane));
    _mm512_storeu_si512(words + k, planes);
    sums = _mm512_dpbusd_epi32(sums, _mm512_set1_epi8(1), planes);
  }
  int32_t sum[GN_WIDTH];
  _mm512_storeu_si512(sum, sums);
  int64_t total = 0;
  for (int plane = kPlanes - 1; plane >= 0; --plane) {
    const int at = 2 * plane;
    const int32_t of_plane = sum[at] + sum[at + 1] + sum[at + 8] + sum[at + 9];
    facts[plane] = -8 * of_plane;
    total = total * 256 + of_plane;
  }
  facts[kStepAt] = bits_of(step);
  facts[kSumAt] = bits_of(static_cast<float>(total) * step);
}

inline Packed pack_rows(
  const float * x, int stride, int rows, int columns, int group, int32_t * room)
{
  const int groups = columns / group;
  int32_t * facts = room + static_cast<int64_t>(rows) * columns;
  for (int row = 0; row < rows; ++row) {
    for (int g = 0; g < groups; ++g) {
      pack_group(
        x + static_cast<int64_t>(row) * stride + g * group, group,
        room + static_cast<int64_t>(row) * columns + g * group,
        facts + (static_cast<int64_t>(row) * groups + g) * kFacts);
    }
  }
  return {room, facts};
}

template<int MR, int NV>
struct CodeTile
{
  __m512i acc[MR][NV][kPlanes];

  GN_INLINE void start(const int32_t * facts, int64_t stride)
  {
    for (int m = 0; m < MR; ++m) {
      for (int p = 0; p < kPlanes; ++p) {
        for (int n = 0; n < NV; ++n) {
          acc[m][n][p] = _mm512_set1_epi32(facts[m * stride + p]);
        }
      }
    }
  }

  // Add eight columns; `half` 1 for the odd ones of them.
  GN_INLINE void step(const int32_t * x, int64_t stride, int half, const __m512i (& codes)[NV])
  {
    for (int m = 0; m < MR; ++m) {
      for (int p = 0; p < kPlanes; ++p) {
        const __m512i bytes = _mm512_set1_epi32(x[m * stride + 2 * p + half]);
        for (int n = 0; n < NV; ++n) {
          acc[m][n][p] = _mm512_dpbusd_epi32(acc[m][n][p], codes[n], bytes);
        }
      }
    }
  }

  // The sum of (code - 8) x in steps, rounded twice.
  GN_INLINE V value(int m, int n) const
  {
    const __m512i low = _mm512_add_epi32(_mm512_slli_epi32(acc[m][n][1], 8), acc[m][n][0]);
    const V high = {_mm512_cvtepi32_ps(acc[m][n][2])};
    return fma(high, set(65536.0f), V{_mm512_cvtepi32_ps(low)});
  }
};

template<int MR, int NV>
__attribute__((noinline)) void multiply_codes(
  const GnMatrix & matrix, int first, const Packed & packed, int row, float * y, int y_stride)
{
  const int64_t columns = matrix.columns;
  const int group = matrix.group, groups = matrix.columns / group;
  const uint32_t * data = static_cast<const uint32_t *>(matrix.data) + first * columns * 2;
  const int32_t * words = packed.words + row * columns;
  const __m512i low = _mm512_set1_epi8(15);
  float total[MR][NV][GN_WIDTH];
  for (int g = 0; g < groups; ++g) {
    const int32_t * facts = packed.facts + (static_cast<int64_t>(row) * groups + g) * kFacts;
    const int64_t facts_stride = static_cast<int64_t>(groups) * kFacts;
    CodeTile<MR, NV> tile;
    tile.start(facts, facts_stride);
    for (int k = g * group; k < (g + 1) * group; k += 8) {
      __m512i loaded[NV], codes[NV];
      for (int n = 0; n < NV; ++n) {
        loaded[n] = _mm512_loadu_si512(data + n * columns * 2 + static_cast<int64_t>(k) * 2);
        codes[n] = _mm512_and_si512(loaded[n], low);
      }
      tile.step(words + k, columns, 0, codes);
      for (int n = 0; n < NV; ++n) {
        codes[n] = _mm512_and_si512(_mm512_srli_epi32(loaded[n], 4), low);
      }
      tile.step(words + k, columns, 1, codes);
    }
    for (int n = 0; n < NV; ++n) {
      const int64_t at = (static_cast<int64_t>(first + n) * groups + g) * GN_WIDTH;
      const V scale = load(matrix.scales + at), bias = load(matrix.biases + at);
      for (int m = 0; m < MR; ++m) {
        const V step = set(float_of(facts[m * facts_stride + kStepAt]));
        const V sum = set(float_of(facts[m * facts_stride + kSumAt]));
        const V before = g ? load(total[m][n]) : zero();
        store(total[m][n], fma(bias, sum, fma(scale, tile.value(m, n) * step, before)));
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

template<int MR, int NV>
void multiply_codes_range(
  const GnMatrix & matrix, int begin, int end, const Packed & packed, int row, float * y,
  int y_stride)
{
  int first = begin;
  for (; first + NV <= end; first += NV) {
    multiply_codes<MR, NV>(matrix, first, packed, row, y, y_stride);
  }
  for (; first < end; ++first) {
    multiply_codes<MR, 1>(matrix, first, packed, row, y, y_stride);
  }
}

inline void multiply_codes_rows(
  const GnMatrix & matrix, int begin, int end, const Packed & packed, int count, float * y,
  int y_stride)
{
  // More accumulators than these and the compiler keeps some of them in memory.
  int row = 0;
  while (row < count) {
    const int left = count - row;
    if (left == 1) {
      multiply_codes_range<1, 4>(matrix, begin, end, packed, row, y, y_stride);
      row += 1;
    } else if (left == 2 || left == 4) {
      multiply_codes_range<2, 2>(matrix, begin, end, packed, row, y, y_stride);
      row += 2;
    } else {
      multiply_codes_range<3, 2>(matrix, begin, end, packed, row, y, y_stride);
      row += 3;
    }
  }
}

}  // namespace

#endif  // GN_USE_AVX512VNNI

#endif  // GEMMA_NODE__KERNELS__CPU__CODES_H_
