#include "tokenizers/byte_alphabet.h"

#include <array>
#include <cstddef>

#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

constexpr std::array<char16_t, 256> make_characters() {
  std::array<char16_t, 256> characters{};
  for (std::size_t byte = 0; byte < 256; ++byte)
    characters[byte] = static_cast<char16_t>(byte_character(static_cast<unsigned char>(byte)));
  return characters;
}

constexpr std::array<char16_t, 256> kCharacters = make_characters();

}  // namespace

void append_byte_characters(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) append_utf8(out, kCharacters[static_cast<unsigned char>(byte)]);
}

}  // namespace alate::tokenizers
