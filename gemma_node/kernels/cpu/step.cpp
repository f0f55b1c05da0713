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
// The whole step, compiled once per instruction set: GN_NAME names the namespace.
//
// All threads run `Step::run` together; each phase shares out rows, heads or output columns and
// ends at a barrier. Sharing out never changes an order of summation.

#include "step.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "attention.h"
#include "matmul.h"
#include "pool.h"
#include "step_impl.h"
#include "vec.h"

namespace GN_NAME
{

namespace
{

int padded(int n) {return (n + GN_WIDTH - 1) / GN_WIDTH * GN_WIDTH;}

// x / sqrt(mean(x^2) + eps) * weight; `n` is a multiple of 16. `out` may be `x`.
GN_INLINE void rms_norm(const float * x, const float * weight, int n, float eps, float * out)
{
  V squares = zero();
  for (int i = 0; i < n; i += GN_WIDTH) {
    const V value = load(x + i);
    squares = fma(value, value, squares);
  }
  const V scale = set(1.0f / std::sqrt(sum_of(squares) / static_cast<float>(n) + eps));
  for (int i = 0; i < n; i += GN_WIDTH) {
    const V value = load(x + i) * scale;
    store(out + i, weight ? value * load(weight + i) : value);
  }
}

GN_INLINE void rotate(const float * x, const float * cos, const float * sin, int n, float * out)
{
  const int half = n / 2;
  float y[1024];
  for (int i = 0; i < half; ++i) {
    // `sin` has its first half negated.
    y[i] = x[i] * cos[i] + x[i + half] * sin[i];
    y[i + half] = x[i + half] * cos[i + half] + x[i] * sin[i + half];
  }
  for (int i = 0; i < n; ++i) {
    out[i] = y[i];
  }
}

GN_INLINE float narrow(const void * data, int64_t at, bool wide)
{
  if (wide) {
    return static_cast<const float *>(data)[at];
  }
  const uint32_t bits = static_cast<uint32_t>(static_cast<const uint16_t *>(data)[at]) << 16;
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

// One row of a table times its factor; rounded where float32 PyTorch rounds.
void gather(const GnTable & table, int64_t row, int begin, int end, float * out)
{
  const int64_t columns = table.columns;
  if (table.kind != GN_TABLE_AFFINE) {
    const bool wide = table.kind == GN_TABLE_F32;
    for (int c = begin; c < end; ++c) {
      out[c - begin] = narrow(table.data, row * columns + c, wide) * table.factor;
    }
    return;
  }
  const uint8_t * codes = static_cast<const uint8_t *>(table.data) + row * columns * table.bits / 8;
  const int64_t groups = columns / table.group;
  for (int c = begin; c < end; ++c) {
    const int64_t group = row * groups + c / table.group;
    const uint8_t byte = codes[static_cast<int64_t>(c) * table.bits / 8];
    const int code = table.bits == 8 ? byte : (c % 2 ? byte >> 4 : byte & 15);
    const float scaled = static_cast<float>(code) * narrow(table.scales, group, table.wide_scales);
    out[c - begin] = (scaled + narrow(table.biases, group, table.wide_scales)) * table.factor;
  }
}

}  // namespace

class Step
{
public:
  Step(const GnModel & model, int threads)
  : model_(model), layers_(model.layers, model.layers + model.num_layers), pool_(threads)
  {
    for (const GnLayer & layer : layers_) {
      widest_x_ = std::max(widest_x_, std::max(layer.output.columns, layer.down.columns));
      widest_y_ = std::max(widest_y_, std::max(layer.qkv.rows, layer.gate_up.rows));
    }
    widest_x_ = padded(std::max(widest_x_, std::max(model.hidden, model.ple_dim)));
    widest_y_ = padded(std::max(widest_y_, std::max(model.hidden, model.ple_dim)));
    local_.resize(pool_.size());
  }

  void forward(const GnBatch & batch)
  {
    batch_ = &batch;
    reserve(batch);
    pool_.run([](void * self, int thread) {static_cast<Step *>(self)->run(thread);}, this);
  }

