// A convolution along the tokens of each sequence.
#pragma once

#include <cstdint>
#include <string>

#include "models/encoder.h"

namespace alate::models {

/// NAME.weight [width, width, kernel] and NAME.bias over x [tokens, width], of which masked tokens are zero: each token
/// sees those up to kernel / 2 places away; there are zeros where there is none. `kernel` is odd.
graph::Value convolve_tokens(EncoderScope& scope, const std::string& name, graph::Value x, std::int64_t width,
                             std::int64_t kernel);

}  // namespace alate::models
