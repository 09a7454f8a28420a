#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "graph/reference/call.h"
#include "graph/reference/extremes.h"
#include "graph/reference/values.h"

namespace alate::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// [rows, heads, width] as doubles; attention's batches are read as one after the other.
struct Heads {
  std::vector<double> values;
  std::int64_t heads, width;

  explicit Heads(const Tensor& x)
      : values(load_floats(x)), heads(x.extent(x.rank() - 2)), width(x.extent(x.rank() - 1)) {}
  const double* at(std::int64_t row, std::int64_t head) const { return values.data() + (row * heads + head) * width; }
};

// [1 or batch, 1 or heads, queries, keys]
struct Bias {
  std::vector<double> values;
  std::vector<std::int64_t> extents;

  double at(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key) const {
    const std::int64_t b = extents[0] == 1 ? 0 : batch, h = extents[1] == 1 ? 0 : head;
    return values[static_cast<std::size_t>(((b * extents[1] + h) * extents[2] + query) * extents[3] + key)];
  }
};

// The rows of one sequence: queries and keys are counted from its first ones.
struct Sequence {
  std::int64_t batch;  // of the bias
  std::int64_t first_query, queries, first_key, keys;
};

class AttentionLoop {
 public:
  AttentionLoop(const ReferenceCall& call, std::size_t bias_place)
      : attention_(call.as<Attention>()), query_(call.operand(0)), key_(call.operand(1)), value_(call.operand(2)) {
    if (attention_.has_bias) {
      const Tensor& bias = call.operand(bias_place++);
      bias_ = {load_floats(bias), extents_of(bias.shape())};
    }
    if (attention_.has_sinks) sinks_ = load_floats(call.operand(bias_place));
    result_.resize(static_cast<std::size_t>(call.shape().element_count()));
  }

  void run(const Sequence& sequence) {
    for (std::int64_t query = 0; query < sequence.queries; ++query) {
      for (std::int64_t head = 0; head < query_.heads; ++head) attend(sequence, query, head);
    }
  }

  const std::vector<double>& result() const { return result_; }

 private:
  bool sees(std::int64_t query, std::int64_t key) const {
    return (!attention_.causal || key <= query) &&
           (attention_.window_left < 0 || query - key <= attention_.window_left) &&
           (attention_.window_right < 0 || key - query <= attention_.window_right);
  }

  double score(const Sequence& sequence, std::int64_t query, std::int64_t key, std::int64_t head,
               std::int64_t kv_head) const {
    const double* const q = query_.at(sequence.first_query + query, head);
    const double* const k = key_.at(sequence.first_key + key, kv_head);
    double score = 0;
    for (std::int64_t i = 0; i < query_.width; ++i) score += q[i] * k[i];
    score *= attention_.scale;
    if (attention_.soft_cap > 0) score = attention_.soft_cap * std::tanh(score / attention_.soft_cap);
    if (attention_.has_bias) score += bias_.at(sequence.batch, head, query, key);
    return score;
  }

  void attend(const Sequence& sequence, std::int64_t query, std::int64_t head) {
    const std::int64_t kv_head = head / (query_.heads / key_.heads);
    std::vector<double> weights(static_cast<std::size_t>(sequence.keys), -kInfinity);
    double largest = attention_.has_sinks ? sinks_[static_cast<std::size_t>(head)] : -kInfinity;
    for (std::int64_t key = 0; key < sequence.keys; ++key) {
      if (!sees(query, key)) continue;
      double& weight = weights[static_cast<std::size_t>(key)];
      weight = score(sequence, query, key, head, kv_head);
      largest = larger(largest, weight);
    }
    if (largest == -kInfinity) return;  // nothing is seen: zeros
    double sum = attention_.has_sinks ? std::exp(sinks_[static_cast<std::size_t>(head)] - largest) : 0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    double* const out = result_.data() + ((sequence.first_query + query) * query_.heads + head) * value_.width;
    for (std::int64_t key = 0; key < sequence.keys; ++key) {
      if (!sees(query, key)) continue;
      const double* const v = value_.at(sequence.first_key + key, kv_head);
      for (std::int64_t i = 0; i < value_.width; ++i) out[i] += weights[static_cast<std::size_t>(key)] / sum * v[i];
    }
  }

  const Attention& attention_;
  Heads query_, key_, value_;
  Bias bias_;
  std::vector<double> sinks_;
  std::vector<double> result_;
};

}  // namespace

Tensor reference_attention(const ReferenceCall& call) {
  const Attention& attention = call.as<Attention>();
  const std::int64_t batch = call.operand(0).extent(0), queries = call.operand(0).extent(1),
                     keys = call.operand(1).extent(1);
  const std::vector<std::int64_t> lengths = attention.has_lengths
                                                ? load_places(call.operand(3))
                                                : std::vector<std::int64_t>(static_cast<std::size_t>(batch), keys);
  AttentionLoop loop(call, attention.has_lengths ? 4 : 3);
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t seen = std::clamp<std::int64_t>(lengths[static_cast<std::size_t>(i)], 0, keys);
    loop.run({i, i * queries, queries, i * keys, seen});
  }
  return store_floats(call.shape(), loop.result());
}

Tensor reference_ragged_attention(const ReferenceCall& call) {
  const std::vector<std::int64_t> starts = load_places(call.operand(3)), lengths = load_places(call.operand(4));
  const std::int64_t tokens = call.operand(0).extent(0), longest = call.operand(5).extent(1);
  const bool has_key_lengths = call.as<Attention>().has_lengths;
  const std::vector<std::int64_t> seen = has_key_lengths ? load_places(call.operand(7)) : lengths;
  AttentionLoop loop(call, has_key_lengths ? 8 : 7);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    call.require(starts[i] >= 0 && lengths[i] >= 0 && lengths[i] <= longest && starts[i] + lengths[i] <= tokens,
                 "a sequence's start and length reach outside the tokens or past the longest sequence");
    loop.run({0, starts[i], lengths[i], starts[i], std::clamp<std::int64_t>(seen[i], 0, lengths[i])});
  }
  return store_floats(call.shape(), loop.result());
}

}  // namespace alate::graph
