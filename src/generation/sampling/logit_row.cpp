#include "generation/sampling/logit_row.h"

#include <cmath>

#include "alate/error.h"

namespace alate::generation {
namespace {

bool is_wrong(float logit) { return !(logit <= std::numeric_limits<float>::max()); }

[[noreturn]] void refuse(std::span<const float> logits) {
  const auto wrong = std::ranges::find_if(logits, is_wrong);
  throw make_error(ErrorCode::corrupt, "the model's output logits is ", std::isnan(*wrong) ? "NaN" : "infinity",
                   " for token ", static_cast<std::size_t>(wrong - logits.begin()),
                   ": its weights are damaged, or too large for the type that it computes in; try dtype float32");
}

}  // namespace

void copy_logits(std::span<const float> logits, std::vector<float>& row) {
  row.assign(logits.begin(), logits.end());
  // Without branches, so that the compiler makes vectors of it.
  int any_wrong = 0, any_possible = 0;
  const float* const from = logits.data();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    any_wrong |= is_wrong(from[i]) ? 1 : 0;
    any_possible |= from[i] > kForbidden ? 1 : 0;
  }
  if (any_wrong != 0) refuse(logits);
  if (any_possible == 0)
    throw Error(ErrorCode::corrupt,
                "the model's output logits is minus infinity for every token: no token is possible");
}

void apply_mask(std::span<const std::uint32_t> allowed, std::span<float> row) {
  constexpr std::size_t kBits = 32;
  if (allowed.size() != (row.size() + kBits - 1) / kBits)
    throw make_error(ErrorCode::invalid_argument, "the mask of allowed tokens has ", allowed.size(),
                     " words of 32 bits; ", row.size(), " tokens need ", (row.size() + kBits - 1) / kBits);
  for (std::size_t word = 0; word < allowed.size(); ++word) {
    if (allowed[word] == ~std::uint32_t{0}) continue;
    const std::span<float> part = row.subspan(word * kBits, std::min(kBits, row.size() - word * kBits));
    if (allowed[word] == 0) {
      std::ranges::fill(part, kForbidden);
      continue;
    }
    for (std::size_t bit = 0; bit < part.size(); ++bit) {
      if ((allowed[word] >> bit & 1) == 0) part[bit] = kForbidden;
    }
  }
}

void forbid(std::span<const std::int32_t> tokens, std::span<float> row) {
  for (const std::int32_t token : tokens) {
    if (static_cast<std::size_t>(token) < row.size()) row[static_cast<std::size_t>(token)] = kForbidden;
  }
}

std::int32_t greatest_of(std::span<const float> row) {
  std::int32_t best = -1;
  float greatest = kForbidden;
  const float* const from = row.data();
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (from[i] > greatest) {
      greatest = from[i];
      best = static_cast<std::int32_t>(i);
    }
  }
  return best;
}

}  // namespace alate::generation