  void multiply(const GnMatrix & matrix, const float * x, int rows, float * y)
  {
    matrix_ = &matrix;
    product_x_ = x;
    product_y_ = y;
    rows_ = rows;
    reserve_room(rows, matrix.columns);
    pool_.run(
      [](void * self, int thread) {
        Step * step = static_cast<Step *>(self);
        const GnMatrix & m = *step->matrix_;
        step->matmul(
          thread, m, step->product_x_, m.columns, step->rows_, step->product_y_, padded(m.rows));
      }, this);
  }

private:
  struct Local
  {
    std::vector<int32_t> room;
    std::vector<float> scores;
  };

  void reserve_room(int rows, int columns)
  {
    const size_t size = room_size(rows, columns);
    for (Local & local : local_) {
      if (local.room.size() < size) {
        local.room.resize(size);
      }
    }
  }

  void reserve(const GnBatch & batch)
  {
    const size_t rows = batch.rows;
    int high = 0;
    for (size_t r = 0; r < rows; ++r) {
      high = std::max(high, batch.positions[r]);
    }
    score_columns_ = (high / GN_PAGE + 1) * GN_PAGE;
    const size_t columns = padded(model_.num_owners * model_.ple_dim);
    const int shared = model_.num_layers - model_.num_owners;
    grow(h_, rows * model_.hidden);
    grow(x_, rows * widest_x_);
    grow(y_, rows * widest_y_);
    grow(ple_, rows * columns);
    grow(ple_late_, static_cast<size_t>(batch.outputs) * padded(shared * model_.ple_dim));
    row_of_.resize(rows);
    reserve_room(batch.rows, widest_x_);
    for (Local & local : local_) {
      grow(local.scores, static_cast<size_t>(kQueries) * score_columns_);
    }
  }

  static void grow(std::vector<float> & buffer, size_t size)
  {
    if (buffer.size() < size) {
      buffer.resize(size);
    }
  }

  void matmul(
    int thread, const GnMatrix & matrix, const float * x, int x_stride, int rows, float * y,
    int y_stride)
  {
    const int vectors = (matrix.rows + GN_WIDTH - 1) / GN_WIDTH;
    matmul_share(thread, matrix, 0, vectors, x, x_stride, rows, y, y_stride);
  }

  // Output vectors [first, last) only.
  void matmul_share(
    int thread, const GnMatrix & matrix, int first, int last, const float * x, int x_stride,
    int rows, float * y, int y_stride)
  {
    const int share = (last - first + pool_.size() - 1) / pool_.size();
    const int begin = std::min(first + thread * share, last);
    const int end = std::min(begin + share, last);
    if (begin < end) {
      matmul_range(
        matrix, begin, end, x, x_stride, rows, y, y_stride, local_[thread].room.data());
    }
  }

  template<typename F>
  void each_row(int thread, int rows, F work)
  {
    for (int row = thread; row < rows; row += pool_.size()) {
      work(row);
    }
    pool_.meet();
  }

  // y_ = W x_ for the first `rows` rows.
  void project(int thread, const GnMatrix & matrix, int rows)
  {
    matmul(thread, matrix, x_.data(), widest_x_, rows, y_.data(), widest_y_);
    pool_.meet();
  }

  float * h(int row) {return h_.data() + static_cast<int64_t>(row) * model_.hidden;}
  float * x(int row) {return x_.data() + static_cast<int64_t>(row) * widest_x_;}
  float * y(int row) {return y_.data() + static_cast<int64_t>(row) * widest_y_;}

