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

// The instructions that the kernels use and C++ has no word for; compiled before each of them.

typedef unsigned int u32;
typedef unsigned long long u64;

#define SHARED_MEMORY(name) extern __shared__ __align__(128) unsigned char name[]

__device__ __forceinline__ u32 shared_address(const void * at)
{
  return static_cast<u32>(__cvta_generic_to_shared(at));
}

__device__ __forceinline__ void copy16(u32 to, const void * from)
{
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" :: "r"(to), "l"(from)
               : "memory");
}

__device__ __forceinline__ uint4 load_shared16(u32 at)
{
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at) : "memory");
  return v;
}

__device__ __forceinline__ u32 load_shared4(u32 at)
{
  u32 v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
  return v;
}

// Past the cache of the processor, which may hold what a kernel before has overwritten.
__device__ __forceinline__ uint4 load16(const void * from)
{
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from) : "memory");
  return v;
}

__device__ __forceinline__ void mma(float (&c)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1)
{
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7},"
      " {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// (a & b) | c.
__device__ __forceinline__ u32 masked_or(u32 a, u32 b, u32 c)
{
  u32 r;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}

// Two products in bfloat16; also of numbers below the normal ones.
__device__ __forceinline__ u32 times2(u32 a, u32 b)
{
  u32 r;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0x80008000u));
  return r;
}

__device__ __forceinline__ unsigned short narrow(float x)
{
  unsigned short r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}

__device__ __forceinline__ void commit_copies()
{
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Wait until at most so many of this thread's groups of copies are under way.
template<int LEFT>
__device__ __forceinline__ void wait_for_copies()
{
  asm volatile("cp.async.wait_group %0;" :: "n"(LEFT) : "memory");
}

__device__ __forceinline__ void let_next_begin()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ __forceinline__ void wait_for_kernel_before()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
