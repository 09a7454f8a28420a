// Lexer of the text form of graphs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "alate/error.h"

namespace alate::graph {

enum class TokenKind { end, word, number, string, value, constant, mark };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  // as in the source; for a string, the part between the quotes
  std::size_t offset = 0;
};

/// Reads one token ahead. Throws invalid_argument with line and column, or for a text over 64 MiB. Does not own the
/// text.
class Lexer {
 public:
  explicit Lexer(std::string_view text);

  const Token& peek() const { return token_; }
  Token next();

  bool is_mark(char mark) const { return token_.kind == TokenKind::mark && token_.text[0] == mark; }
  bool is_word(std::string_view word) const { return token_.kind == TokenKind::word && token_.text == word; }
  /// Takes the token if it is this one.
  bool take_mark(char mark);
  bool take_word(std::string_view word);
  void expect_mark(char mark);
  void expect_word(std::string_view word);

  std::string_view word(std::string_view what);
  /// A quoted string, with its escapes replaced.
  std::string string(std::string_view what);
  /// A word or a quoted string.
  std::string name(std::string_view what);
  std::int64_t integer(std::string_view what);
  /// The number that `digits`, a part of the token, are.
  std::size_t number_in(const Token& token, std::string_view digits) const;

  /// Throws with the token's position and `what`.
  [[noreturn]] void fail(const Token& at, std::string_view what) const;
  [[noreturn]] void fail_expecting(std::string_view what) const;
  /// Runs a step that may refuse what was read, and adds the token's position to its error.
  template <typename Step>
  auto at(const Token& token, const Step& step) const {
    try {
      return step();
    } catch (const Error& error) {
      fail(token, error.message());
    }
  }

 private:
  void skip_white_space();
  Token scan();
  std::string_view scan_while(bool (*accepts)(char));
  std::string unescaped(const Token& token) const;

  std::string_view text_;
  std::size_t place_ = 0;
  Token token_;
};

bool starts_word(char c);
bool continues_word(char c);
/// `text` in quotes, with escapes.
std::string quoted(std::string_view text);
/// `name` itself if it is a word, else quoted.
std::string quoted_unless_word(std::string_view name);

}  // namespace alate::graph
