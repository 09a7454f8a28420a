// Classes of code points, as in the reference tokenizer.
#pragma once

#include <cstdint>

namespace alate::tokenizers {

enum CharacterClass : std::uint16_t {
  kOther = 1,            // control, format, surrogate, private use (Cc, Cf, Cs, Co)
  kWhitespace = 2,       // White_Space
  kPunctuation = 4,      // ASCII punctuation and P*
  kNonspacingMark = 8,   // Mn
  kCombiningMark = 16,   // M*
  kWord = 32,            // \w of a regular expression
  kLaterMark = 64,       // has normal-form data only since Unicode 10: the reference's normal forms use Unicode 9
  kNumeric = 128,        // N*
  kUnstableInNfc = 256,  // not itself in the reference's NFC, or may move or combine with what is before it
};

/// The classes of `c` as bits of CharacterClass; none if `c` is not a code point.
std::uint16_t classes_of(char32_t c);

inline bool is_in(char32_t c, std::uint16_t classes) { return (classes_of(c) & classes) != 0; }

/// The blocks that BERT surrounds with spaces. The range U+2B820..U+2B91F is missing in the reference as well.
constexpr bool is_cjk_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

}  // namespace alate::tokenizers
