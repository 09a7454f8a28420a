#include <vector>

#include "graph/reference/fused/attention_rows.h"

namespace alate::graph {
namespace {

// A query's result is Σ weight · value with softmax weights. For a gradient g of the result, a weight's gradient is g ·
// value, and a score's is weight · (its weight's gradient - the weighted mean of all of them).
class AttentionGradientLoop {
 public:
  AttentionGradientLoop(const Attention& attributes, const AttentionGradientOperands<Tensor>& operands)
      : rows_(attributes, operands.attention),
        gradient_(operands.gradient),
        query_(rows_.query.values.size()),
        key_(rows_.key.values.size()),
        value_(rows_.value.values.size()),
        bias_(rows_.bias.values.size()),
        sinks_(rows_.sinks.size()) {}

  void run(const AttentionSequence& sequence) {
    for (std::int64_t query = 0; query < sequence.queries; ++query) {
      for (std::int64_t head = 0; head < rows_.query.heads; ++head) go_back(sequence, query, head);
    }
  }

  std::vector<Tensor> results(std::span<const Shape> shapes) const {
    std::vector<const std::vector<double>*> values = {&query_, &key_, &value_};
    if (rows_.attention.has_bias) values.push_back(&bias_);
    if (rows_.attention.has_sinks) values.push_back(&sinks_);
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < values.size(); ++i) tensors.push_back(store_floats(shapes[i], *values[i]));
    return tensors;
  }

 private:
  void go_back(const AttentionSequence& sequence, std::int64_t query, std::int64_t head) {
    const AttentionRow row = rows_.row(sequence, query, head);
    const std::int64_t kv_head = rows_.kv_head(head), query_row = sequence.first_query + query;
    const double* const g = gradient_.at(query_row, head);
    std::vector<double> of_weights(row.weights.size());
    double mean = 0;
    for (std::size_t i = 0; i < row.weights.size(); ++i) {
      if (!rows_.sees(query, static_cast<std::int64_t>(i))) continue;
      const std::int64_t place = rows_.value.offset(sequence.first_key + static_cast<std::int64_t>(i), kv_head);
      for (std::int64_t column = 0; column < rows_.value.width; ++column) {
        const auto at = static_cast<std::size_t>(place + column);
        of_weights[i] += g[column] * rows_.value.values[at];
        value_[at] += row.weights[i] * g[column];
      }
      mean += row.weights[i] * of_weights[i];
    }
    if (rows_.attention.has_sinks) sinks_[static_cast<std::size_t>(head)] -= row.sink * mean;
    for (std::size_t i = 0; i < row.weights.size(); ++i) {
      const auto key = static_cast<std::int64_t>(i);
      if (!rows_.sees(query, key)) continue;
      const double of_score = row.weights[i] * (of_weights[i] - mean);
      if (rows_.attention.has_bias) bias_[rows_.bias.place(sequence.batch, head, query, key)] += of_score;
      const double of_product = of_score * row.slopes[i] * rows_.attention.scale;
      const std::int64_t from_query = rows_.query.offset(query_row, head),
                         from_key = rows_.key.offset(sequence.first_key + key, kv_head);
      for (std::int64_t column = 0; column < rows_.query.width; ++column) {
        const auto q = static_cast<std::size_t>(from_query + column), k = static_cast<std::size_t>(from_key + column);
        query_[q] += of_product * rows_.key.values[k];
        key_[k] += of_product * rows_.query.values[q];
      }
    }
  }

  AttentionRows rows_;
  AttentionHeads gradient_;
  std::vector<double> query_, key_, value_, bias_, sinks_;
};

}  // namespace

std::vector<Tensor> reference_attention_gradient(const ReferenceCall& call) {
  const auto given = AttentionGradientOperands<Tensor>::of(call.as<Attention>(), call.operands);
  AttentionGradientLoop loop(call.as<Attention>(), given);
  for (const AttentionSequence& sequence : batch_sequences(given.attention)) loop.run(sequence);
  return loop.results(call.shapes);
}

}  // namespace alate::graph
