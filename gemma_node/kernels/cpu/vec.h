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
// Sixteen float32 lanes: one AVX-512 register, two AVX registers, or plain loops.
//
// No operation is ever contracted behind our back (-ffp-contract=off): `fma` fuses where the
// processor can, and nothing else does, so one kernel gives one result in all its shapes.

#ifndef GEMMA_NODE__KERNELS__CPU__VEC_H_
#define GEMMA_NODE__KERNELS__CPU__VEC_H_

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(GN_USE_AVX512VNNI)
#define GN_USE_AVX512
#endif
#if defined(GN_USE_AVX512) || defined(GN_USE_AVX2)
#include <immintrin.h>
#endif

#define GN_INLINE inline __attribute__((always_inline))

namespace
{

#if defined(GN_USE_AVX512)

struct V { __m512 v; };
struct I { __m512i v; };

GN_INLINE V zero() {return {_mm512_setzero_ps()};}
GN_INLINE V set(float x) {return {_mm512_set1_ps(x)};}
GN_INLINE V load(const float * p) {return {_mm512_loadu_ps(p)};}
GN_INLINE void store(float * p, V a) {_mm512_storeu_ps(p, a.v);}
GN_INLINE V fma(V a, V b, V c) {return {_mm512_fmadd_ps(a.v, b.v, c.v)};}
GN_INLINE V operator+(V a, V b) {return {_mm512_add_ps(a.v, b.v)};}
GN_INLINE V operator-(V a, V b) {return {_mm512_sub_ps(a.v, b.v)};}
GN_INLINE V operator*(V a, V b) {return {_mm512_mul_ps(a.v, b.v)};}
GN_INLINE V operator/(V a, V b) {return {_mm512_div_ps(a.v, b.v)};}
GN_INLINE V max(V a, V b) {return {_mm512_max_ps(a.v, b.v)};}
GN_INLINE V min(V a, V b) {return {_mm512_min_ps(a.v, b.v)};}
GN_INLINE V round(V a) {return {_mm512_roundscale_ps(a.v, 8)};}
GN_INLINE V select_less(V a, V b, V x, V y)
{
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ), y.v, x.v)};
}
GN_INLINE V power_of_two(V n)
{
  const __m512i e = _mm512_add_epi32(_mm512_cvtps_epi32(n.v), _mm512_set1_epi32(127));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(e, 23))};
}
GN_INLINE I load_words(const void * p) {return {_mm512_loadu_si512(p)};}
GN_INLINE V low_bf16(I w) {return {_mm512_castsi512_ps(_mm512_slli_epi32(w.v, 16))};}
GN_INLINE V high_bf16(I w)
{
  return {_mm512_castsi512_ps(_mm512_and_si512(w.v, _mm512_set1_epi32(0xffff0000)))};
}
GN_INLINE V load_bf16(const uint16_t * p)
{
  const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16))};
}
// Value / 256 of e4m3: its bits are those of a half with seven more zeros.
GN_INLINE V load_fp8(const uint8_t * p)
{
  const __m256i wide =
    _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p)));
  const __m256i size = _mm256_and_si256(wide, _mm256_set1_epi16(0x7f));
  const __m256i sign = _mm256_slli_epi16(_mm256_and_si256(wide, _mm256_set1_epi16(0x80)), 8);
  const __m256i half = _mm256_or_si256(sign, _mm256_slli_epi16(size, 7));
  const __mmask16 is_nan = _mm256_cmpeq_epi16_mask(size, _mm256_set1_epi16(0x7f));
  return {_mm512_cvtph_ps(_mm256_mask_mov_epi16(half, is_nan, _mm256_set1_epi16(0x7e00)))};
}
template<int J>
GN_INLINE V code(I w)
{
  // The permutation reads the low four bits of each lane only.
  const __m512 levels = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
  return {_mm512_permutexvar_ps(J ? _mm512_srli_epi32(w.v, 4 * J) : w.v, levels)};
}

#elif defined(GN_USE_AVX2)

struct V { __m256 a, b; };
struct I { __m256i a, b; };

GN_INLINE V zero() {return {_mm256_setzero_ps(), _mm256_setzero_ps()};}
GN_INLINE V set(float x) {return {_mm256_set1_ps(x), _mm256_set1_ps(x)};}
GN_INLINE V load(const float * p) {return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};}
GN_INLINE void store(float * p, V x) {_mm256_storeu_ps(p, x.a); _mm256_storeu_ps(p + 8, x.b);}
GN_INLINE V fma(V x, V y, V z)
{
  return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}
