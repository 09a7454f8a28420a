// The tokens that may still be chosen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace alate::generation {

/// A token's place in some order: smaller keys come first, then smaller indices, so that no two are equal.
struct Rank {
  float key;
  std::uint32_t index;

  friend bool operator<(const Rank& a, const Rank& b) { return a.key < b.key || (a.key == b.key && a.index < b.index); }
};

/// Tokens in the order of their ids, with their logits. Steps of sampling remove tokens and keep that order, so that a
/// draw does not depend on how a step found the tokens to remove. Memory is kept for the next row.
class Candidates {
 public:
  /// Takes all tokens of a row that are not forbidden; at least one is not.
  void fill(std::span<const float> row);

  std::size_t size() const { return ids_.size(); }
  std::int32_t id(std::size_t i) const { return ids_[i]; }
  std::span<const float> logits() const { return logits_; }
  float greatest() const { return greatest_; }

  /// The sum of the weights, which are e^(logit - greatest): a candidate's probability is its weight / this.
  double total();
  /// Valid after total(), until a candidate is removed or logits are divided.
  std::span<const float> weights() const { return weights_; }

  /// Removes the candidates for which `is_kept(index)` is false; it is called once for each, in order, and may read
  /// that candidate. At least one must be kept.
  template <typename IsKept>
  void keep_if(const IsKept& is_kept);

  /// Divides the logits by a temperature above 0, after subtracting the greatest, which becomes 0.
  void divide(double temperature);

  /// Scratch memory for orders of candidates, with room for all.
  std::vector<Rank>& ranks() {
    ranks_.reserve(logits_.capacity());
    return ranks_;
  }

 private:
  std::vector<std::int32_t> ids_;
  std::vector<float> logits_, weights_;  // weights_ is as large as logits_ while weighed_
  float greatest_ = 0;
  double total_ = 0;
  bool weighed_ = false, summed_ = false;
  std::vector<Rank> ranks_;
};

template <typename IsKept>
void Candidates::keep_if(const IsKept& is_kept) {
  const float before = greatest_;
  float greatest = logits_.front();
  std::size_t kept = 0;
  std::int32_t* const ids = ids_.data();
  float* const logits = logits_.data();
  float* const weights = weighed_ ? weights_.data() : nullptr;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (!is_kept(i)) continue;
    if (kept == 0 || logits[i] > greatest) greatest = logits[i];
    ids[kept] = ids[i];
    logits[kept] = logits[i];
    if (weights != nullptr) weights[kept] = weights[i];
    ++kept;
  }
  ids_.resize(kept);
  logits_.resize(kept);
  if (weighed_) weights_.resize(kept);
  greatest_ = greatest;
  summed_ = false;
  if (greatest != before) weighed_ = false;  // weights are relative to the greatest
}

}  // namespace alate::generation
