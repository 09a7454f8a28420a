// Formats encodings as text for people and as JSON for programs.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "alate/tokenizer.h"

namespace alate::app {

/// The members that such an object may have.
inline constexpr std::array<std::string_view, 10> kEncodingMembers = {
    "ids",          "tokens",   "type_ids",     "special_mask",   "offsets",
    "byte_offsets", "word_ids", "sequence_ids", "attention_mask", "overflowing"};

/// The members that are not always written.
struct EncodingMembers {
  bool windows = false;  // `overflowing` even if there are no further windows
  bool words = false;    // word_ids and sequence_ids, null for special tokens
  bool mask = false;     // attention_mask
};

/// Appends one JSON object: ids, tokens, type_ids, special_mask, offsets, byte_offsets, what `members`
/// asks for, and `overflowing` (a list of such objects) if there are further windows.
void append_encoding_json(std::string& out, const Encoding& encoding, EncodingMembers members);

/// Appends one line per token: its id, the code points that it covers in the text, and the token. Further windows
/// follow.
void append_encoding_text(std::string& out, const Encoding& encoding);

}  // namespace alate::app
