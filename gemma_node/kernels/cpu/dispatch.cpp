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
// Chooses the instruction set once, when a model is made.

#include <cstdlib>
#include <cstring>
#include <exception>

#include "step.h"
#include "step_impl.h"

namespace
{

struct Variant
{
  const char * name;
  void * (*create)(const GnModel &, int);
  void (*destroy)(void *);
  void (*forward)(void *, const GnBatch &);
  void (*multiply)(void *, const GnMatrix &, const float *, int, float *);
  void (*look)(const float *, int32_t, const uint32_t *, GnRow &);
};

#define GN_VARIANT(name, space) \
  {name, space::create, space::destroy, space::forward, space::multiply, space::look}

constexpr Variant kPlain = GN_VARIANT("plain", gn_plain);
#if defined(GN_WITH_X86)
constexpr Variant kAvx2 = GN_VARIANT("avx2", gn_avx2);
constexpr Variant kAvx512 = GN_VARIANT("avx512", gn_avx512);
constexpr Variant kAvx512Vnni = GN_VARIANT("avx512vnni", gn_avx512vnni);
#endif

const Variant & choose()
{
#if defined(GN_WITH_X86)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  // Lets the tests run every variant that a machine has; never widens the choice.
  const char * wanted = std::getenv("GEMMA_NODE_CPU_ISA");
  const bool is_plain = wanted && !std::strcmp(wanted, "plain");
  const bool is_avx2 = wanted && !std::strcmp(wanted, "avx2");
  const bool is_avx512 = wanted && !std::strcmp(wanted, "avx512");
  if (has_avx512 && !is_plain && !is_avx2) {
    return __builtin_cpu_supports("avx512vnni") && !is_avx512 ? kAvx512Vnni : kAvx512;
  }
  if (has_avx2 && !is_plain) {
    return kAvx2;
  }
#endif
  return kPlain;
}

const Variant & variant()
{
  static const Variant & chosen = choose();
  return chosen;
}

}  // namespace

extern "C" {

int32_t gn_abi() {return GN_ABI;}

int32_t gn_kv_kinds() {return GN_KV_FP8 + 1;}

const char * gn_isa() {return variant().name;}

void * gn_create(const GnModel * model, int32_t threads)
{
  try {
    return variant().create(*model, threads);
  } catch (const std::exception &) {
    return nullptr;
  }
}

void gn_destroy(void * handle) {variant().destroy(handle);}

int32_t gn_forward(void * handle, const GnBatch * batch)
{
  try {
    variant().forward(handle, *batch);
    return 0;
  } catch (const std::exception &) {
    return -1;
  }
}

void gn_matmul(void * handle, const GnMatrix * matrix, const float * x, int32_t rows, float * y)
{
  variant().multiply(handle, *matrix, x, rows, y);
}

void gn_look(const float * logits, int32_t vocab, const uint32_t * mask, GnRow * row)
{
  variant().look(logits, vocab, mask, *row);
}
}
