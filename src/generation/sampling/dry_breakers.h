// The sequence breakers of DRY as tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "alate/tokenizer.h"

namespace alate::generation {

/// Which sequences of tokens write a breaker. A text is not cut into tokens at a breaker's ends, so any token that has
/// the breaker in its text is one by itself, and a token that ends with the beginning of a breaker is the head of a
/// sequence whose tail are the tokens of the rest. Immutable and thread-safe; made once for a model and its breakers,
/// in time proportional to the vocabulary.
class DryBreakers {
 public:
  using TextOf = std::function<std::string(std::int32_t token)>;
  using TokensOf = std::function<std::vector<std::int32_t>(std::string_view text)>;

  DryBreakers() = default;  // none
  DryBreakers(std::span<const std::string> breakers, std::size_t vocabulary_size, const TextOf& text_of,
              const TokensOf& tokens_of);
  DryBreakers(std::span<const std::string> breakers, std::size_t vocabulary_size, const Tokenizer& tokenizer);

  /// Whether the token is a breaker by itself.
  bool is_breaker(std::int32_t token) const;
  /// How many of the last tokens come after the last breaker among them; all, if there is none.
  std::size_t tokens_since(std::span<const std::int32_t> tokens) const;

 private:
  void add(std::string_view breaker, std::int32_t token, std::string_view text, const TokensOf& tokens_of);

  std::unordered_map<std::int32_t, std::vector<std::vector<std::int32_t>>> tails_;  // by their heads
};

}  // namespace alate::generation
