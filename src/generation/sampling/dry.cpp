#include "generation/sampling/dry.h"

#include <algorithm>
#include <cmath>

#include "generation/sampling/logit_row.h"

namespace alate::generation {

bool has_dry(const SamplingOptions& options) { return options.dry_multiplier != 0 && options.dry_window != 0; }

void common_suffixes(std::span<const std::int32_t> tokens, std::vector<std::uint32_t>& lengths) {
  // The Z-function of the reversed tokens (Gusfield 1997, section 1.3): z(i) is the length of their longest prefix that
  // is also at i. A place with `before` tokens before it is i = size - before.
  const std::size_t size = tokens.size();
  lengths.assign(size, 0);
  const auto reversed = [&](std::size_t i) { return tokens[size - 1 - i]; };
  const auto z = [&](std::size_t i) -> std::uint32_t& { return lengths[size - i]; };
  std::size_t begin = 0, end = 0;  // the match that reaches farthest
  for (std::size_t i = 1; i < size; ++i) {
    std::size_t length = i < end ? std::min<std::size_t>(z(i - begin), end - i) : 0;
    while (i + length < size && reversed(length) == reversed(i + length)) ++length;
    z(i) = static_cast<std::uint32_t>(length);
    if (i + length > end) begin = i, end = i + length;
  }
}

void apply_dry(const SamplingOptions& options, std::span<const std::int32_t> tokens, const DryBreakers& breakers,
               std::span<float> row, std::vector<std::uint32_t>& counts, std::vector<std::uint32_t>& lengths) {
  const std::size_t longest = breakers.tokens_since(tokens);
  const auto allowed = static_cast<std::uint64_t>(options.dry_allowed_length);
  if (longest < allowed) return;
  common_suffixes(tokens, lengths);
  // The longest repetition that each token would continue, plus one.
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const auto length = std::min<std::uint32_t>(lengths[at], static_cast<std::uint32_t>(longest));
    const auto token = static_cast<std::size_t>(tokens[at]);
    if (length >= allowed && length > 0 && token < row.size()) counts[token] = std::max(counts[token], length + 1);
  }
  for (const std::int32_t each : tokens) {
    const auto token = static_cast<std::size_t>(each);
    if (token >= row.size() || counts[token] == 0) continue;
    const auto excess = static_cast<double>(counts[token] - 1 - allowed);
    counts[token] = 0;
    if (row[token] == kForbidden || breakers.is_breaker(each)) continue;
    row[token] = finite(static_cast<double>(row[token]) - options.dry_multiplier * std::pow(options.dry_base, excess));
  }
}

}  // namespace alate::generation
