// Formats encodings as text for people and as JSON for programs.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "alate/tokenizer.h"

namespace alate::app {

/// The members that such an object may have.
inline constexpr std::array<std::string_view, 7> kEncodingMembers = {
    "ids", "tokens", "type_ids", "special_mask", "offsets", "byte_offsets", "overflowing"};

/// Appends one JSON object: ids, tokens, type_ids, special_mask, offsets, byte_offsets, and `overflowing` (a list of
/// such objects) if there are further windows or `lists_windows` is set.
void append_encoding_json(std::string& out, const Encoding& encoding, bool lists_windows);

/// Appends one line per token: its id, the code points that it covers in the text, and the token. Further windows
/// follow.
void append_encoding_text(std::string& out, const Encoding& encoding);

}  // namespace alate::app
