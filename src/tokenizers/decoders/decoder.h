// Decoders, which turn tokens back into text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/json_fields.h"

namespace alate::tokenizers {

/// Immutable; thread-safe.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Rewrites the tokens into strings whose concatenation is the text.
  virtual void apply(std::vector<std::string>& tokens) const = 0;
};

using DecoderPtr = std::unique_ptr<const Decoder>;

/// The decoder that a tokenizer.json states; none for null. `where` names the member in errors.
/// Throws corrupt, or unsupported naming the type.
DecoderPtr load_decoder(const Json& part, std::string_view where);

// One function per type, each in the file of its family.
DecoderPtr make_word_piece_decoder(const Json& part, std::string_view where);

}  // namespace alate::tokenizers
