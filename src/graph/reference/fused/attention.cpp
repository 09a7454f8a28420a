#include <algorithm>
#include <vector>

#include "graph/reference/fused/attention_rows.h"

namespace alate::graph {
namespace {

class AttentionLoop {
 public:
  template <typename Operands>
  AttentionLoop(const ReferenceCall& call, const Operands& operands)
      : rows_(call.as<Attention>(), operands), result_(static_cast<std::size_t>(call.shape().element_count())) {}

  void run(const AttentionSequence& sequence) {
    for (std::int64_t query = 0; query < sequence.queries; ++query) {
      for (std::int64_t head = 0; head < rows_.query.heads; ++head) attend(sequence, query, head);
    }
  }

  const std::vector<double>& result() const { return result_; }
  AttentionRows& rows() { return rows_; }

 private:
  void attend(const AttentionSequence& sequence, std::int64_t query, std::int64_t head) {
    const AttentionRow row = rows_.row(sequence, query, head);
    const std::int64_t width = rows_.value.width;
    double* const out = result_.data() + ((sequence.first_query + query) * rows_.query.heads + head) * width;
    for (std::size_t i = 0; i < row.weights.size(); ++i) {
      const auto key = static_cast<std::int64_t>(i);
      if (!rows_.sees(sequence.first_place + query, key)) continue;
      const double* const v = rows_.value.at(sequence.first_key + key, rows_.kv_head(head));
      for (std::int64_t column = 0; column < width; ++column) out[column] += row.weights[i] * v[column];
    }
  }

  AttentionRows rows_;
  std::vector<double> result_;
};

// Keeps the rows `wanted`, in this order.
void keep_rows(AttentionHeads& heads, const std::vector<std::int64_t>& wanted) {
  std::vector<double> taken;
  const std::int64_t size = heads.heads * heads.width;
  taken.reserve(wanted.size() * static_cast<std::size_t>(size));
  for (const std::int64_t row : wanted) {
    const auto first = heads.values.begin() + row * size;
    taken.insert(taken.end(), first, first + size);
  }
  heads.values = std::move(taken);
}

// Multiplies each row of a head by its scale.
void scale_rows(AttentionHeads& heads, const Tensor& scales) {
  const std::vector<double> factors = load_floats(scales);
  for (std::size_t i = 0; i < heads.values.size(); ++i)
    heads.values[i] *= factors[i / static_cast<std::size_t>(heads.width)];
}

}  // namespace

Tensor reference_attention(const ReferenceCall& call) {
  const auto given = AttentionOperands<Tensor>::of(call.as<Attention>(), call.operands);
  AttentionLoop loop(call, given);
  for (const AttentionSequence& sequence : batch_sequences(given)) loop.run(sequence);
  return store_floats(call.shape(), loop.result());
}

Tensor reference_ragged_attention(const ReferenceCall& call) {
  const auto given = RaggedAttentionOperands<Tensor>::of(call.as<Attention>(), call.operands);
  const std::vector<std::int64_t> starts = load_indices(given.starts), lengths = load_indices(given.lengths);
  const std::int64_t tokens = given.query.extent(0), longest = call.extent(call.as<Attention>().longest);
  const std::vector<std::int64_t> seen = given.key_lengths ? load_indices(*given.key_lengths) : lengths;
  AttentionLoop loop(call, given);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    call.require(starts[i] >= 0 && lengths[i] >= 0 && lengths[i] <= longest && starts[i] + lengths[i] <= tokens,
                 "a sequence's start and length reach outside the tokens or past the longest sequence");
    loop.run({static_cast<std::int64_t>(i), starts[i], lengths[i], starts[i],
              std::clamp<std::int64_t>(seen[i], 0, lengths[i])});
  }
  return store_floats(call.shape(), loop.result());
}

Tensor reference_paged_attention(const ReferenceCall& call) {
  const auto given = PagedAttentionOperands<Tensor>::of(call.as<Attention>(), call.operands);
  const std::vector<std::int64_t> starts = load_indices(given.starts), lengths = load_indices(given.lengths),
                                  key_lengths = load_indices(given.key_lengths), table = load_indices(given.table);
  const std::int64_t tokens = given.query.extent(0), longest = call.extent(call.as<Attention>().longest),
                     pages = given.key.extent(0), page_rows = given.key.extent(1), most_pages = given.table.extent(1);
  std::vector<std::int64_t> cached;  // the pages' rows, of all sequences
  std::vector<AttentionSequence> sequences;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto sequence = static_cast<std::int64_t>(i);
    call.require(starts[i] >= 0 && lengths[i] >= 0 && lengths[i] <= longest && starts[i] + lengths[i] <= tokens,
                 "a sequence's start and length reach outside the tokens or past the longest sequence");
    if (lengths[i] == 0) continue;
    call.require(key_lengths[i] >= lengths[i] && key_lengths[i] <= most_pages * page_rows,
                 "a sequence's key length is below its length, or above what its row of the table holds");
    sequences.push_back({sequence, starts[i], lengths[i], static_cast<std::int64_t>(cached.size()), key_lengths[i],
                         key_lengths[i] - lengths[i]});
    // What is before the window of the first query, and so of all, is not read: any row stands for it.
    const std::int64_t left = call.as<Attention>().window_left, first_place = key_lengths[i] - lengths[i],
                       first_seen =
                           left < 0 ? 0 : std::max<std::int64_t>(first_place - left, 0) / page_rows * page_rows;
    cached.insert(cached.end(), static_cast<std::size_t>(first_seen), 0);
    for (std::int64_t key = first_seen; key < key_lengths[i]; ++key) {
      const std::int64_t page = table[static_cast<std::size_t>(sequence * most_pages + key / page_rows)];
      call.require(page >= 0 && page < pages, "the table names a page that the cache does not have");
      cached.push_back(page * page_rows + key % page_rows);
    }
  }
  AttentionLoop loop(call, given);
  if (given.key_scales) scale_rows(loop.rows().key, *given.key_scales);
  if (given.value_scales) scale_rows(loop.rows().value, *given.value_scales);
  keep_rows(loop.rows().key, cached);
  keep_rows(loop.rows().value, cached);
  for (const AttentionSequence& sequence : sequences) loop.run(sequence);
  return store_floats(call.shape(), loop.result());
}

}  // namespace alate::graph
