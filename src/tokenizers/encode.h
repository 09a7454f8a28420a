// Encoding under the library's own question of cancellation.
#pragma once

#include "alate/tokenizer.h"
#include "base/threads/cancellation.h"

namespace alate::tokenizers {

/// As Tokenizer::encode. Throws cancelled, also in the middle of a text.
Encoding encode(const Tokenizer& tokenizer, const EncodeInput& input, const EncodeOptions& options,
                const base::Cancellation& cancellation);

}  // namespace alate::tokenizers
