// The code points that stand for bytes in byte-level vocabularies, as GPT-2 introduced them.
#pragma once

#include <optional>

namespace alate::tokenizers {

/// Printable Latin-1 characters stand for themselves; the other bytes, in order, are U+0100 and the ones after it.
constexpr char32_t byte_character(unsigned char byte) {
  if ((byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD)) return byte;
  if (byte <= 0x20) return 0x100U + byte;
  if (byte <= 0xA0) return 0x100U + 0x21 + (byte - 0x7FU);
  return 0x100U + 0x21 + 0x22;  // U+00AD, the soft hyphen
}

/// The byte that a code point stands for; nothing if it stands for none.
constexpr std::optional<unsigned char> byte_of_character(char32_t c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c < 0x100) return byte_character(byte) == c ? std::optional(byte) : std::nullopt;
  if (c <= 0x120) return byte;
  if (c <= 0x142) return static_cast<unsigned char>(c - 0x121 + 0x7F);
  return c == 0x143 ? std::optional<unsigned char>(static_cast<unsigned char>(0xAD)) : std::nullopt;
}

}  // namespace alate::tokenizers