  void run(int thread)
  {
    const GnBatch & batch = *batch_;
    const int owners = model_.num_owners;
    int rows = batch.rows;
    embed(thread);
    per_layer_inputs(thread, false, rows);
    for (int i = 0; i < owners; ++i) {
      const GnLayer & layer = layers_[i];
      const int queries = model_.num_heads, all = queries + 2 * layer.num_kv_heads;
      if (i == owners - 1 && batch.outputs < rows) {
        // Nothing but the rows with logits is needed past the last keys and values.
        heads(thread, layer, rows, queries, all);
        narrow_rows(thread);
        rows = batch.outputs;
        heads(thread, layer, rows, 0, queries);
      } else {
        heads(thread, layer, rows, 0, all);
      }
      finish_layer(thread, layer, rows, ple_.data(), i, padded(owners * model_.ple_dim));
    }
    if (rows == 0) {
      return;
    }
    if (owners < model_.num_layers) {
      per_layer_inputs(thread, true, rows);
    }
    for (int i = owners; i < model_.num_layers; ++i) {
      heads(thread, layers_[i], rows, 0, model_.num_heads);
      const int stride = padded((model_.num_layers - owners) * model_.ple_dim);
      finish_layer(thread, layers_[i], rows, ple_late_.data(), i - owners, stride);
    }
    logits(thread, rows);
  }

  void embed(int thread)
  {
    const GnBatch & batch = *batch_;
    each_row(
      thread, batch.rows, [&](int row) {
        row_of_[row] = row;
        if (model_.embedding.kind == GN_TABLE_NONE) {
          std::memcpy(
            h(row), batch.embedded + static_cast<int64_t>(row) * model_.hidden,
            model_.hidden * sizeof(float));
        } else {
          gather(model_.embedding, batch.ids[row], 0, model_.hidden, h(row));
        }
      });
  }

  // Per-layer inputs of the owning layers for all rows, or of the shared ones for output rows.
  void per_layer_inputs(int thread, bool is_shared, int rows)
  {
    const GnBatch & batch = *batch_;
    const int size = model_.ple_dim, split = model_.num_owners * size;
    const int total = model_.num_layers * size;
    const GnMatrix & matrix = is_shared ? model_.ple_shared : model_.ple_owners;
    const int count = is_shared ? total - split : split, stride = padded(count);
    float * out = is_shared ? ple_late_.data() : ple_.data();
    each_row(
      thread, rows, [&](int row) {
        if (is_shared) {
          const int original = row_of_[row];
          if (model_.embedding.kind == GN_TABLE_NONE) {
            std::memcpy(
              x(row), batch.embedded + static_cast<int64_t>(original) * model_.hidden,
              model_.hidden * sizeof(float));
          } else {
            gather(model_.embedding, batch.ids[original], 0, model_.hidden, x(row));
          }
        } else {
          std::memcpy(x(row), h(row), model_.hidden * sizeof(float));
        }
      });
    matmul(thread, matrix, x_.data(), widest_x_, rows, out, stride);
    pool_.meet();
    each_row(
      thread, rows, [&](int row) {
        const int original = row_of_[row];
        float * context = out + static_cast<int64_t>(row) * stride;
        float * tokens = x(row);
        for (int at = 0; at < count; at += size) {
          const int column = (is_shared ? split : 0) + at;
          if (model_.ple_table.kind == GN_TABLE_NONE) {
            std::memcpy(
              tokens, batch.ple_tokens + static_cast<int64_t>(original) * total + column,
              size * sizeof(float));
          } else {
            gather(model_.ple_table, batch.ids[original], column, column + size, tokens);
          }
          float * part = context + at;
          for (int i = 0; i < size; i += GN_WIDTH) {
            store(part + i, load(part + i) * set(model_.ple_context_scale));
          }
          rms_norm(part, model_.ple_norm, size, model_.eps, part);
          for (int i = 0; i < size; i += GN_WIDTH) {
            store(part + i, (load(part + i) + load(tokens + i)) * set(model_.ple_mix_scale));
          }
        }
      });
  }

