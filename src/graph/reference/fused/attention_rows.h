// Attention weights of one query of one head, shared by attention and its gradient.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "graph/operands.h"
#include "graph/reference/call.h"
#include "graph/reference/extremes.h"
#include "graph/reference/values.h"

namespace alate::graph {

/// [rows, heads, width] as doubles; batches are concatenated along rows.
struct AttentionHeads {
  std::vector<double> values;
  std::int64_t heads, width;

  explicit AttentionHeads(const Tensor& x)
      : values(load_floats(x)), heads(x.extent(x.rank() - 2)), width(x.extent(x.rank() - 1)) {}
  std::int64_t offset(std::int64_t row, std::int64_t head) const { return (row * heads + head) * width; }
  const double* at(std::int64_t row, std::int64_t head) const { return values.data() + offset(row, head); }
};

/// [1 or batch, 1 or heads, queries, keys]
struct AttentionBias {
  std::vector<double> values;
  std::vector<std::int64_t> extents;

  std::size_t place(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key) const {
    const std::int64_t b = extents[0] == 1 ? 0 : batch, h = extents[1] == 1 ? 0 : head;
    return static_cast<std::size_t>(((b * extents[1] + h) * extents[2] + query) * extents[3] + key);
  }
};

/// [heads, 1 or tokens, 2, longest] of ragged_attention.
struct DistanceScores {
  std::vector<double> values;
  std::int64_t tokens = 0, longest = 0;

  double at(std::int64_t head, std::int64_t token, std::int64_t distance) const {
    const std::int64_t row = head * tokens + (tokens == 1 ? 0 : token);
    return values[static_cast<std::size_t>((row * 2 + 1) * longest + distance)];
  }
};

/// The rows of one sequence; queries and keys are relative to its first ones.
struct AttentionSequence {
  std::int64_t batch;  // of the bias
  std::int64_t first_query, queries, first_key, keys;
  std::int64_t first_place = 0;  // the first query's place among the keys
};

/// One query of one head. Empty if no key is visible, or every score is -infinity.
struct AttentionRow {
  std::vector<double> weights;  // by key; 0 where masked
  std::vector<double> slopes;   // of the capped scores
  double sink = 0;              // the sink's weight
};

class AttentionRows {
 public:
  AttentionRows(const Attention& attributes, const AttentionOperands<Tensor>& given)
      : attention(attributes), query(given.query), key(given.key), value(given.value) {
    add(given.bias, given.sinks);
  }
  AttentionRows(const Attention& attributes, const RaggedAttentionOperands<Tensor>& given)
      : attention(attributes), query(given.query), key(given.key), value(given.value) {
    add(given.bias, given.sinks);
    const auto scores = [](const Tensor& x) { return DistanceScores{load_floats(x), x.extent(1), x.extent(3)}; };
    if (given.query_distances) query_distances = scores(*given.query_distances);
    if (given.key_distances) key_distances = scores(*given.key_distances);
  }

  /// Over the pages' rows, one after the other.
  AttentionRows(const Attention& attributes, const PagedAttentionOperands<Tensor>& given)
      : attention(attributes), query(given.query), key(given.key), value(given.value) {
    add({}, given.sinks);
  }

  /// Whether the query at `place` sees the key at `other`.
  bool sees(std::int64_t place, std::int64_t other) const {
    return (!attention.causal || other <= place) &&
           (attention.window_left < 0 || place - other <= attention.window_left) &&
           (attention.window_right < 0 || other - place <= attention.window_right);
  }
  std::int64_t kv_head(std::int64_t head) const { return head / (query.heads / key.heads); }

  AttentionRow row(const AttentionSequence& sequence, std::int64_t place, std::int64_t head) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto keys = static_cast<std::size_t>(sequence.keys);
    AttentionRow row{std::vector<double>(keys, -kInfinity), std::vector<double>(keys, 1)};
    double largest = attention.has_sinks ? sinks[static_cast<std::size_t>(head)] : -kInfinity;
    for (std::size_t i = 0; i < keys; ++i) {
      const auto other = static_cast<std::int64_t>(i);
      if (!sees(sequence.first_place + place, other)) continue;
      double score = attention.scale * product_of(sequence, place, other, head);
      if (attention.soft_cap > 0) {
        const double part = std::tanh(score / attention.soft_cap);
        score = attention.soft_cap * part;
        row.slopes[i] = 1 - part * part;
      }
      if (attention.has_bias) score += bias.values[bias.place(sequence.batch, head, place, other)];
      if (attention.has_query_distances) score += query_distances.at(head, sequence.first_query + place, other - place);
      if (attention.has_key_distances) score += key_distances.at(head, sequence.first_key + other, place - other);
      row.weights[i] = score;
      largest = larger(largest, score);
    }
    if (largest == -kInfinity) return {};
    if (attention.has_sinks) row.sink = std::exp(sinks[static_cast<std::size_t>(head)] - largest);
    double sum = row.sink;
    for (double& weight : row.weights) sum += weight = std::exp(weight - largest);
    for (double& weight : row.weights) weight /= sum;
    row.sink /= sum;
    return row;
  }

  const Attention& attention;
  AttentionHeads query, key, value;
  AttentionBias bias;
  std::vector<double> sinks;
  DistanceScores query_distances, key_distances;

 private:
  void add(const std::optional<Tensor>& biases, const std::optional<Tensor>& of_heads) {
    if (biases) bias = {load_floats(*biases), extents_of(biases->shape())};
    if (of_heads) sinks = load_floats(*of_heads);
  }

  double product_of(const AttentionSequence& sequence, std::int64_t place, std::int64_t other,
                    std::int64_t head) const {
    const double* const q = query.at(sequence.first_query + place, head);
    const double* const k = key.at(sequence.first_key + other, kv_head(head));
    double sum = 0;
    for (std::int64_t i = 0; i < query.width; ++i) sum += q[i] * k[i];
    return sum;
  }
};

/// The sequences of a dense batch, each with as many keys as its length.
inline std::vector<AttentionSequence> batch_sequences(const AttentionOperands<Tensor>& given) {
  const std::int64_t batch = given.query.extent(0), queries = given.query.extent(1), keys = given.key.extent(1);
  const std::vector<std::int64_t> lengths =
      given.lengths ? load_indices(*given.lengths) : std::vector<std::int64_t>(static_cast<std::size_t>(batch), keys);
  std::vector<AttentionSequence> sequences;
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t seen = std::clamp<std::int64_t>(lengths[static_cast<std::size_t>(i)], 0, keys);
    sequences.push_back({i, i * queries, queries, i * keys, seen});
  }
  return sequences;
}

}  // namespace alate::graph
