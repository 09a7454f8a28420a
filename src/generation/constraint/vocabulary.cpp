#include "generation/constraint/vocabulary.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string_view>

#include "tokenizers/parts.h"
#include "tokenizers/unicode/byte_characters.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::generation {
namespace {

constexpr std::size_t kMostBytes = 1024;  // longer tokens are never allowed
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The byte of a token like <0xE2>.
std::optional<char> fallback_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, problem] = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  if (problem != std::errc() || end != token.data() + 5) return std::nullopt;
  return static_cast<char>(value);
}

// The bytes of a token in the byte-level alphabet.
std::optional<std::string> byte_level_text(std::string_view token) {
  std::string bytes;
  for (std::size_t at = 0; at < token.size();) {
    const tokenizers::CodePoint c = tokenizers::decode_utf8(token, at);
    const auto byte = tokenizers::byte_of_character(c.value);
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
    at += c.length;
  }
  return bytes;
}

std::optional<std::string> token_of(const Tokenizer::Parts& parts, std::int32_t id) {
  auto token = parts.added.id_to_token(id);
  if (!token) token = parts.model->id_to_token(id);
  if (!token || parts.added.is_special(*token)) return std::nullopt;
  return std::string(*token);
}

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// A token behind which others have the text that they add within a text: one of letters.
std::optional<std::int32_t> token_of_letters(const Tokenizer& tokenizer, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const auto id = static_cast<std::int32_t>(i);
    if (!token_of(tokenizer.parts(), id)) continue;
    const std::string text = tokenizer.decode(std::span(&id, 1));
    if (!text.empty() && std::ranges::all_of(text, is_letter_or_digit)) return id;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> token_texts(const Tokenizer& tokenizer, std::size_t size, std::span<const std::int32_t> ends) {
  const Tokenizer::Parts& parts = tokenizer.parts();
  std::vector<std::string> texts(size);
  const std::optional<std::int32_t> letter = token_of_letters(tokenizer, size);
  DecodeStream stream(tokenizer, {.skip_special_tokens = true});
  std::string before;
  if (letter) {
    before = stream.push(*letter);
    before += stream.finish();
  }
  for (std::size_t i = 0; i < size; ++i) {
    const auto id = static_cast<std::int32_t>(i);
    const std::optional<std::string> token = token_of(parts, id);
    if (!token || std::ranges::find(ends, id) != ends.end()) continue;
    std::string text = letter ? stream.push(*letter) : std::string();
    text += stream.push(id);
    text += stream.finish();
    if (!text.starts_with(before)) continue;  // it changes the text before it
    text.erase(0, before.size());
    // Bytes that are no text by themselves were replaced.
    if (text.find(kReplacement) != std::string::npos && token->find(kReplacement) == std::string::npos) {
      if (const auto byte = fallback_byte(*token)) {
        text = *byte;
      } else if (auto bytes = byte_level_text(*token)) {
        text = *std::move(bytes);
      }
    }
    if (text.size() <= kMostBytes) texts[i] = std::move(text);
  }
  return texts;
}

bool drops_first_space(const Tokenizer& tokenizer, std::span<const std::string> texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() < 2 || texts[i][0] != ' ' || texts[i][1] == ' ') continue;
    const auto id = static_cast<std::int32_t>(i);
    return !tokenizer.decode(std::span(&id, 1)).starts_with(' ');
  }
  return false;
}

Vocabulary::Vocabulary(std::span<const std::string> texts, bool drops_first_space)
    : texts_(texts.begin(), texts.end()), drops_first_space_(drops_first_space) {
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (!texts_[i].empty()) order.push_back(static_cast<std::int32_t>(i));
  }
  std::ranges::stable_sort(order, {}, [&](std::int32_t token) -> const std::string& { return text(token); });
  nodes_.push_back({});
  std::vector<std::uint32_t> path = {0};  // from the root to the last node
  std::string_view last;
  for (const std::int32_t token : order) {
    const std::string_view next = text(token);
    longest_ = std::max(longest_, next.size());
    const std::size_t common = static_cast<std::size_t>(std::ranges::mismatch(last, next).in1 - last.begin());
    for (; path.size() > common + 1; path.pop_back())
      nodes_[path.back()].end = static_cast<std::uint32_t>(nodes_.size());
    for (std::size_t i = common; i < next.size(); ++i) {
      path.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back({.end = 0,
                        .tokens = static_cast<std::uint32_t>(tokens_.size()),
                        .depth = static_cast<std::uint16_t>(i + 1),
                        .byte = static_cast<std::uint8_t>(next[i])});
    }
    tokens_.push_back(token);
    last = next;
  }
  for (const std::uint32_t node : path) nodes_[node].end = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.end = 0, .tokens = static_cast<std::uint32_t>(tokens_.size()), .depth = 0, .byte = 0});
}

std::uint32_t Vocabulary::first(std::uint8_t byte) const {
  const auto all = nodes();
  for (std::uint32_t node = 1; node < all.size(); node = all[node].end) {
    if (all[node].byte == byte) return node;
  }
  return 0;
}

}  // namespace alate::generation
