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

// A tile of 16 rows and 256 columns of a packed matrix times 8 or 16 rows of activations, by one
// warp; compiled before each kernel of products.
//
// Given by the compiler's options: KIND 0 four bits with scale and bias by 64, 2 NVFP4, 4
// bfloat16; WARPS a block; TOKENS 8 or 16.
//
// Activations stay in registers as operands of m16n8k16. Rows 2 i and 2 i + 1 of a tile are rows
// i and i + 8 of the operand; columns are permuted alike in both operands.

constexpr int kThreads = WARPS * 32;
constexpr int kPieces = KIND == 4 ? 4 : 1;  // pieces of 128 bytes a row in 256 columns
constexpr int kScaleBytes = KIND == 0 ? 256 : KIND == 2 ? 640 : 0;
constexpr int kStage = 2048 + kScaleBytes;
constexpr int kSides = TOKENS / 8;

// 128 + nibble J of both halves as two bfloat16: 0x4300 is 128, its last bits are units.
template<int J>
__device__ __forceinline__ u32 code(u32 word)
{
  return masked_or(word >> (4 * J), 0x000f000fu, 0x43004300u);
}

// Nibble J of both halves, an E2M1 number times 2 ** -126, times a factor.
template<int J>
__device__ __forceinline__ u32 e2m1(u32 word, u32 factor)
{
  constexpr int up = 6 - 4 * J;
  const u32 moved = up >= 0 ? word << (up >= 0 ? up : 0) : word >> (up < 0 ? -up : 0);
  const u32 sign = (word << (12 - 4 * J)) & 0x80008000u;
  return times2(masked_or(moved, 0x01c001c0u, sign), factor);
}

__device__ __forceinline__ float low(u32 pair) { return __uint_as_float(pair << 16); }
__device__ __forceinline__ float high(u32 pair) { return __uint_as_float(pair & 0xffff0000u); }

__device__ __forceinline__ float gelu(float x)
{
  const float inner = 0.7978845608028654f * (x + 0.044715f * x * x * x);
  return 0.5f * x * (2.0f - __fdividef(2.0f, __expf(2.0f * inner) + 1.0f));
}

// Four groups of 64 columns, each summed before it is scaled.
template<int J>
__device__ __forceinline__ void affine_group(
  float (&total)[kSides][4], const uint4 (&words)[2][2], const uint4 (&x)[kSides][4][2],
  const float (&sums)[kSides][4][2], u32 scales)
{
  const u32 s = load_shared4(scales + J * 32);
  const u32 b = load_shared4(scales + 128 + J * 32);
  float c[kSides][4] = {};
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const u32 a0 = code<J>(words[0][h].x), a1 = code<J>(words[1][h].x);
    const u32 a2 = code<J>(words[0][h].y), a3 = code<J>(words[1][h].y);
    const u32 a4 = code<J>(words[0][h].z), a5 = code<J>(words[1][h].z);
    const u32 a6 = code<J>(words[0][h].w), a7 = code<J>(words[1][h].w);
#pragma unroll
    for (int side = 0; side < kSides; ++side) {
      mma(c[side], a0, a1, a2, a3, x[side][J][h].x, x[side][J][h].y);
      mma(c[side], a4, a5, a6, a7, x[side][J][h].z, x[side][J][h].w);
    }
  }
  const float s0 = low(s), s1 = high(s);
  const float b0 = fmaf(-128.0f, s0, low(b)), b1 = fmaf(-128.0f, s1, high(b));
#pragma unroll
  for (int side = 0; side < kSides; ++side) {
    total[side][0] = fmaf(sums[side][J][0], b0, fmaf(c[side][0], s0, total[side][0]));
    total[side][1] = fmaf(sums[side][J][1], b0, fmaf(c[side][1], s0, total[side][1]));
    total[side][2] = fmaf(sums[side][J][0], b1, fmaf(c[side][2], s1, total[side][2]));
    total[side][3] = fmaf(sums[side][J][1], b1, fmaf(c[side][3], s1, total[side][3]));
  }
}

// An E2M1 number times an E4M3 one has 6 bits: its product in bfloat16 is exact.
template<int J>
__device__ __forceinline__ void nvfp4_groups(
  float (&c)[kSides][4], const uint4 (&words)[2][2], const uint4 (&x)[kSides][4][2], u32 scales)
{
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    u32 s = load_shared4(scales + h * (2 * 4 * 32 + 2 * 32) + J * 32);
    // Times 2 ** 118; what is left of 2 ** 126 is in the row's factor.
    s = times2(s, 0x7a807a80u);
    const u32 s0 = __byte_perm(s, s, 0x1010), s1 = __byte_perm(s, s, 0x3232);
    const u32 a0 = e2m1<J>(words[0][h].x, s0), a1 = e2m1<J>(words[1][h].x, s1);
    const u32 a2 = e2m1<J>(words[0][h].y, s0), a3 = e2m1<J>(words[1][h].y, s1);
    const u32 a4 = e2m1<J>(words[0][h].z, s0), a5 = e2m1<J>(words[1][h].z, s1);
    const u32 a6 = e2m1<J>(words[0][h].w, s0), a7 = e2m1<J>(words[1][h].w, s1);
#pragma unroll
    for (int side = 0; side < kSides; ++side) {
      mma(c[side], a0, a1, a2, a3, x[side][J][h].x, x[side][J][h].y);
      mma(c[side], a4, a5, a6, a7, x[side][J][h].z, x[side][J][h].w);
    }
  }
}

__device__ __forceinline__ void add(float (&to)[kSides][4], const float (&from)[kSides][4])
{
#pragma unroll
  for (int side = 0; side < kSides; ++side) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      to[side][i] += from[side][i];
    }
  }
}

