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

// Products of packed matrices with 1 to 16 rows of activations; compiled in process by NVRTC.
//
// A warp owns 256 columns; tiles of 16 rows come through a ring of its own in shared memory.
// Sums of the warps meet in shared memory and are added up in the order of their columns, by
// whoever writes the result. No order depends on the number of tokens, of blocks or of
// processors.
//
// Given by the compiler's options beside those of tiles.cu: ROOM, the most tokens of a job; MODE 0
// sums, 1 gelu of one half times the other, 2 gelu times a plane; CHUNK tiles between two
// meetings, TURNS whether a block has more, DEPTH of the rings, RESIDENT blocks a processor.

constexpr int kTokenFloats = 20;  // 16 rows, and room so that no two banks meet
constexpr int kTileFloats = ROOM * kTokenFloats;

struct Job {
  const unsigned short * x;
  const unsigned char * data;
  const unsigned short * scales;
  const unsigned short * biases;
  const float * factors;
  const float * plane;
  void * out;
  u64 data_stride;
  u64 part_stride;
  int x_stride;
  int scale_stride;
  int plane_stride;
  int out_rows;
  int out_stride;
  int half_rows;
  int units;
  int block_units;
  int unit_step;
  int tokens;
};

// A tile of a block: its units (a tile, or one of the gate and one of up) are `unit_step` apart.
__device__ __forceinline__ int row_of(const Job & job, int first, int tile)
{
  return MODE == 1 ?
         (tile & 1) * job.half_rows + (first + (tile >> 1) * job.unit_step) * 16 :
         (first + tile * job.unit_step) * 16;
}

// What the warps have summed of one element of one tile, in the order of their columns.
__device__ __forceinline__ float whole(const float * partial, int tile, int token, int row)
{
  const float * at = partial + tile * WARPS * kTileFloats + token * kTokenFloats + row;
  float sum = at[0];
#pragma unroll
  for (int warp = 1; warp < WARPS; ++warp) {
    sum += at[warp * kTileFloats];
  }
  return sum;
}

// Where the element of a number lies that a thread finishes: row inside a tile, unit, token.
constexpr int kUnits = MODE == 1 ? CHUNK / 2 : CHUNK;
constexpr int kUnitTiles = MODE == 1 ? 2 : 1;

struct Place {
  int inside, unit, token;
};

__device__ __forceinline__ Place place_of(int e)
{
  return {e % 16, e / 16 % kUnits, e / (16 * kUnits)};
}

// What a sum is multiplied with: a row's factor, that of the row of up, and the plane.
struct Factors {
  float first, second, plane;
};

__device__ __forceinline__ Factors factors_of(const Job & job, int row, int token)
{
  Factors found = {1.0f, 1.0f, 1.0f};
  if (KIND == 2) {
    found.first = job.factors[row] * 256.0f;
    if (MODE == 1) {
      found.second = job.factors[job.half_rows + row] * 256.0f;
    }
  }
  if (MODE == 2 && row < job.out_rows) {
    found.plane = job.plane[token * job.plane_stride + row];
  }
  return found;
}

