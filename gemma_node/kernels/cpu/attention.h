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
// Attention of up to eight queries of one lane and one key-value head over pages of 64 positions.
//
// A page of a layer holds, per head, keys as [4][head_dim][16 positions] and values as
// [64][head_dim]. Scores, softmax and the weighted sum go over absolute positions in ascending
// order: in a page one after the other, then page by page. What a query may not see is never
// read into its sums, so stale or foreign rows cannot reach it, not even as NaN.

#ifndef GEMMA_NODE__KERNELS__CPU__ATTENTION_H_
#define GEMMA_NODE__KERNELS__CPU__ATTENTION_H_

#include <cmath>

#include "step.h"
#include "vec.h"

namespace
{

constexpr int kQueries = 8;

GN_INLINE V load_kv(const float * p) {return load(p);}
GN_INLINE V load_kv(const uint16_t * p) {return load_bf16(p);}
GN_INLINE V load_kv(const uint8_t * p) {return load_fp8(p);}
GN_INLINE void put_kv(float * p, float x) {*p = x;}
GN_INLINE void put_kv(uint16_t * p, float x)
{
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  bits = is_nan ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u);
  *p = static_cast<uint16_t>(bits >> 16);
}
// To e4m3: nearest, ties to even, 448 at most.
GN_INLINE void put_kv(uint8_t * p, float x)
{
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  const uint32_t sign = bits >> 24 & 0x80u, size = bits & 0x7fffffffu;
  uint32_t code;
  if (size > 0x7f800000u) {
    code = 0x7fu;
  } else if (size >= 0x43e00000u) {
    code = 0x7eu;
  } else if (size < 0x3c800000u) {
    // Below 2^-6 the steps are 2^-9.
    code = static_cast<uint32_t>(__builtin_rintf(std::fabs(x) * 512.0f));
  } else {
    code = ((size + 0x7ffffu + (size >> 20 & 1u)) >> 20) - (120u << 3);
  }
  *p = static_cast<uint8_t>(sign | code);
}

// What stored keys and values of one head are multiplied with; powers of two.
struct Scales
{
  float key;
  float value;
};

struct Query
{
  const float * q;
  float * out;
  float * scores;
  int low;
  int high;
};

// Scores of NQ queries against NB blocks of 16 positions.
template<int NQ, int NB, typename T>
GN_INLINE void score_blocks(
  const Query * queries, const T * keys, int head_dim, int column, float scale)
{
  V acc[NQ][NB];
  for (int i = 0; i < NQ; ++i) {
    for (int b = 0; b < NB; ++b) {
      acc[i][b] = zero();
    }
  }
  for (int d = 0; d < head_dim; ++d) {
    V k[NB];
    for (int b = 0; b < NB; ++b) {
      k[b] = load_kv(keys + (b * head_dim + d) * GN_WIDTH);
    }
    for (int i = 0; i < NQ; ++i) {
      const V q = set(queries[i].q[d]);
      for (int b = 0; b < NB; ++b) {
        acc[i][b] = fma(q, k[b], acc[i][b]);
      }
    }
  }
  for (int i = 0; i < NQ; ++i) {
    for (int b = 0; b < NB; ++b) {
      const V score = sizeof(T) == 1 ? acc[i][b] * set(scale) : acc[i][b];
      store(queries[i].scores + column + b * GN_WIDTH, score);
    }
  }
}

template<int NQ, typename T>
void score_page(const Query * queries, const T * keys, int head_dim, int column, float scale)
{
  constexpr int NB = NQ <= 4 ? 4 : 2;
  for (int b = 0; b < GN_PAGE / GN_WIDTH; b += NB) {
    score_blocks<NQ, NB>(
      queries, keys + b * head_dim * GN_WIDTH, head_dim, column + b * GN_WIDTH, scale);
  }
}

template<int NQ, int ND, typename T>
GN_INLINE void weigh_columns(
  const Query * queries, const T * values, int head_dim, int column, int begin, int end, int d)
{
  V acc[NQ][ND];
  for (int i = 0; i < NQ; ++i) {
    for (int n = 0; n < ND; ++n) {
      acc[i][n] = zero();
    }
  }
  for (int j = begin; j < end; ++j) {
    V v[ND];
    for (int n = 0; n < ND; ++n) {
      v[n] = load_kv(values + j * head_dim + d + n * GN_WIDTH);
    }
    for (int i = 0; i < NQ; ++i) {
      const V p = set(queries[i].scores[column + j]);
      for (int n = 0; n < ND; ++n) {
        acc[i][n] = fma(p, v[n], acc[i][n]);
      }
    }
  }
  for (int i = 0; i < NQ; ++i) {
    for (int n = 0; n < ND; ++n) {
      float * out = queries[i].out + d + n * GN_WIDTH;
      store(out, load(out) + acc[i][n]);
    }
  }
}

