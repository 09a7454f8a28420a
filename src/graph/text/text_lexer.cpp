#include "graph/text/text_lexer.h"

#include <algorithm>
#include <charconv>

#include "alate/error.h"

namespace alate::graph {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_white_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

// The value of a hexadecimal digit; 16 for any other character.
unsigned hexadecimal_digit(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return 16;
}

}  // namespace

bool starts_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_word(char c) { return starts_word(c) || is_digit(c); }

Lexer::Lexer(std::string_view text) : text_(text) {
  if (text.size() > kMostBytes)
    throw make_error(ErrorCode::invalid_argument, "graph text of ", text.size(), " bytes: at most ", kMostBytes,
                     " are read");
  token_ = scan();
}

Token Lexer::next() {
  const Token token = token_;
  token_ = scan();
  return token;
}

void Lexer::skip_white_space() {
  while (place_ < text_.size() && is_white_space(text_[place_])) ++place_;
}

std::string_view Lexer::scan_while(bool (*accepts)(char)) {
  const std::size_t start = place_;
  while (place_ < text_.size() && accepts(text_[place_])) ++place_;
  return text_.substr(start, place_ - start);
}

Token Lexer::scan() {
  skip_white_space();
  Token token{TokenKind::end, {}, place_};
  if (place_ == text_.size()) return token;
  const char first = text_[place_];
  if (starts_word(first)) {
    token.kind = TokenKind::word;
    scan_while(continues_word);
  } else if (is_digit(first) || first == '-') {
    token.kind = TokenKind::number;
    ++place_;
    scan_while([](char c) { return continues_word(c) || c == '.'; });
    // The sign of a decimal exponent: 1e-05.
    const bool has_exponent =
        text_[place_ - 1] == 'e' && place_ < text_.size() && (text_[place_] == '-' || text_[place_] == '+');
    if (has_exponent) {
      ++place_;
      scan_while(is_digit);
    }
  } else if (first == '%' || first == '@') {
    token.kind = first == '%' ? TokenKind::value : TokenKind::constant;
    ++place_;
    scan_while([](char c) { return is_digit(c) || c == '.'; });
  } else if (first == '"') {
    token.kind = TokenKind::string;
    ++place_;
    while (place_ < text_.size() && text_[place_] != '"') place_ += text_[place_] == '\\' ? 2 : 1;
    if (place_ >= text_.size()) {
      place_ = text_.size();
      fail(token, "a string does not end");
    }
    token.text = text_.substr(token.offset + 1, place_ - token.offset - 1);
    ++place_;
    return token;
  } else if (std::string_view("{}[]():,=+*/?").find(first) != std::string_view::npos) {
    token.kind = TokenKind::mark;
    ++place_;
  } else {
    fail(token, "a character that no token begins with");
  }
  token.text = text_.substr(token.offset, place_ - token.offset);
  return token;
}

bool Lexer::take_mark(char mark) {
  if (!is_mark(mark)) return false;
  next();
  return true;
}

bool Lexer::take_word(std::string_view word) {
  if (!is_word(word)) return false;
  next();
  return true;
}

void Lexer::expect_mark(char mark) {
  if (!take_mark(mark)) fail_expecting(std::string("'") + mark + "'");
}

void Lexer::expect_word(std::string_view word) {
  if (!take_word(word)) fail_expecting("'" + std::string(word) + "'");
}

std::string_view Lexer::word(std::string_view what) {
  if (token_.kind != TokenKind::word) fail_expecting(what);
  return next().text;
}

std::string Lexer::string(std::string_view what) {
  if (token_.kind != TokenKind::string) fail_expecting(what);
  return unescaped(next());
}

std::string Lexer::name(std::string_view what) {
  return token_.kind == TokenKind::string ? string(what) : std::string(word(what));
}

std::int64_t Lexer::integer(std::string_view what) {
  std::int64_t value = 0;
  const char* const end = token_.text.data() + token_.text.size();
  if (token_.kind != TokenKind::number) fail_expecting(what);
  const auto [stopped, error] = std::from_chars(token_.text.data(), end, value);
  if (error != std::errc() || stopped != end) fail_expecting(what);
  next();
  return value;
}

std::size_t Lexer::number_in(const Token& token, std::string_view digits) const {
  std::size_t number = 0;
  const auto [stopped, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || stopped != digits.data() + digits.size()) fail(token, "a number is malformed");
  return number;
}

void Lexer::fail(const Token& at, std::string_view what) const {
  const std::string_view before = text_.substr(0, at.offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  throw make_error(ErrorCode::invalid_argument, "graph text, line ", line, ", column ", at.offset - line_start + 1,
                   ": ", what);
}

void Lexer::fail_expecting(std::string_view what) const {
  if (token_.kind == TokenKind::end) fail(token_, "the text ends where " + std::string(what) + " is expected");
  fail(token_, "expected " + std::string(what) + ", found " + quoted(token_.text.substr(0, 40)));
}

std::string Lexer::unescaped(const Token& token) const {
  std::string result;
  const std::string_view text = token.text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      result += text[i];
      continue;
    }
    ++i;  // scan checked that a character follows
    const unsigned high = i + 1 < text.size() ? hexadecimal_digit(text[i + 1]) : 16,
                   low = i + 2 < text.size() ? hexadecimal_digit(text[i + 2]) : 16;
    switch (text[i]) {
      case '"':
      case '\\': result += text[i]; break;
      case 'n': result += '\n'; break;
      case 't': result += '\t'; break;
      case 'r': result += '\r'; break;
      case 'x':
        if (high > 15 || low > 15) fail(token, "a string has \\x without two hexadecimal digits");
        result += static_cast<char>(high * 16 + low);
        i += 2;
        break;
      default: fail(token, "a string has an unknown escape");
    }
  }
  return result;
}

std::string quoted(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      result += "\\x";
      result += kDigits[byte / 16];
      result += kDigits[byte % 16];
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string quoted_unless_word(std::string_view name) {
  const bool is_word =
      !name.empty() && starts_word(name.front()) && std::all_of(name.begin(), name.end(), continues_word);
  return is_word ? std::string(name) : quoted(name);
}

}  // namespace alate::graph
