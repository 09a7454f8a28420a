#include "generation/sampling/dry_breakers.h"

#include <algorithm>
#include <optional>

namespace alate::generation {
namespace {

constexpr std::size_t kMostTokensOfTail = 20;  // as in llama.cpp: bounds the search at each token

// The length of the longest tail that comes after token `at`; nothing if none does.
std::optional<std::size_t> longest_tail(const std::vector<std::vector<std::int32_t>>& tails,
                                        std::span<const std::int32_t> after) {
  std::optional<std::size_t> longest;
  for (const std::vector<std::int32_t>& tail : tails) {
    if (tail.size() > after.size() || !std::ranges::equal(tail, after.first(tail.size()))) continue;
    longest = std::max(longest.value_or(0), tail.size());
  }
  return longest;
}

}  // namespace

DryBreakers::DryBreakers(std::span<const std::string> breakers, std::size_t vocabulary_size, const TextOf& text_of,
                         const TokensOf& tokens_of) {
  if (breakers.empty()) return;
  for (std::size_t i = 0; i < vocabulary_size; ++i) {
    const auto token = static_cast<std::int32_t>(i);
    const std::string text = text_of(token);
    for (const std::string& breaker : breakers) add(breaker, token, text, tokens_of);
  }
}

DryBreakers::DryBreakers(std::span<const std::string> breakers, std::size_t vocabulary_size, const Tokenizer& tokenizer)
    : DryBreakers(
          breakers, vocabulary_size, [&](std::int32_t token) { return tokenizer.decode(std::span(&token, 1)); },
          [&](std::string_view text) {
            return tokenizer.encode(text, {.add_special_tokens = false, .with_offsets = false, .with_tokens = false})
                .ids;
          }) {}

void DryBreakers::add(std::string_view breaker, std::int32_t token, std::string_view text, const TokensOf& tokens_of) {
  const auto add_tail = [&](std::vector<std::int32_t> tail) {
    std::vector<std::vector<std::int32_t>>& tails = tails_[token];
    if (std::ranges::find(tails, tail) == tails.end()) tails.push_back(std::move(tail));
  };
  if (text.find(breaker) != std::string_view::npos) return add_tail({});
  for (std::size_t length = std::min(text.size(), breaker.size() - 1); length > 0; --length) {
    if (!text.ends_with(breaker.substr(0, length))) continue;
    std::vector<std::int32_t> tail = tokens_of(breaker.substr(length));
    tail.resize(std::min(tail.size(), kMostTokensOfTail));
    add_tail(std::move(tail));
  }
}

bool DryBreakers::is_breaker(std::int32_t token) const {
  const auto found = tails_.find(token);
  return found != tails_.end() && longest_tail(found->second, {}).has_value();
}

std::size_t DryBreakers::tokens_since(std::span<const std::int32_t> tokens) const {
  if (tails_.empty()) return tokens.size();
  for (std::size_t after = 0; after < tokens.size(); ++after) {
    const auto found = tails_.find(tokens[tokens.size() - 1 - after]);
    if (found == tails_.end()) continue;
    if (const auto tail = longest_tail(found->second, tokens.last(after)); tail.has_value()) return after - *tail;
  }
  return tokens.size();
}

}  // namespace alate::generation
