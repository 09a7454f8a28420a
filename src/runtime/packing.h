// Packed texts as the tensors that an encoder's graph takes.
#pragma once

#include <cstdint>
#include <vector>

#include "alate/model.h"
#include "backends/backend.h"
#include "models/encoder.h"

namespace alate::runtime {

/// What a packed batch may say besides its tokens; see models::EncoderInputs. Empty: every token is seen, the first one
/// stands for the sequence.
struct PackingOptions {
  std::vector<std::int32_t> key_lengths;
  std::vector<std::int32_t> first;  // place within the sequence
};

/// The graph's inputs in order. Throws invalid_argument naming the sequence and place of an id, type or position that
/// the model does not have, and for lists whose lengths disagree. There must be at least one token.
std::vector<backends::Buffer> pack(const PackedTokens& tokens, const models::EncoderLimits& limits,
                                   const PackingOptions& options = {});

}  // namespace alate::runtime