// Add positions [begin, end) of a page, weighted, to each query's sum.
template<int NQ, typename T>
void weigh_page(
  const Query * queries, const T * values, int head_dim, int column, int begin, int end)
{
  constexpr int ND = NQ <= 4 ? 4 : 2;
  int d = 0;
  for (; d + ND * GN_WIDTH <= head_dim; d += ND * GN_WIDTH) {
    weigh_columns<NQ, ND>(queries, values, head_dim, column, begin, end, d);
  }
  for (; d < head_dim; d += GN_WIDTH) {
    weigh_columns<NQ, 1>(queries, values, head_dim, column, begin, end, d);
  }
}

// Turn a query's scores into weights; columns start at position `first`, a page's start.
GN_INLINE float soften(const Query & query, int first)
{
  const int begin = (query.low - first) / GN_WIDTH * GN_WIDTH;
  const int end = (query.high - first) / GN_WIDTH * GN_WIDTH + GN_WIDTH;
  for (int c = begin; c < query.low - first; ++c) {
    query.scores[c] = -INFINITY;
  }
  for (int c = query.high - first + 1; c < end; ++c) {
    query.scores[c] = -INFINITY;
  }
  V top = set(-INFINITY);
  for (int c = begin; c < end; c += GN_WIDTH) {
    top = max(top, load(query.scores + c));
  }
  const V best = set(max_of(top));
  V sum = zero();
  for (int c = begin; c < end; c += GN_WIDTH) {
    const V weight = exp(load(query.scores + c) - best);
    store(query.scores + c, weight);
    sum = sum + weight;
  }
  return sum_of(sum);
}

template<int NQ, typename T>
void attend_queries(
  const Query * queries, const int64_t * pages, int64_t keys_at, int64_t values_at, int head_dim,
  Scales scales)
{
  int low = queries[0].low, high = queries[0].high;
  for (int i = 1; i < NQ; ++i) {
    low = queries[i].low < low ? queries[i].low : low;
    high = queries[i].high > high ? queries[i].high : high;
  }
  const int first_page = low / GN_PAGE, last_page = high / GN_PAGE;
  const int first = first_page * GN_PAGE;
  for (int page = first_page; page <= last_page; ++page) {
    const T * base = reinterpret_cast<const T *>(pages[page]);
    score_page<NQ>(queries, base + keys_at, head_dim, page * GN_PAGE - first, scales.key);
  }
  float sums[NQ];
  for (int i = 0; i < NQ; ++i) {
    sums[i] = soften(queries[i], first);
    for (int d = 0; d < head_dim; d += GN_WIDTH) {
      store(queries[i].out + d, zero());
    }
  }
  for (int page = first_page; page <= last_page; ++page) {
    const T * values = reinterpret_cast<const T *>(pages[page]) + values_at;
    const int start = page * GN_PAGE, column = start - first;
    bool is_whole = true;
    for (int i = 0; i < NQ; ++i) {
      is_whole &= queries[i].low <= start && queries[i].high >= start + GN_PAGE - 1;
    }
    if (is_whole) {
      weigh_page<NQ>(queries, values, head_dim, column, 0, GN_PAGE);
      continue;
    }
    for (int i = 0; i < NQ; ++i) {
      const int begin = queries[i].low > start ? queries[i].low - start : 0;
      const int end = queries[i].high < start + GN_PAGE ? queries[i].high + 1 - start : GN_PAGE;
      if (begin < end) {
        weigh_page<1>(queries + i, values, head_dim, column, begin, end);
      }
    }
  }
  for (int i = 0; i < NQ; ++i) {
    const float one = sizeof(T) == 1 ? scales.value : 1.0f;
    const V share = set(one / sums[i]);
    for (int d = 0; d < head_dim; d += GN_WIDTH) {
      store(queries[i].out + d, load(queries[i].out + d) * share);
    }
  }
}

template<typename T>
void attend(
  const Query * queries, int count, const int64_t * pages, int64_t keys_at, int64_t values_at,
  int head_dim, Scales scales)
{
#define GN_CASE(n) \
  case n: attend_queries<n, T>(queries, pages, keys_at, values_at, head_dim, scales); break
  switch (count) {
    GN_CASE(1);
    GN_CASE(2);
    GN_CASE(3);
    GN_CASE(4);
    GN_CASE(5);
    GN_CASE(6);
    GN_CASE(7);
    default: attend_queries<8, T>(queries, pages, keys_at, values_at, head_dim, scales);
  }
#undef GN_CASE
}

}  // namespace

#endif  // GEMMA_NODE__KERNELS__CPU__ATTENTION_H_
