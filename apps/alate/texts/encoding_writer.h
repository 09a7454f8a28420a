// Encodings as text for people and as JSON for programs.
#pragma once

#include <string>

#include "alate/tokenizer.h"

namespace alate::app {

/// Appends one JSON object: ids, tokens, type_ids, special_mask, offsets, byte_offsets, and `overflowing` (a list of
/// such objects) where there are further windows or `lists_windows` is set.
void append_encoding_json(std::string& out, const Encoding& encoding, bool lists_windows);

/// Appends a line a token: its id, the code points of the text that it covers, and the token. Further windows follow.
void append_encoding_text(std::string& out, const Encoding& encoding);

}  // namespace alate::app