GN_INLINE V operator+(V x, V y) {return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)};}
GN_INLINE V operator-(V x, V y) {return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)};}
GN_INLINE V operator*(V x, V y) {return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)};}
GN_INLINE V operator/(V x, V y) {return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)};}
GN_INLINE V max(V x, V y) {return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)};}
GN_INLINE V min(V x, V y) {return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)};}
GN_INLINE V round(V x) {return {_mm256_round_ps(x.a, 8), _mm256_round_ps(x.b, 8)};}
GN_INLINE V select_less(V p, V q, V x, V y)
{
  return {_mm256_blendv_ps(y.a, x.a, _mm256_cmp_ps(p.a, q.a, _CMP_LT_OQ)),
    _mm256_blendv_ps(y.b, x.b, _mm256_cmp_ps(p.b, q.b, _CMP_LT_OQ))};
}
GN_INLINE __m256 power_of_two(__m256 n)
{
  const __m256i e = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
  return _mm256_castsi256_ps(_mm256_slli_epi32(e, 23));
}
GN_INLINE V power_of_two(V n) {return {power_of_two(n.a), power_of_two(n.b)};}
GN_INLINE I load_words(const void * p)
{
  const __m256i * q = static_cast<const __m256i *>(p);
  return {_mm256_loadu_si256(q), _mm256_loadu_si256(q + 1)};
}
GN_INLINE __m256 low_bf16(__m256i w) {return _mm256_castsi256_ps(_mm256_slli_epi32(w, 16));}
GN_INLINE V low_bf16(I w) {return {low_bf16(w.a), low_bf16(w.b)};}
GN_INLINE V high_bf16(I w)
{
  const __m256i mask = _mm256_set1_epi32(0xffff0000);
  return {_mm256_castsi256_ps(_mm256_and_si256(w.a, mask)),
    _mm256_castsi256_ps(_mm256_and_si256(w.b, mask))};
}
GN_INLINE V load_bf16(const uint16_t * p)
{
  const __m128i * q = reinterpret_cast<const __m128i *>(p);
  return {low_bf16(_mm256_cvtepu16_epi32(_mm_loadu_si128(q))),
    low_bf16(_mm256_cvtepu16_epi32(_mm_loadu_si128(q + 1)))};
}
GN_INLINE __m256 half_fp8(__m128i bytes)
{
  const __m256i wide = _mm256_cvtepu8_epi32(bytes);
  const __m256i size = _mm256_and_si256(wide, _mm256_set1_epi32(0x7f));
  const __m256i sign = _mm256_slli_epi32(_mm256_and_si256(wide, _mm256_set1_epi32(0x80)), 24);
  const __m256i normal =
    _mm256_add_epi32(_mm256_slli_epi32(size, 20), _mm256_set1_epi32(112 << 23));
  const __m256 small = _mm256_mul_ps(_mm256_cvtepi32_ps(size), _mm256_set1_ps(0x1p-17f));
  const __m256i is_small = _mm256_cmpgt_epi32(_mm256_set1_epi32(8), size);
  const __m256i is_nan = _mm256_cmpeq_epi32(size, _mm256_set1_epi32(0x7f));
  const __m256i value =
    _mm256_blendv_epi8(normal, _mm256_castps_si256(small), is_small);
  return _mm256_castsi256_ps(_mm256_or_si256(
      sign, _mm256_blendv_epi8(value, _mm256_set1_epi32(0x7fc00000), is_nan)));
}
// Value / 256 of e4m3.
GN_INLINE V load_fp8(const uint8_t * p)
{
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(p));
  return {half_fp8(bytes), half_fp8(_mm_srli_si128(bytes, 8))};
}
template<int J>
GN_INLINE __m256 code(__m256i w)
{
  const __m256i bits = _mm256_and_si256(_mm256_srli_epi32(w, 4 * J), _mm256_set1_epi32(15));
  return _mm256_sub_ps(_mm256_cvtepi32_ps(bits), _mm256_set1_ps(8.0f));
}
template<int J>
GN_INLINE V code(I w) {return {code<J>(w.a), code<J>(w.b)};}

#else

struct V { float v[16]; };
struct I { uint32_t v[16]; };

#define GN_EACH(expression) \
  V r; \
  for (int i = 0; i < 16; ++i) {r.v[i] = (expression);} \
  return r