  // Normed and rotated queries into y_; keys and values into the pages. Of all of a row's heads
  // [first, last): queries come first, then keys, then values.
  void heads(int thread, const GnLayer & layer, int rows, int first, int last)
  {
    each_row(
      thread, rows, [&](int row) {
        rms_norm(h(row), layer.input_norm, model_.hidden, model_.eps, x(row));
      });
    const int size = layer.head_dim, queries = model_.num_heads;
    matmul_share(
      thread, layer.qkv, first * size / GN_WIDTH, last * size / GN_WIDTH, x_.data(), widest_x_,
      rows, y_.data(), widest_y_);
    pool_.meet();
    const int kv = last > queries ? layer.num_kv_heads : 0;
    each_row(
      thread, rows, [&](int row) {
        const int original = row_of_[row];
        const int64_t at = static_cast<int64_t>(batch_->positions[original]) * size;
        for (int head = first; head < last; ++head) {
          const bool is_value = head >= queries + layer.num_kv_heads;
          float * part = y(row) + static_cast<int64_t>(head) * size;
          const float * weight = is_value ? nullptr : layer.head_norms + head * size;
          rms_norm(part, weight, size, model_.eps, part);
          if (!is_value) {
            rotate(
              part, model_.cos[layer.is_sliding] + at, model_.sin[layer.is_sliding] + at, size,
              part);
          }
        }
        if (kv && model_.kv_kind == GN_KV_FP8) {
          keep<uint8_t>(layer, row, original);
        } else if (kv && model_.kv_kind == GN_KV_BF16) {
          keep<uint16_t>(layer, row, original);
        } else if (kv) {
          keep<float>(layer, row, original);
        }
      });
  }

  template<typename T>
  void keep(const GnLayer & layer, int row, int original)
  {
    const int size = layer.head_dim, position = batch_->positions[original];
    const int slot = position % GN_PAGE;
    T * page = reinterpret_cast<T *>(pages(layer, original)[position / GN_PAGE]);
    for (int head = 0; head < layer.num_kv_heads; ++head) {
      const float * key = y(row) + static_cast<int64_t>(model_.num_heads + head) * size;
      const float * value = key + static_cast<int64_t>(layer.num_kv_heads) * size;
      T * keys = page + keys_at(layer, head) + slot / GN_WIDTH * size * GN_WIDTH + slot % GN_WIDTH;
      T * values = page + values_at(layer, head) + slot * size;
      const Scales scales = scales_of(layer, head);
      const float key_share = 1.0f / scales.key, value_share = 1.0f / scales.value;
      for (int d = 0; d < size; ++d) {
        put_kv(keys + d * GN_WIDTH, key[d] * key_share);
        put_kv(values + d, value[d] * value_share);
      }
    }
  }

  Scales scales_of(const GnLayer & layer, int head) const
  {
    if (model_.kv_kind != GN_KV_FP8) {
      return {1.0f, 1.0f};
    }
    const float * of_slot =
      model_.kv_scales[layer.is_sliding] + 2 * layer.page_slot * layer.num_kv_heads;
    return {of_slot[head], of_slot[layer.num_kv_heads + head]};
  }

  const int64_t * pages(const GnLayer & layer, int original) const
  {
    const int64_t lane = batch_->lanes[original];
    return batch_->pages[layer.is_sliding] + lane * batch_->page_stride[layer.is_sliding];
  }

  static int64_t keys_at(const GnLayer & layer, int head)
  {
    const int64_t whole = static_cast<int64_t>(GN_PAGE) * layer.head_dim;
    return (2 * layer.page_slot * layer.num_kv_heads + head) * whole;
  }

  static int64_t values_at(const GnLayer & layer, int head)
  {
    const int64_t whole = static_cast<int64_t>(GN_PAGE) * layer.head_dim;
    return keys_at(layer, head) + layer.num_kv_heads * whole;
  }

  // Keep the rows that need logits: their stream and what the layer adds to it.
  void narrow_rows(int thread)
  {
    if (thread == 0) {
      for (int i = 0; i < batch_->outputs; ++i) {
        const int from = batch_->output_rows[i];
        row_of_[i] = from;
        if (from != i) {
          std::memcpy(h(i), h(from), model_.hidden * sizeof(float));
          const int64_t stride = padded(model_.num_owners * model_.ple_dim);
          std::memcpy(
            ple_.data() + i * stride, ple_.data() + from * stride, stride * sizeof(float));
        }
      }
    }
    pool_.meet();
  }

