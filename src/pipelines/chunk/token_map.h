// Where the tokens of a text are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "alate/tokenizer.h"
#include "base/threads/cancellation.h"

namespace alate::pipelines {

/// The tokens of a whole text, by number. A view of the text and of the question of cancellation, which must live as
/// long.
class TokenMap {
 public:
  /// Without a tokenizer, by the rule in alate/chunk.h. `lower_case`: the tokenizer reads the text in lower case.
  /// Throws invalid_argument for a text that is not UTF-8 or of 4 GiB and more, and as Tokenizer::encode.
  TokenMap(std::string_view text, const std::optional<Tokenizer>& tokenizer, bool lower_case,
           const base::Cancellation& cancellation);

  std::string_view text() const { return text_; }
  std::size_t size() const { return starts_.size(); }
  /// Only with a tokenizer; without special tokens.
  const std::vector<std::int32_t>& ids() const { return ids_; }

  /// The first token that begins at this byte or behind it; `size()` if there is none.
  std::size_t token_from(std::size_t byte) const;
  /// The bytes of tokens [first, end), which are not none, without white space at both ends. What stands between tokens
  /// is of the one before it: each visible character is of a token. Throws cancelled.
  std::pair<std::size_t, std::size_t> bytes_of(std::size_t first, std::size_t end) const;

  /// Whether the text may be cut before the token: no character, as readers see them, is in it and in an earlier one.
  bool is_border(std::size_t token) const;
  /// Whether it may be cut there without cutting a word. Ideographs and kana are words of one character.
  bool is_word_start(std::size_t token) const;

 private:
  void count_by_rule();
  void read(const Tokenizer& tokenizer, bool lower_case, const base::Cancellation& cancellation);
  void begin_with_characters();

  std::string_view text_;
  base::Cancellation cancellation_;
  std::vector<std::int32_t> ids_;
  std::vector<std::uint32_t> starts_, ends_;  // bytes; starts ascend, and an end is that of all tokens up to it
};

}  // namespace alate::pipelines