GN_INLINE float from_bits(uint32_t bits) {float x; std::memcpy(&x, &bits, 4); return x;}
GN_INLINE V set(float x) {GN_EACH(x);}
GN_INLINE V zero() {return set(0.0f);}
GN_INLINE V load(const float * p) {GN_EACH(p[i]);}
GN_INLINE void store(float * p, V a) {std::memcpy(p, a.v, sizeof(a.v));}
#if defined(__FP_FAST_FMAF)
GN_INLINE V fma(V a, V b, V c) {GN_EACH(__builtin_fmaf(a.v[i], b.v[i], c.v[i]));}
#else
GN_INLINE V fma(V a, V b, V c) {GN_EACH(a.v[i] * b.v[i] + c.v[i]);}
#endif
GN_INLINE V operator+(V a, V b) {GN_EACH(a.v[i] + b.v[i]);}
GN_INLINE V operator-(V a, V b) {GN_EACH(a.v[i] - b.v[i]);}
GN_INLINE V operator*(V a, V b) {GN_EACH(a.v[i] * b.v[i]);}
GN_INLINE V operator/(V a, V b) {GN_EACH(a.v[i] / b.v[i]);}
GN_INLINE V max(V a, V b) {GN_EACH(a.v[i] > b.v[i] ? a.v[i] : b.v[i]);}
GN_INLINE V min(V a, V b) {GN_EACH(a.v[i] < b.v[i] ? a.v[i] : b.v[i]);}
GN_INLINE V round(V a) {GN_EACH(__builtin_rintf(a.v[i]));}
GN_INLINE V select_less(V a, V b, V x, V y) {GN_EACH(a.v[i] < b.v[i] ? x.v[i] : y.v[i]);}
GN_INLINE V power_of_two(V n)
{
  GN_EACH(from_bits(static_cast<uint32_t>(static_cast<int32_t>(n.v[i]) + 127) << 23));
}
GN_INLINE I load_words(const void * p) {I r; std::memcpy(r.v, p, sizeof(r.v)); return r;}
GN_INLINE V low_bf16(I w) {GN_EACH(from_bits(w.v[i] << 16));}
GN_INLINE V high_bf16(I w) {GN_EACH(from_bits(w.v[i] & 0xffff0000u));}
GN_INLINE V load_bf16(const uint16_t * p)
{
  GN_EACH(from_bits(static_cast<uint32_t>(p[i]) << 16));
}
// Value / 256 of e4m3.
GN_INLINE float narrow_fp8(uint8_t byte)
{
  const uint32_t size = byte & 0x7fu, sign = static_cast<uint32_t>(byte & 0x80u) << 24;
  if (size == 0x7fu) {
    return from_bits(sign | 0x7fc00000u);
  }
  const float value = size < 8u ? static_cast<float>(size) * 0x1p-17f :
    from_bits((size << 20) + (112u << 23));
  return sign ? -value : value;
}
GN_INLINE V load_fp8(const uint8_t * p) {GN_EACH(narrow_fp8(p[i]));}
template<int J>
GN_INLINE V code(I w) {GN_EACH(static_cast<float>(w.v[i] >> (4 * J) & 15u) - 8.0f);}

#endif

GN_INLINE float sum_of(V a)
{
  float x[16];
  store(x, a);
  for (int half = 8; half; half /= 2) {
    for (int i = 0; i < half; ++i) {
      x[i] += x[i + half];
    }
  }
  return x[0];
}

GN_INLINE float max_of(V a)
{
  float x[16];
  store(x, a);
  float best = x[0];
  for (int i = 1; i < 16; ++i) {
    best = x[i] > best ? x[i] : best;
  }
  return best;
}

// exp to 1.5 ulp: two-part ln 2 and a polynomial of degree 6; exactly 0 below -87, finite above.
GN_INLINE V exp(V x)
{
  const V floor = set(-87.0f);
  // Both return their second operand where one is NaN, so a NaN stays one.
  const V y = min(set(88.0f), max(floor, x));
  const V n = round(y * set(1.44269504088896341f));
  V r = fma(n, set(-0.693359375f), y);
  r = fma(n, set(2.12194440e-4f), r);
  V p = set(1.0f / 720);
  p = fma(p, r, set(1.0f / 120));
  p = fma(p, r, set(1.0f / 24));
  p = fma(p, r, set(1.0f / 6));
  p = fma(p, r, set(0.5f));
  p = fma(p, r, set(1.0f));
  p = fma(p, r, set(1.0f));
  return select_less(x, floor, zero(), p * power_of_two(n));
}

// x / (1 + exp(-2 u)) with u = sqrt(2 / pi) (x + 0.044715 x^3) is the tanh form of GELU.
GN_INLINE V gelu(V x)
{
  const V cubic = x * x * x;
  const V u = fma(set(0.044715f), cubic, x) * set(-2.0f * 0.7978845608028654f);
  return x / (set(1.0f) + exp(u));
}

GN_INLINE V tanh(V x)
{
  return set(1.0f) - set(2.0f) / (exp(x + x) + set(1.0f));
}

}  // namespace

#endif  // GEMMA_NODE__KERNELS__CPU__VEC_H_