  // Attention from the queries in y_ into x_, by blocks of rows of one lane.
  void attention(int thread, const GnLayer & layer, int rows)
  {
    const int group = model_.num_heads / layer.num_kv_heads;
    const int heads_at_once = std::min(group, kQueries);
    const int rows_at_once = kQueries / heads_at_once;
    int task = 0;
    for (int begin = 0, end; begin < rows; begin = end) {
      end = begin + 1;
      while (end < rows && end - begin < rows_at_once &&
        batch_->lanes[row_of_[end]] == batch_->lanes[row_of_[begin]])
      {
        ++end;
      }
      for (int head = 0; head < model_.num_heads; head += heads_at_once) {
        if (task++ % pool_.size() == thread) {
          const int last = std::min(head + heads_at_once, (head / group + 1) * group);
          attend_block(thread, layer, begin, end, head, last);
        }
      }
    }
    pool_.meet();
  }

  void attend_block(int thread, const GnLayer & layer, int begin, int end, int head, int last)
  {
    Query queries[kQueries];
    int count = 0;
    const int size = layer.head_dim;
    for (int row = begin; row < end; ++row) {
      const int high = batch_->positions[row_of_[row]];
      const int low = layer.is_sliding ? std::max(0, high - model_.window + 1) : 0;
      for (int i = head; i < last; ++i) {
        float * scores =
          local_[thread].scores.data() + static_cast<int64_t>(count) * score_columns_;
        queries[count++] = {y(row) + i * size, x(row) + i * size, scores, low, high};
      }
    }
    const int kv_head = head / (model_.num_heads / layer.num_kv_heads);
    const int64_t * of_lane = pages(layer, row_of_[begin]);
    const int64_t keys = keys_at(layer, kv_head), values = values_at(layer, kv_head);
    Scales scales = scales_of(layer, kv_head);
    if (model_.kv_kind == GN_KV_FP8) {
      // A load gives 1 / 256 of what is stored.
      scales = {256.0f * scales.key, 256.0f * scales.value};
      attend<uint8_t>(queries, count, of_lane, keys, values, size, scales);
    } else if (model_.kv_kind == GN_KV_BF16) {
      attend<uint16_t>(queries, count, of_lane, keys, values, size, scales);
    } else {
      attend<float>(queries, count, of_lane, keys, values, size, scales);
    }
  }

  // Everything of a layer after its queries, keys and values.
  void finish_layer(
    int thread, const GnLayer & layer, int rows, const float * ple, int index, int ple_stride)
  {
    const int hidden = model_.hidden, size = model_.ple_dim;
    if (rows == 0) {
      return;
    }
    attention(thread, layer, rows);
    project(thread, layer.output, rows);
    each_row(
      thread, rows, [&](int row) {
        add_normed(row, layer.post_attention_norm);
        rms_norm(h(row), layer.pre_feedforward_norm, hidden, model_.eps, x(row));
      });
    project(thread, layer.gate_up, rows);
    const int width = layer.down.columns;
    each_row(
      thread, rows, [&](int row) {
        for (int i = 0; i < width; i += GN_WIDTH) {
          store(x(row) + i, gelu(load(y(row) + i)) * load(y(row) + width + i));
        }
      });
    project(thread, layer.down, rows);
    each_row(
      thread, rows, [&](int row) {
        add_normed(row, layer.post_feedforward_norm);
        std::memcpy(x(row), h(row), hidden * sizeof(float));
      });
    project(thread, layer.ple_gate, rows);
    each_row(
      thread, rows, [&](int row) {
        const float * mine = ple + static_cast<int64_t>(row) * ple_stride + index * size;
        for (int i = 0; i < size; i += GN_WIDTH) {
          store(x(row) + i, gelu(load(y(row) + i)) * load(mine + i));
        }
      });
    project(thread, layer.ple_projection, rows);
    each_row(
      thread, rows, [&](int row) {
        add_normed(row, layer.post_ple_norm);
        for (int i = 0; i < hidden; i += GN_WIDTH) {
          store(h(row) + i, load(h(row) + i) * set(layer.scalar));
        }
      });
  }

