// Where sentences begin and end: the default rules of Unicode Standard Annex 29.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace alate::tokenizers {

/// Values of the property Sentence_Break.
enum class SentenceBreak : std::uint8_t {
  other,
  cr,
  lf,
  sep,
  extend,
  format,
  sp,
  lower,
  upper,
  oletter,
  numeric,
  aterm,
  scontinue,
  sterm,
  close,
};

SentenceBreak sentence_break(char32_t c);

/// The byte offsets at which sentences begin, ascending, the first of them 0; none for an empty text. White space after
/// a sentence belongs to it. The text must be valid UTF-8. Takes linear time.
std::vector<std::size_t> sentence_starts(std::string_view text);

}  // namespace alate::tokenizers
