// Penalties for tokens that a text has already.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alate/sampling.h"
#include "generation/sampling/token_history.h"

namespace alate::generation {

/// Whether an option asks for a penalty.
bool has_penalties(const SamplingOptions& options);

/// Repetition, presence and frequency penalties as in alate/sampling.h. `counts` has an entry for each token of the
/// row, all 0, and is given back so.
void apply_penalties(const SamplingOptions& options, const TokenHistory& history, std::span<float> row,
                     std::vector<std::uint32_t>& counts);

}  // namespace alate::generation
