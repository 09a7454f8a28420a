#include "tokenizers/models/model.h"

#include <string>

#include "tokenizers/byte_alphabet.h"

namespace alate::tokenizers {

void Model::tokenize_bytes(std::string_view bytes, Scratch& scratch, std::vector<Token>& out) const {
  std::string text;
  text.reserve(bytes.size() * 2);
  std::vector<std::uint32_t> byte_at;  // position in the text to position in the bytes
  byte_at.reserve(bytes.size() * 2 + 1);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    append_byte_characters(text, bytes.substr(i, 1));
    byte_at.resize(text.size(), static_cast<std::uint32_t>(i));
  }
  const std::size_t first = out.size();
  tokenize(text, scratch, out);
  for (std::size_t i = first; i < out.size(); ++i) {
    Token& token = out[i];
    if (token.end > text.size() || token.begin >= token.end) continue;
    token.begin = byte_at[token.begin];
    token.end = byte_at[token.end - 1] + 1;
  }
}

}  // namespace alate::tokenizers
