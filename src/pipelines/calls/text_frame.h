// The special tokens around a text.
#pragma once

#include <cstdint>
#include <vector>

#include "alate/tokenizer.h"

namespace alate::pipelines {

struct Frame {
  std::vector<std::int32_t> before, after;
};

/// Those that the tokenizer's template puts around a text.
Frame frame_of(const Tokenizer& tokenizer);

}  // namespace alate::pipelines
