// f32 attention over a batch of sequences, each of which attends only to itself. The batch is packed (ragged: all
// sequences' tokens side by side, without padding) or dense (padded to equal lengths). Keys and values are rows beside
// the queries, or lie in the pages of a cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "backends/cpu/kernels/vectors/word_kind.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

enum class StoredNumbers : std::uint8_t { f32, f16, bf16, i8 };

constexpr std::size_t bytes_of(StoredNumbers numbers) {
  return numbers == StoredNumbers::f32 ? 4 : numbers == StoredNumbers::i8 ? 1 : 2;
}

/// Where keys or values are. Nothing is owned; strides count numbers.
struct KeySource {
  const void* base = nullptr;   // [tokens, kv_heads, size], or [pages * page_rows, kv_heads, size]
  std::size_t stride = 0;       // between tokens
  std::size_t head_stride = 0;  // between heads; 0: heads lie side by side
  StoredNumbers numbers = StoredNumbers::f32;
  const float* scales = nullptr;  // of i8: [pages * page_rows, kv_heads], what the integers of a row are multiplied by
  std::size_t scale_stride = 0;   // between tokens
  // Row i of sequence s is row i % page_rows of the page table[s * most_pages + i / page_rows]. Without a table, rows
  // of a sequence lie in order.
  const std::int32_t* table = nullptr;
  std::size_t most_pages = 0;
  std::size_t page_rows = 0;
};

/// Nothing is owned. Strides count floats. q, k and v may be slices of one [tokens, ...] buffer or of a head-major one;
/// heads of a token of the result lie side by side. The caller has checked that all sequences lie inside the buffers
/// and do not overlap, that the pages of their keys are in the cache, and that kv_heads divides heads.
struct AttentionArguments {
  const float* q = nullptr;         // [tokens, heads, head_size]
  std::size_t q_stride = 0;         // between tokens
  std::size_t q_head_stride = 0;    // between heads; 0: heads lie side by side
  KeySource k = {}, v = {};         // both with a table, or neither
  float* out = nullptr;             // [tokens, heads, value_size]; tokens outside all sequences are not written
  std::uint16_t* halves = nullptr;  // or null: receives the result as bf16 instead of out, rounded as by bf16_rows.h
  std::size_t out_stride = 0;       // of `out` or `halves`

  // A packed batch: queries and keys of a sequence are the same tokens; or, with keys in pages, the queries are the
  // last of its key_lengths[s] tokens. Null in a dense one.
  const std::int32_t* starts = nullptr;   // [sequences], the first token of each
  const std::int32_t* lengths = nullptr;  // [sequences]
  // A dense batch: sequence s has the queries [s * queries, …) and the keys [s * keys, …).
  std::size_t queries = 0;
  std::size_t keys = 0;
  const std::int32_t* key_lengths = nullptr;  // [sequences]: keys at or past it are masked; null: none are. Not null,
                                              // and not below `lengths`, with keys in pages
  std::size_t sequences = 0;

  std::size_t heads = 0;
  std::size_t kv_heads = 0;  // query head h uses key/value head h * kv_heads / heads
  std::size_t head_size = 0;
  std::size_t value_size = 0;

  float scale = 1;                   // of q . k
  float soft_cap = 0;                // scores become soft_cap * tanh(score / soft_cap); 0: no cap
  bool causal = false;               // query i sees no key after i, both counted from the sequence's start
  std::ptrdiff_t window_left = -1;   // query i sees at most this many keys before i; -1: all
  std::ptrdiff_t window_right = -1;  // and at most this many after it; -1: all
  const float* bias = nullptr;  // bias[s * bias_sequence_stride + h * bias_head_stride + i * bias_query_stride + j] is
                                // added to the scores after the cap; may be null
  std::size_t bias_sequence_stride = 0;  // 0: one for all sequences
  std::size_t bias_head_stride = 0;      // 0: one for all heads
  std::size_t bias_query_stride = 0;
  // Scores by distance [heads, tokens, 2 * distance_reach], or null: query i and key j of a packed sequence, which is
  // no longer than the reach, add the entry j - i + reach of i's row, and the entry i - j + reach of j's.
  const float* query_distances = nullptr;
  const float* key_distances = nullptr;
  bool shares_key_distances = false;  // key_distances are [heads, 2 * distance_reach], a row for all tokens
  std::size_t distance_reach = 0;
  std::size_t tokens = 0;
  const float* sinks = nullptr;  // [heads], an extra score per row without a value (arXiv:2309.17453); may be null

