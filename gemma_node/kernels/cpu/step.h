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
// The native CPU step: a plain C interface that ctypes mirrors (native.py), all values float32.
//
// One call runs rows of several lanes through the whole model. A row's bits depend on its token,
// its position and its lane's rows alone: every sum has one order, whatever the number of rows,
// their place in the batch and the number of threads.

#ifndef GEMMA_NODE__KERNELS__CPU__STEP_H_
#define GEMMA_NODE__KERNELS__CPU__STEP_H_

#include <cstdint>

#define GN_ABI 2
// Positions per cache page, and lanes of a vector.
#define GN_PAGE 64
#define GN_WIDTH 16

#define GN_API __attribute__((visibility("default")))

extern "C" {

enum GnKind { GN_F32 = 0, GN_BF16 = 1, GN_Q4 = 2 };
enum GnKvKind { GN_KV_F32 = 0, GN_KV_BF16 = 1, GN_KV_FP8 = 2 };
enum GnTableKind { GN_TABLE_F32 = 0, GN_TABLE_BF16 = 1, GN_TABLE_AFFINE = 2, GN_TABLE_NONE = 3 };

// A projection [rows, columns] in blocks of 16 rows: `data` is [rows / 16][columns][16] float32,
// [rows / 16][columns / 2][16] pairs of bfloat16, or [rows / 16][columns / 8][16] words of eight
// codes. Q4: value = scale * (code - 8) + bias, both [rows / 16][columns / group][16].
struct GnMatrix
{
  int32_t kind;
  int32_t rows;
  int32_t columns;
  int32_t group;
  const void * data;
  const float * scales;
  const float * biases;
};

// A table that is only gathered, as it is stored: rows of numbers, or of little-endian codes.
struct GnTable
{
  int32_t kind;
  int32_t columns;
  int32_t bits;
  int32_t group;
  const void * data;
  const void * scales;
  const void * biases;
  int32_t wide_scales;
  float factor;
};

struct GnLayer
{
  GnMatrix qkv;
  GnMatrix output;
  GnMatrix gate_up;
  GnMatrix down;
  GnMatrix ple_gate;
  GnMatrix ple_projection;
  const float * input_norm;
  const float * head_norms;
  const float * post_attention_norm;
  const float * pre_feedforward_norm;
  const float * post_feedforward_norm;
  const float * post_ple_norm;
  float scalar;
  int32_t is_sliding;
  int32_t head_dim;
  int32_t num_kv_heads;
  int32_t owns;
  int32_t page_slot;
};

// `kv_scales[t]` is [owning layers of a type][keys, values][heads]: what stored e4m3 is multiplied
// with, powers of two; null for the other kinds.
struct GnModel
{
  int32_t hidden;
  int32_t num_heads;
  int32_t ple_dim;
  int32_t vocab;
  int32_t num_layers;
  int32_t num_owners;
  int32_t window;
  int32_t kv_kind;
  float eps;
  float softcap;
  float ple_context_scale;
  float ple_mix_scale;
  GnTable embedding;
  GnTable ple_table;
  GnMatrix ple_owners;
  GnMatrix ple_shared;
  GnMatrix head;
  const float * ple_norm;
  const float * norm;
  const float * cos[2];
  const float * sin[2];
  const GnLayer * layers;
  const float * kv_scales[2];
};

// `pages[t]` is [lanes][page_stride[t]] addresses by page number; t is 1 for sliding layers.
// `embedded` and `ple_tokens` are used where the table's kind is NONE.
struct GnBatch
{
  int32_t rows;
  int32_t outputs;
  const int32_t * ids;
  const int32_t * positions;
  const int32_t * lanes;
  const int32_t * output_rows;
  const int64_t * pages[2];
  int32_t page_stride[2];
  const float * embedded;
  const float * ple_tokens;
  float * logits;
};

// What a draw needs of one row of logits, in one pass.
struct GnRow
{
  double total;
  double kept;
  int32_t best;
  int32_t count;
  float best_value;
};

GN_API int32_t gn_abi();
// How many kinds of keys and values it knows.
GN_API int32_t gn_kv_kinds();
GN_API const char * gn_isa();
GN_API void * gn_create(const GnModel * model, int32_t threads);
GN_API void gn_destroy(void * handle);
// 0, or -1 where memory is lacking.
GN_API int32_t gn_forward(void * handle, const GnBatch * batch);
GN_API void gn_matmul(void * handle, const GnMatrix * matrix, const float * x, int32_t rows, float * y);
// `mask` may be null; bit j of word i allows id 32 * i + j.
GN_API void gn_look(const float * logits, int32_t vocab, const uint32_t * mask, GnRow * row);
}

#endif  // GEMMA_NODE__KERNELS__CPU__STEP_H_
