// A row of logits that steps of sampling change: a forbidden token has minus infinity, every other one a finite number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace alate::generation {

inline constexpr float kForbidden = -std::numeric_limits<float>::infinity();

/// The nearest finite float, so that a token is forbidden by intent only.
inline float finite(double logit) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(logit, -kMost, kMost));
}

/// Copies a model's logits. Throws corrupt for NaN and plus infinity, naming the token, and for a row of which no
/// token is possible.
void copy_logits(std::span<const float> logits, std::vector<float>& row);

/// Forbids the tokens whose bit is 0: token i has bit i % 32 of word i / 32. Throws invalid_argument for another number
/// of words than the row needs.
void apply_mask(std::span<const std::uint32_t> allowed, std::span<float> row);

/// Forbids the tokens; those outside the row are passed over.
void forbid(std::span<const std::int32_t> tokens, std::span<float> row);

/// The token with the greatest logit, of equal ones the first; -1 if all are forbidden.
std::int32_t greatest_of(std::span<const float> row);

}  // namespace alate::generation
