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
// What each instruction set's copy of the step offers to the dispatcher.

#ifndef GEMMA_NODE__KERNELS__CPU__STEP_IMPL_H_
#define GEMMA_NODE__KERNELS__CPU__STEP_IMPL_H_

#include "step.h"

#define GN_DECLARE(name) \
  namespace name \
  { \
  void * create(const GnModel & model, int threads); \
  void destroy(void * step); \
  void forward(void * step, const GnBatch & batch); \
  void multiply(void * step, const GnMatrix & matrix, const float * x, int rows, float * y); \
  void look(const float * logits, int32_t vocab, const uint32_t * mask, GnRow & row); \
  }

GN_DECLARE(gn_plain)
GN_DECLARE(gn_avx2)
GN_DECLARE(gn_avx512)
GN_DECLARE(gn_avx512vnni)

#endif  // GEMMA_NODE__KERNELS__CPU__STEP_IMPL_H_
