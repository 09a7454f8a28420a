// Rows of logits for tests, and what is left of them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/philox.h"
#include "generation/sampling/candidates.h"
#include "generation/sampling/logit_row.h"

namespace alate::generation {

/// Logits between -range and range, the same for the same seed.
inline std::vector<float> random_row(std::size_t size, float range, std::uint64_t seed) {
  std::vector<float> row(size);
  for (std::size_t i = 0; i < size; ++i)
    row[i] = range * (static_cast<float>(base::philox(seed, i, 0)[0] >> 8) * 0x1p-23F - 1);
  return row;
}

/// Logits whose softmax is these probabilities; a probability of 0 is a forbidden token.
inline std::vector<float> row_of(const std::vector<double>& probabilities) {
  std::vector<float> row;
  for (const double each : probabilities) row.push_back(each == 0 ? kForbidden : static_cast<float>(std::log(each)));
  return row;
}

inline Candidates candidates_of(const std::vector<float>& row) {
  Candidates candidates;
  candidates.fill(row);
  return candidates;
}

inline std::vector<std::int32_t> ids_of(const Candidates& candidates) {
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < candidates.size(); ++i) ids.push_back(candidates.id(i));
  return ids;
}

}  // namespace alate::generation
