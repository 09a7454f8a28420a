// The steps of sampling that remove candidates, as alate/sampling.h states them. Each leaves at least one, and takes
// time in proportion to the candidates: none is sorted beyond the part that a step keeps or decides by.
#pragma once

#include <cstddef>

#include "generation/sampling/candidates.h"

namespace alate::generation {

void keep_top_n_sigma(Candidates& candidates, double deviations);
void keep_top_k(Candidates& candidates, std::size_t count);
void keep_typical(Candidates& candidates, double mass, std::size_t min_keep);
void keep_top_p(Candidates& candidates, double mass, std::size_t min_keep);
void keep_min_p(Candidates& candidates, double share, std::size_t min_keep);
/// XTC, once it was decided to apply it.
void exclude_top_choices(Candidates& candidates, double threshold, std::size_t min_keep);

/// The entropy of the candidates' distribution, in nats.
double entropy(Candidates& candidates);

}  // namespace alate::generation