  // Allows queries, keys, values and softmax weights to be rounded before they are multiplied: to 16-bit integers with
  // at least 12 bits relative to the greatest, for sequences of many keys where the CPU multiplies shorts in pairs; or
  // to bf16, where it has matrix registers for bf16. Not with keys in pages or of other numbers than f32: steps of
  // integers depend on the later tokens of a text.
  bool rounds_operands = false;
  bool rounds_to_bf16 = false;  // with rounds_operands; for results that are then rounded to bf16 or 8 bits
};

/// out = softmax(scores) v for each sequence and head, by online softmax over tiles of 128 keys that start at the
/// sequence (arXiv:2205.14135). A row with all keys masked gives zeros. The bits of a sequence's result depend only on
/// that sequence, not on the batch, the threads or the run; and if operands are not rounded, those of a causal query
/// only on the keys that it sees, not on where they are or how many other queries there are. Thread-safe. Throws
/// resource_exhausted when there is no memory for a worker's scratch, which the thread keeps for its next runs.
void attend_sequences(const AttentionArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                      const Kernels& set = kernels());

/// The first key that the query at a place sees by its window: no earlier one is read for it, nor for later queries.
inline std::size_t first_seen_key(const AttentionArguments& arguments, std::ptrdiff_t place) {
  const std::ptrdiff_t left = arguments.window_left;
  return left < 0 || place < left ? 0 : static_cast<std::size_t>(place - left);
}

/// The kind that operands of a sequence with `keys` keys are rounded to where that is allowed; f32: not rounded.
WordKind rounded_operands(std::size_t keys, bool rounds_to_bf16, const Kernels& set = kernels());

struct AttentionKernel;

/// The kernel of an instruction set's table (dispatch.h) for operands rounded to shorts or bf16, null where that is not
/// faster, or for f32.
const AttentionKernel& attention_kernel_for(WordKind operands, const Kernels& set = kernels());

/// One task: some queries of one head of one sequence; or few queries of some heads.
struct AttentionTask {
  std::size_t sequence = 0;
  std::size_t first_query = 0;  // first row of the sequence in q and out
  std::size_t first_key = 0;    // and in k and v, where they are not in pages
  std::size_t first_place = 0;  // place of the first query among the keys
  std::size_t keys = 0;         // visible keys
  std::size_t head = 0;
  std::size_t heads = 1;        // from `head` on; 1 but for attend_few
  std::size_t query_begin = 0;  // from the sequence's first query
  std::size_t query_end = 0;    // at most query_begin + kAttentionQueries
};

/// The task's kernel for one instruction set and operand type. `attend` needs scratch_floats floats, aligned
/// to 64; so does attend_few, which there is for f32 only, with few_scratch_floats. Both give the same bits.
struct AttentionKernel {
  void (*attend)(const AttentionArguments&, const AttentionTask&, float* scratch) = nullptr;
  std::size_t (*scratch_floats)(std::size_t head_size, std::size_t value_size) = nullptr;
  /// For tasks without bias and scores by distance, of at most kMostFewRows rows: queries times heads.
  void (*attend_few)(const AttentionArguments&, const AttentionTask&, float* scratch) = nullptr;
  std::size_t (*few_scratch_floats)(std::size_t head_size, std::size_t value_size) = nullptr;
};

constexpr std::size_t kAttentionQueries = 256;  // most queries per task: bounds the scratch
constexpr std::size_t kMostFewRows = 32;        // and most rows per task of few queries
constexpr std::size_t kAttentionKeys = 128;     // keys per tile

}  // namespace alate::cpu