// Activations of a warp's 256 columns as operands, and their sums by group.
struct Operand {
  uint4 x[kSides][4][2];
  float sums[kSides][4][2];
};

// Where in its 256 columns a thread's 8 of group j, half h begin.
__device__ __forceinline__ int column_of(int j, int h, int quarter)
{
  return KIND == 2 ? (2 * h + quarter / 2) * 64 + j * 16 + quarter % 2 * 8 :
         j * 64 + h * 32 + quarter * 8;
}

__device__ __forceinline__ void sum_groups(Operand & operand)
{
  if constexpr (KIND == 0) {
#pragma unroll
    for (int side = 0; side < kSides; ++side) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        constexpr u32 one = 0x3f803f80u;
        float c[4] = {};
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const uint4 & x = operand.x[side][j][h];
          mma(c, one, one, one, one, x.x, x.y);
          mma(c, one, one, one, one, x.z, x.w);
        }
        operand.sums[side][j][0] = c[0];
        operand.sums[side][j][1] = c[1];
      }
    }
  }
}

// Sums of a tile on their way: four that do not wait for each other, but of four bits.
struct Sums {
  float part[KIND == 0 ? 1 : 4][kSides][4];
};

// Add one piece of 128 bytes a row, which lies at an address as `feed` puts it.
__device__ __forceinline__ void multiply(
  Sums & sums, const Operand & operand, u32 at, int piece)
{
  const int lane = threadIdx.x & 31, pair = lane / 4, quarter = lane % 4;
  uint4 words[2][2];
  // Beside each other the halves of two pairs of rows change places: no two banks meet.
  const u32 mine = at + pair * 256 + ((quarter * 16) ^ (pair & 1) * 64);
  words[0][0] = load_shared16(mine);
  words[0][1] = load_shared16(mine ^ 64);
  words[1][0] = load_shared16(mine + 128);
  words[1][1] = load_shared16((mine + 128) ^ 64);
  if constexpr (KIND == 0) {
    const u32 scales = at + 2048 + pair * 4;
    affine_group<0>(sums.part[0], words, operand.x, operand.sums, scales);
    affine_group<1>(sums.part[0], words, operand.x, operand.sums, scales);
    affine_group<2>(sums.part[0], words, operand.x, operand.sums, scales);
    affine_group<3>(sums.part[0], words, operand.x, operand.sums, scales);
  } else if constexpr (KIND == 2) {
    const u32 scales = at + 2048 + quarter / 2 * (4 * 32 + 32) + pair * 4;
    nvfp4_groups<0>(sums.part[0], words, operand.x, scales);
    nvfp4_groups<1>(sums.part[1], words, operand.x, scales);
    nvfp4_groups<2>(sums.part[2], words, operand.x, scales);
    nvfp4_groups<3>(sums.part[3], words, operand.x, scales);
  } else {
#pragma unroll
    for (int side = 0; side < kSides; ++side) {
      const uint4 (&x)[2] = operand.x[side][piece];
      mma(sums.part[0][side], words[0][0].x, words[1][0].x, words[0][0].y, words[1][0].y,
          x[0].x, x[0].y);
      mma(sums.part[1][side], words[0][0].z, words[1][0].z, words[0][0].w, words[1][0].w,
          x[0].z, x[0].w);
      mma(sums.part[2][side], words[0][1].x, words[1][1].x, words[0][1].y, words[1][1].y,
          x[1].x, x[1].y);
      mma(sums.part[3][side], words[0][1].z, words[1][1].z, words[0][1].w, words[1][1].w,
          x[1].z, x[1].w);
    }
  }
}

// Bring all into the first.
__device__ __forceinline__ void gather(Sums & sums)
{
  if constexpr (KIND != 0) {
    add(sums.part[0], sums.part[1]);
    add(sums.part[2], sums.part[3]);
    add(sums.part[0], sums.part[2]);
  }
}

// The copies of pieces of tiles: whole columns of this warp.
struct Feed {
  const unsigned char * data;
  const unsigned short * scales;
  u64 data_stride;
  bool has_scales;
};

__device__ __forceinline__ Feed feed_of(
  const unsigned char * data, u64 data_stride, const unsigned short * scales,
  const unsigned short * biases, int scale_stride, int block)
{
  const int lane = threadIdx.x & 31;
  Feed from;
  from.data = data + lane / 8 * data_stride + block * kPieces * 128 + lane % 8 * 16;
  from.data_stride = data_stride;
  from.has_scales = KIND == 2 || (KIND == 0 && lane < 16);
  from.scales = KIND == 0 && lane & 8 ? biases : scales;
  from.scales += static_cast<u64>(
    KIND == 0 ? block * 4 + (lane >> 1 & 3) : block * 16 + lane / 2) * scale_stride;
  from.scales += (lane & 1) * 8;
  return from;
}

// Ask for one piece of the 16 rows from `row` on, four whole lines at a time.
__device__ __forceinline__ void feed(const Feed & from, int row, int piece, u32 to)
{
  const int lane = threadIdx.x & 31;
  const unsigned char * at = from.data + row * from.data_stride + piece * 128;
  const u32 into = to + lane / 8 * 128 + ((lane % 8 * 16) ^ (lane / 16 * 64));
#pragma unroll
  for (int rows = 0; rows < 4; ++rows) {
    copy16(into + rows * 512, at + rows * 4 * from.data_stride);
  }
  if (kScaleBytes && from.has_scales) {
    copy16(to + 2048 + lane * 16 + (KIND == 2 ? lane / 8 * 32 : 0), from.scales + row);
  }
}
