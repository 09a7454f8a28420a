// Checks of the options of sampling and stopping, before a text is begun with them.
#pragma once

#include <cstddef>

#include "alate/sampling.h"

namespace alate::generation {

/// Throws invalid_argument, naming the option, its value and its range, for an option out of its range
/// (alate/sampling.h), for a negative token, and for a token of logit_bias that a vocabulary of this size lacks. Tokens
/// of the other lists may be missing in it: files list them for several models.
void check_options(const SamplingOptions& options, std::size_t vocabulary_size);
void check_options(const StoppingOptions& options);

}  // namespace alate::generation
