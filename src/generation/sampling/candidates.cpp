#include "generation/sampling/candidates.h"

#include <algorithm>
#include <limits>

#include "generation/sampling/exponentials.h"
#include "generation/sampling/logit_row.h"

namespace alate::generation {

void Candidates::fill(std::span<const float> row) {
  ids_.resize(row.size());
  logits_.resize(row.size());
  std::size_t count = 0;
  float greatest = kForbidden;
  const float* const from = row.data();
  std::int32_t* const ids = ids_.data();
  float* const logits = logits_.data();
  for (std::size_t i = 0; i < row.size(); ++i) {
    ids[count] = static_cast<std::int32_t>(i);
    logits[count] = from[i];
    count += from[i] > kForbidden ? 1 : 0;
    greatest = from[i] > greatest ? from[i] : greatest;
  }
  ids_.resize(count);
  logits_.resize(count);
  greatest_ = greatest;
  weighed_ = summed_ = false;
}

double Candidates::total() {
  if (!weighed_) {
    weights_.resize(logits_.size());
    total_ = exponentials(logits_, greatest_, weights_);
  } else if (!summed_) {
    total_ = sum_of(weights_);
  }
  weighed_ = summed_ = true;
  return total_;
}

void Candidates::divide(double temperature) {
  constexpr float kLeast = std::numeric_limits<float>::min(), kMost = std::numeric_limits<float>::max();
  const float divisor = std::max(static_cast<float>(temperature), kLeast);  // never 0, which would make 0 / 0
  for (float& logit : logits_) logit = std::max((logit - greatest_) / divisor, -kMost);
  greatest_ = 0;
  weighed_ = summed_ = false;
}

}  // namespace alate::generation
