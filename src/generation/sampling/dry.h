// DRY, "don't repeat yourself": a penalty that grows with the length of the repetition that a token would continue.
// https://github.com/oobabooga/text-generation-webui/pull/5677
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "alate/sampling.h"
#include "generation/sampling/dry_breakers.h"

namespace alate::generation {

bool has_dry(const SamplingOptions& options);

/// For each place of `tokens` (the window, the newest last), how many tokens before it are also the last ones of all.
/// Linear in the number of tokens.
void common_suffixes(std::span<const std::int32_t> tokens, std::vector<std::uint32_t>& lengths);

/// DRY as in alate/sampling.h. `counts` has an entry for each token of the row, all 0, and is given back so; `lengths`
/// is scratch memory.
void apply_dry(const SamplingOptions& options, std::span<const std::int32_t> tokens, const DryBreakers& breakers,
               std::span<float> row, std::vector<std::uint32_t>& counts, std::vector<std::uint32_t>& lengths);

}  // namespace alate::generation
