// Encoding under the library's own question of cancellation.
#pragma once

#include <cstddef>
#include <string_view>

#include "alate/tokenizer.h"
#include "base/threads/cancellation.h"

namespace alate::tokenizers {

/// As Tokenizer::encode. Throws cancelled, also in the middle of a text.
Encoding encode(const Tokenizer& tokenizer, const EncodeInput& input, const EncodeOptions& options,
                const base::Cancellation& cancellation);

/// The steps of WorkBudget that encoding the text takes. Throws as encode.
std::size_t steps_of(const Tokenizer& tokenizer, std::string_view text);

}  // namespace alate::tokenizers