// `early` belongs to a thread's first element.
__device__ __forceinline__ void finish(
  const Job & job, const float * partial, int first, int first_tile, int count,
  const Factors & early)
{
  for (int e = threadIdx.x; e < kUnits * job.tokens * 16; e += kThreads) {
    const Place at = place_of(e);
    if (at.unit * kUnitTiles >= count) {
      continue;
    }
    const int row = row_of(job, first, first_tile + at.unit * kUnitTiles) + at.inside;
    const bool known = first_tile == 0 && e < kThreads;
    const Factors factors = known ? early : factors_of(job, row, at.token);
    float sum = whole(partial, at.unit * kUnitTiles, at.token, at.inside);
    if (KIND == 2) {
      sum *= factors.first;
    }
    if (row >= job.out_rows) {
      continue;
    }
    if (MODE == 0) {
      static_cast<float *>(job.out)[
        blockIdx.y * job.part_stride + at.token * job.out_stride + row] = sum;
      continue;
    }
    float other = factors.plane;
    if (MODE == 1) {
      other = whole(partial, at.unit * kUnitTiles + 1, at.token, at.inside);
      if (KIND == 2) {
        other *= factors.second;
      }
    }
    static_cast<unsigned short *>(job.out)[at.token * job.out_stride + row] =
      narrow(gelu(sum) * other);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, RESIDENT) product(
  const __grid_constant__ Job job)
{
  SHARED_MEMORY(shared);
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  const int pair = lane / 4, quarter = lane % 4;
  // Units of a block beside each other, or as far apart as there are blocks.
  const int first = blockIdx.x * (job.unit_step == 1 ? job.block_units : 1);
  const int units = min(job.block_units, (job.units - first + job.unit_step - 1) / job.unit_step);
  const int last = units * (MODE == 1 ? 2 : 1);
  const int block = blockIdx.y * WARPS + warp;
  float * const partials = reinterpret_cast<float *>(shared + WARPS * DEPTH * kStage);
  const u32 ring = shared_address(shared) + warp * DEPTH * kStage;

  let_next_begin();
  const Feed from = feed_of(
    job.data, job.data_stride, job.scales, job.biases, job.scale_stride, block);
  int next_tile = 0, next_piece = 0, next_stage = 0;
  auto advance = [&]() {
      if (next_tile < last) {
        feed(from, row_of(job, first, next_tile), next_piece, ring + next_stage * kStage);
      }
      commit_copies();
      if (++next_piece == kPieces) {
        next_piece = 0;
        ++next_tile;
      }
      next_stage = next_stage + 1 == DEPTH ? 0 : next_stage + 1;
    };
#pragma unroll 1
  for (int each = 0; each < DEPTH - 1; ++each) {
    advance();
  }
  // Weights depend on nothing; activations are what the kernel before writes.
  wait_for_kernel_before();

  Operand operand;
#pragma unroll
  for (int side = 0; side < kSides; ++side) {
    const unsigned short * row =
      job.x + static_cast<u64>(side * 8 + pair) * job.x_stride + block * 256;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        operand.x[side][j][h] = side * 8 + pair < job.tokens ?
          load16(row + column_of(j, h, quarter)) : uint4{};
      }
    }
  }
  Factors early = {1.0f, 1.0f, 1.0f};
  if (KIND == 2 || MODE == 2) {
    const Place at = place_of(threadIdx.x);
    if (at.unit * kUnitTiles < last && at.token < job.tokens) {
      early = factors_of(job, row_of(job, first, at.unit * kUnitTiles) + at.inside, at.token);
    }
  }
  sum_groups(operand);

  int stage = 0, in_chunk = 0;
  float * partial = partials;
#pragma unroll 1
  for (int tile = 0; tile < last; ++tile) {
    Sums sums = {};
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
      wait_for_copies<DEPTH - 2>();
      __syncwarp();
      advance();
      multiply(sums, operand, ring + stage * kStage, piece);
      stage = stage + 1 == DEPTH ? 0 : stage + 1;
    }
    gather(sums);
    float * mine = partial + (in_chunk * WARPS + warp) * kTileFloats + 2 * pair;
#pragma unroll
    for (int side = 0; side < kSides; ++side) {
      const float (&total)[4] = sums.part[0][side];
      float * to = mine + (side * 8 + 2 * quarter) * kTokenFloats;
      if (side * 8 + 2 * quarter < ROOM) {
        *reinterpret_cast<float2 *>(to) = make_float2(total[0], total[2]);
      }
      if (side * 8 + 2 * quarter + 1 < ROOM) {
        *reinterpret_cast<float2 *>(to + kTokenFloats) = make_float2(total[1], total[3]);
      }
    }
    if (++in_chunk == CHUNK || tile + 1 == last) {
      __syncthreads();
      finish(job, partial, first, tile + 1 - in_chunk, in_chunk, early);
      if (TURNS) {
        // Two rooms in turn: whoever is ahead writes into the other one.
        partial = partial == partials ? partials + CHUNK * WARPS * kTileFloats : partials;
      }
      in_chunk = 0;
    }
  }
}
