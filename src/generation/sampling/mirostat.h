// Mirostat: Basu et al. 2021, algorithms 1 and 2, with the choices of llama.cpp where these leave one: the slope is
// estimated from the 100 likeliest tokens, and a token's surprise is measured among the tokens that were left.
#pragma once

#include <cstddef>

#include "generation/sampling/candidates.h"

namespace alate::generation {

/// Keeps the likeliest candidates, as many as make a surprise of `limit` bits (mu) in a vocabulary whose probabilities
/// follow Zipf's law with their slope.
void keep_by_slope(Candidates& candidates, double limit, std::size_t vocabulary_size);

/// Keeps the candidates whose surprise is at most `limit` bits, or the likeliest one.
void keep_by_surprise(Candidates& candidates, double limit);

}  // namespace alate::generation
