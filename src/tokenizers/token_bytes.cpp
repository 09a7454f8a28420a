#include "tokenizers/token_bytes.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "tokenizers/unicode/byte_characters.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Of a token like <0xE4>, which models with byte fallback have.
std::optional<std::string> fallback_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  if (error != std::errc() || end != token.data() + 5) return std::nullopt;
  return std::string(1, static_cast<char>(value));
}

// Of a token in the alphabet of byte-level vocabularies.
std::optional<std::string> bytes_of_characters(std::string_view token) {
  std::string bytes;
  for (std::size_t at = 0; at < token.size();) {
    const CodePoint c = decode_utf8(token, at);
    const std::optional<unsigned char> byte = byte_of_character(c.value);
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
    at += c.length;
  }
  return bytes;
}

}  // namespace

TokenBytes::TokenBytes(Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {
  // Decoders treat the first token of a text otherwise than the ones that follow: they drop its space.
  before_ = tokenizer_.encode("a", {.add_special_tokens = false, .with_offsets = false, .with_tokens = false}).ids;
  text_before_ = tokenizer_.decode(before_);
}

std::string TokenBytes::of(std::int32_t token) const {
  std::vector<std::int32_t> ids = before_;
  ids.push_back(token);
  std::string text = tokenizer_.decode(ids);
  text.erase(0, text.starts_with(text_before_) ? text_before_.size() : 0);
  if (text.find(kReplacement) == std::string::npos) return text;
  // A part of a character has no text of its own.
  const std::optional<std::string> spelling = tokenizer_.id_to_token(token);
  if (!spelling) return text;
  if (auto byte = fallback_byte(*spelling)) return *std::move(byte);
  if (auto bytes = bytes_of_characters(*spelling)) return *std::move(bytes);
  return text;
}

}  // namespace alate::tokenizers
