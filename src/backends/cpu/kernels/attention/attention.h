// Attention over a batch of sequences, f32: each attends to itself alone. The batch is packed (tokens of all sequences
// side by side, as many as there are) or dense (as many places for each).
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/dispatch/kernel_set.h"
#include "backends/cpu/kernels/gemm/gemm_kernel.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// Nothing is owned. Strides count floats. q, k and v may be slices of one [tokens, ...] buffer, or of one whose heads
/// each have all tokens; heads of a token of the result lie side by side. The caller has checked that all sequences lie
/// inside the buffers and do not overlap, and that kv_heads divides heads.
struct AttentionArguments {
  const float* q = nullptr;  // [tokens, heads, head_size]
  std::size_t q_stride = 0;  // between tokens
  const float* k = nullptr;  // [tokens, kv_heads, head_size]
  std::size_t k_stride = 0;
  const float* v = nullptr;  // [tokens, kv_heads, value_size]
  std::size_t v_stride = 0;
  std::size_t q_head_stride = 0, k_head_stride = 0, v_head_stride = 0;  // between heads; 0: they lie side by side
  float* out = nullptr;             // [tokens, heads, value_size]; tokens of no sequence are left alone
  std::uint16_t* halves = nullptr;  // or null: takes the result instead of out, rounded as bf16_rows.h does it
  std::size_t out_stride = 0;       // of either

  // A packed batch: queries and keys of a sequence are the same tokens. Null in a dense one.
  const std::int32_t* starts = nullptr;   // [sequences], the first token of each
  const std::int32_t* lengths = nullptr;  // [sequences]
  // A dense batch: sequence s has the queries [s * queries, …) and the keys [s * keys, …).
  std::size_t queries = 0;
  std::size_t keys = 0;
  const std::int32_t* key_lengths =
      nullptr;  // [sequences]: keys of a sequence at or past it are not seen; null: all are
  std::size_t sequences = 0;

  std::size_t heads = 0;
  std::size_t kv_heads = 0;  // query head h uses key/value head h * kv_heads / heads
  std::size_t head_size = 0;
  std::size_t value_size = 0;

  float scale = 1;                   // of q . k
  float soft_cap = 0;                // scores become soft_cap * tanh(score / soft_cap); 0: no cap
  bool causal = false;               // query i sees no key after i; both are counted from the sequence's start
  std::ptrdiff_t window_left = -1;   // query i sees at most this many keys before i; -1: all
  std::ptrdiff_t window_right = -1;  // and at most this many after it; -1: all
  const float* bias = nullptr;  // bias[s * bias_sequence_stride + h * bias_head_stride + i * bias_query_stride + j] is
                                // added to the scores after the cap; may be null
  std::size_t bias_sequence_stride = 0;  // 0: one for all sequences
  std::size_t bias_head_stride = 0;      // 0: one for all heads
  std::size_t bias_query_stride = 0;
  const float* sinks = nullptr;  // [heads], an extra score a row that has no value (arXiv:2309.17453); may be null

  // Queries, keys, values and weights may be rounded, to 12 bits of the greatest or more, before they are multiplied:
  // done for sequences of many keys where the processor multiplies shorts two at a time. Or to bf16, where it has
  // registers for matrices of these.
  bool rounds_operands = false;
  bool rounds_to_bf16 = false;  // with rounds_operands; for results that become bf16 or 8 bits
};

/// out = softmax(scores) v for each sequence and head, by online softmax over tiles of 128 keys that start at the
/// sequence (arXiv:2205.14135). A row that may see no key at all gives zeros. The bits of a sequence's result depend
/// on that sequence alone: not on the batch, the threads or the run. Thread-safe. Throws resource_exhausted when
/// there is no memory for a worker's scratch, which is kept for the thread's next runs.
void attend_sequences(const AttentionArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                      const Kernels& set = kernels());

/// What operands of a sequence with so many keys are rounded to where that is allowed: f32 where they stay as they are.
WordKind rounded_operands(std::size_t keys, bool rounds_to_bf16, const Kernels& set = kernels());

/// One task: some queries of one head of one sequence.
struct AttentionTask {
  std::size_t sequence = 0;
  std::size_t first_query = 0;  // the sequence's rows of q and out begin here
  std::size_t first_key = 0;    // and those of k and v here
  std::size_t keys = 0;         // that are seen
  std::size_t head = 0;
  std::size_t query_begin = 0;  // from the sequence's start
  std::size_t query_end = 0;    // at most query_begin + kAttentionQueries
};

/// The task's work for one instruction set and one way to multiply. `attend` needs scratch_floats floats, aligned
/// to 64.
struct AttentionKernel {
  void (*attend)(const AttentionArguments&, const AttentionTask&, float* scratch) = nullptr;
  std::size_t (*scratch_floats)(std::size_t head_size, std::size_t value_size) = nullptr;
};

constexpr std::size_t kAttentionQueries = 256;  // most queries of one task: bounds the scratch
constexpr std::size_t kAttentionKeys = 128;     // keys of one tile

}  // namespace alate::cpu
