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

// What products.cu asks of CUDA, with a thread of the CPU for each of the device: for the tests.
#include <pthread.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

typedef uint32_t u32;
typedef unsigned long long u64;
#define __device__
#define __forceinline__ inline
#define __global__
#define __grid_constant__
#define __shared__
#define __align__(n)
#define __launch_bounds__(...)
using std::min;
struct uint4 { u32 x, y, z, w; };
struct float2 { float x, y; };
inline float2 make_float2(float x, float y) { return {x, y}; }
struct Index { int x, y; };
inline thread_local Index threadIdx, blockIdx;

struct Warp {
  pthread_barrier_t barrier;
  u32 a[32][4], b[32][2];
};
inline thread_local Warp * my_warp;
inline pthread_barrier_t block_barrier;
alignas(128) inline unsigned char memory[232448];
#define SHARED_MEMORY(name) unsigned char * const name = memory

inline void __syncwarp() { pthread_barrier_wait(&my_warp->barrier); }
inline void __syncthreads() { pthread_barrier_wait(&block_barrier); }
inline float __uint_as_float(u32 bits) { float v; memcpy(&v, &bits, 4); return v; }
inline u32 bits_of(float v) { u32 b; memcpy(&b, &v, 4); return b; }
inline u32 __byte_perm(u32 a, u32 b, u32 selector)
{
  const u64 both = a | static_cast<u64>(b) << 32;
  u32 r = 0;
  for (int i = 0; i < 4; ++i) {
    r |= static_cast<u32>(both >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
  }
  return r;
}
inline float __fdividef(float x, float y) { return x / y; }
inline float __expf(float x) { return std::exp(x); }
inline u32 shared_address(const void * at)
{
  return static_cast<u32>(static_cast<const unsigned char *>(at) - memory);
}
// Copies are under way until they are waited for: as late as they may be on a device.
struct Copy { u32 to; const void * from; };
inline thread_local std::vector<std::vector<Copy>> under_way{1};
inline void copy16(u32 to, const void * from) { under_way.back().push_back({to, from}); }
inline void commit_copies() { under_way.emplace_back(); }
template<int LEFT>
void wait_for_copies()
{
  while (under_way.size() > LEFT + 1) {
    for (const Copy & each : under_way.front()) {
      memcpy(memory + each.to, each.from, 16);
    }
    under_way.erase(under_way.begin());
  }
}
inline uint4 load_shared16(u32 at) { uint4 v; memcpy(&v, memory + at, 16); return v; }
inline u32 load_shared4(u32 at) { u32 v; memcpy(&v, memory + at, 4); return v; }
inline uint4 load16(const void * from) { uint4 v; memcpy(&v, from, 16); return v; }
inline u32 masked_or(u32 a, u32 b, u32 c) { return (a & b) | c; }
inline float half_of(u32 pair, int i) { return __uint_as_float(i ? pair & 0xffff0000u : pair << 16); }
inline unsigned short narrow(float x)
{
  const u32 bits = bits_of(x);
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline u32 times2(u32 a, u32 b)
{
  return narrow(half_of(a, 0) * half_of(b, 0)) |
         static_cast<u32>(narrow(half_of(a, 1) * half_of(b, 1))) << 16;
}
inline void mma(float (&c)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1)
{
  const int lane = threadIdx.x & 31;
  const u32 a[4] = {a0, a1, a2, a3}, b[2] = {b0, b1};
  memcpy(my_warp->a[lane], a, 16);
  memcpy(my_warp->b[lane], b, 8);
  __syncwarp();
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4, column = lane % 4 * 2 + (i & 1);
    double sum = 0;
    for (int k = 0; k < 16; ++k) {
      const int owner = k % 8 / 2, half = k & 1, upper = k / 8;
      sum += static_cast<double>(half_of(my_warp->a[row * 4 + owner][upper * 2 + i / 2], half)) *
        half_of(my_warp->b[column * 4 + owner][upper], half);
    }
    c[i] = static_cast<float>(c[i] + sum);
  }
  __syncwarp();
}
inline void let_next_begin() {}
inline void wait_for_kernel_before() {}
#include "tiles.cu"
#include "products.cu"

extern "C" void run(const Job * job, int grid_x, int grid_y)
{
  for (int block = 0; block < grid_x * grid_y; ++block) {
    memset(memory, 0xff, sizeof(memory));
    std::vector<Warp> warps(WARPS);
    pthread_barrier_init(&block_barrier, nullptr, kThreads);
    for (Warp & each : warps) {
      pthread_barrier_init(&each.barrier, nullptr, 32);
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i]() {
          threadIdx = {i, 0};
          blockIdx = {block % grid_x, block / grid_x};
          my_warp = &warps[i / 32];
          product(*job);
        });
    }
    for (std::thread & each : threads) {
      each.join();
    }
  }
}