  // h += rms(y) * weight
  GN_INLINE void add_normed(int row, const float * weight)
  {
    rms_norm(y(row), weight, model_.hidden, model_.eps, y(row));
    for (int i = 0; i < model_.hidden; i += GN_WIDTH) {
      store(h(row) + i, load(h(row) + i) + load(y(row) + i));
    }
  }

  void logits(int thread, int rows)
  {
    each_row(
      thread, rows, [&](int row) {
        rms_norm(h(row), model_.norm, model_.hidden, model_.eps, x(row));
      });
    const int stride = padded(model_.vocab);
    matmul(thread, model_.head, x_.data(), widest_x_, rows, batch_->logits, stride);
    pool_.meet();
    if (model_.softcap > 0.0f) {
      const V cap = set(model_.softcap);
      each_row(
        thread, rows, [&](int row) {
          float * out = batch_->logits + static_cast<int64_t>(row) * stride;
          for (int i = 0; i < stride; i += GN_WIDTH) {
            store(out + i, tanh(load(out + i) / cap) * cap);
          }
        });
    }
  }

  GnModel model_;
  std::vector<GnLayer> layers_;
  Pool pool_;
  int widest_x_ = 0;
  int widest_y_ = 0;
  int score_columns_ = 0;
  const GnBatch * batch_ = nullptr;
  const GnMatrix * matrix_ = nullptr;
  const float * product_x_ = nullptr;
  float * product_y_ = nullptr;
  int rows_ = 0;
  std::vector<int> row_of_;
  std::vector<float> h_, x_, y_, ple_, ple_late_;
  std::vector<Local> local_;
};

void * create(const GnModel & model, int threads) {return new Step(model, threads);}
void destroy(void * step) {delete static_cast<Step *>(step);}
void forward(void * step, const GnBatch & batch) {static_cast<Step *>(step)->forward(batch);}
void multiply(void * step, const GnMatrix & matrix, const float * x, int rows, float * y)
{
  static_cast<Step *>(step)->multiply(matrix, x, rows, y);
}

namespace
{

bool is_allowed(const uint32_t * mask, int id) {return !mask || (mask[id / 32] >> (id % 32) & 1u);}

// The log of the sum of exponents of the allowed ids, relative to `top`, summed in float64.
double log_sum(const float * logits, int32_t vocab, const uint32_t * mask, float top)
{
  const V shift = set(top);
  double total = 0.0;
  for (int i = 0; i < vocab; i += GN_WIDTH) {
    const int n = vocab - i < GN_WIDTH ? vocab - i : GN_WIDTH;
    const uint32_t bits = mask ? mask[i / 32] >> (i % 32) & 0xffffu : 0xffffu;
    if (!bits) {
      continue;
    }
    float values[GN_WIDTH], weights[GN_WIDTH];
    for (int j = 0; j < GN_WIDTH; ++j) {
      values[j] = j < n && (bits >> j & 1u) ? logits[i + j] : -INFINITY;
    }
    store(weights, exp(load(values) - shift));
    for (int j = 0; j < GN_WIDTH; ++j) {
      total += weights[j];
    }
  }
  return std::log(total) + top;
}

}  // namespace

void look(const float * logits, int32_t vocab, const uint32_t * mask, GnRow & row)
{
  int best = -1, count = 0;
  float top = -INFINITY, highest = -INFINITY;
  for (int i = 0; i < vocab; ++i) {
    const float value = logits[i];
    highest = value > highest ? value : highest;
    if (is_allowed(mask, i)) {
      ++count;
      if (best < 0 || value > top) {
        top = value;
        best = i;
      }
    }
  }
  const double total = log_sum(logits, vocab, nullptr, highest);
  const double kept = mask && best >= 0 ? log_sum(logits, vocab, mask, top) : total;
  row = {total, kept, best, count, top};
}

}  // namespace GN_NAME
