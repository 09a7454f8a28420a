// Work of attention steps.
#include <algorithm>

#include "backends/cpu/kernels/attention/attention.h"
#include "backends/cpu/steps/products/widened.h"
#include "backends/cpu/steps/steps.h"
#include "backends/cpu/steps/work.h"
#include "graph/operands.h"

namespace alate::cpu {
namespace {

using backends::Arithmetic;
using backends::Work;

// Pairs of a query and a visible key, in one head of one sequence whose first query is at `first_place` of the keys.
double seen_pairs(const graph::Attention& attention, std::int64_t first_place, std::int64_t queries,
                  std::int64_t keys) {
  const std::int64_t left = attention.window_left, right = attention.causal ? 0 : attention.window_right;
  if (left < 0 && right < 0) return static_cast<double>(queries) * static_cast<double>(keys);
  std::int64_t pairs = 0;
  for (std::int64_t i = first_place; i < first_place + queries; ++i) {
    const std::int64_t first = left < 0 ? 0 : std::max<std::int64_t>(i - left, 0);
    const std::int64_t end = right < 0 ? keys : std::min(i + right + 1, keys);
    pairs += std::max<std::int64_t>(end - first, 0);
  }
  return static_cast<double>(pairs);
}

/// Counts pairs over all sequences, and those whose operands are rounded.
class SeenPairs {
 public:
  SeenPairs(const graph::Attention& attention, bool rounds_to_bf16)
      : attention_(attention), rounds_to_bf16_(rounds_to_bf16) {}

  void add(std::int64_t queries, std::int64_t keys, std::int64_t first_place = 0) {
    const double pairs = seen_pairs(attention_, first_place, queries, keys);
    all_ += pairs;
    if (!attention_.rounds_operands) return;
    const WordKind kind = rounded_operands(static_cast<std::size_t>(keys), rounds_to_bf16_);
    if (kind == WordKind::f32) return;
    rounded_ += pairs;
    rounded_to_ = kind == WordKind::bf16 ? Arithmetic::bf16 : Arithmetic::int16;
  }
  double all() const { return all_; }
  // The arithmetic of most pairs.
  Arithmetic arithmetic() const { return rounded_ * 2 > all_ ? rounded_to_ : Arithmetic::f32; }

 private:
  const graph::Attention& attention_;
  bool rounds_to_bf16_;
  double all_ = 0, rounded_ = 0;
  Arithmetic rounded_to_ = Arithmetic::f32;
};

// Adds two products per pair and head: query times key, and weight times value. Halves are widened to f32.
template <typename Places>
void add_products(const Step& step, const Frame& frame, const Places& at, const SeenPairs& pairs, Work& work) {
  const Shape &query = frame.shape(step.inputs[at.query]), &value = frame.shape(step.inputs[at.value]);
  const auto extent = [](const Shape& shape, std::size_t from_end) {
    return static_cast<double>(extent_of(shape, shape.rank() - from_end));
  };
  work.flops = 2 * pairs.all() * extent(query, 2) * (extent(query, 1) + extent(value, 1));
  work.arithmetic = pairs.arithmetic();
}

}  // namespace

Work attention_work(const Step& step, const Frame& frame) {
  const auto& attention = std::get<graph::Attention>(step.attributes);
  const auto at = graph::places_of<graph::AttentionOperands>(attention);
  const Shape& query = frame.shape(step.inputs[at.query]);
  const auto queries = static_cast<std::int64_t>(extent_of(query, 1)),
             keys = static_cast<std::int64_t>(extent_of(frame.shape(step.inputs[at.key]), 1));
  const std::int32_t* lengths = at.lengths ? frame.in<std::int32_t>(step.inputs[*at.lengths]) : nullptr;
  SeenPairs pairs(attention, false);
  for (std::size_t i = 0; i < extent_of(query, 0); ++i) {
    const std::int64_t seen = lengths == nullptr ? keys : std::clamp<std::int64_t>(lengths[i], 0, keys);
    pairs.add(queries, seen);
  }
  Work work = moved_bytes(step, frame);
  add_products(step, frame, at, pairs, work);
  return work;
}

Work ragged_attention_work(const Step& step, const Frame& frame) {
  const auto& attention = std::get<graph::Attention>(step.attributes);
  const auto at = graph::places_of<graph::RaggedAttentionOperands>(attention);
  const auto* lengths = frame.in<std::int32_t>(step.inputs[at.lengths]);
  const std::int32_t* key_lengths = at.key_lengths ? frame.in<std::int32_t>(step.inputs[*at.key_lengths]) : nullptr;
  SeenPairs pairs(attention, may_multiply_bf16(step, frame.binding));
  for (std::size_t i = 0; i < extent_of(frame.shape(step.inputs[at.lengths]), 0); ++i) {
    const std::int32_t keys = key_lengths == nullptr ? lengths[i] : std::clamp(key_lengths[i], 0, lengths[i]);
    pairs.add(lengths[i], keys);
  }
  Work work = moved_bytes(step, frame);
  add_products(step, frame, at, pairs, work);
  return work;
}

Work paged_attention_work(const Step& step, const Frame& frame) {
  const auto& attention = std::get<graph::Attention>(step.attributes);
  const auto at = graph::places_of<graph::PagedAttentionOperands>(attention);
  const auto *lengths = frame.in<std::int32_t>(step.inputs[at.lengths]),
             *key_lengths = frame.in<std::int32_t>(step.inputs[at.key_lengths]);
  SeenPairs pairs(attention, false);
  std::int64_t cached = 0;
  for (std::size_t i = 0; i < extent_of(frame.shape(step.inputs[at.lengths]), 0); ++i) {
    if (lengths[i] == 0) continue;
    pairs.add(lengths[i], key_lengths[i], key_lengths[i] - lengths[i]);
    cached += key_lengths[i];
  }
  Work work{.bytes = result_bytes(step, frame)};
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    const Shape& shape = frame.shape(step.inputs[i]);
    const bool is_cache = i == at.key || i == at.value || i == at.key_scales || i == at.value_scales;
    const std::size_t rows = is_cache ? std::max<std::size_t>(extent_of(shape, 0) * extent_of(shape, 1), 1) : 1;
    work.bytes +=
        operand_bytes(step, frame, i) / static_cast<double>(rows) * static_cast<double>(is_cache ? cached : 1);
  }
  add_products(step, frame, at, pairs, work);
  return work;
}

}  // namespace alate::cpu
