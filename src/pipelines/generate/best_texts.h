// Several texts of one prompt, of which some may be dropped.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "alate/generation.h"

namespace alate::pipelines {

/// How many texts of a prompt are made. Throws invalid_argument for counts out of their ranges.
std::size_t made_texts(const TextCounts& counts);

/// The options with which they are made: which are best is a matter of log probabilities.
GenerationOptions options_for(const TextCounts& counts, GenerationOptions options);

/// The `n` texts with the greatest mean log probability of their tokens, that with the greatest first; of equal ones
/// the earlier. All in order, where there are no more.
std::vector<std::size_t> best_texts(std::span<const Generation* const> texts, std::size_t n);

}  // namespace alate::pipelines
