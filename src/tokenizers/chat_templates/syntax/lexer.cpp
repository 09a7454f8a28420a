#include "tokenizers/chat_templates/syntax/lexer.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "alate/error.h"
#include "formats/json.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {

void throw_syntax_error(std::string_view what, std::uint32_t line, std::string_view message) {
  throw make_error(ErrorCode::corrupt, what, ", line ", line, ": ", message);
}

namespace {

bool is_digit_of(char c, int base) {
  const char lower = static_cast<char>(c | 32);
  const int value = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
  return value < base;
}

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

// "\r\n" and "\r" become "\n"; one "\n" at the end is left out.
std::string normalized(std::string_view text) {
  const std::optional<std::string> repaired = repair_utf8(text);
  if (repaired) text = *repaired;
  std::string lines;
  lines.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') {
      lines += '\n';
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
    } else {
      lines += text[i];
    }
  }
  if (lines.ends_with('\n')) lines.pop_back();
  return lines;
}

class Lexer {
 public:
  Lexer(std::string text, std::string_view what) : text_(std::move(text)), what_(what) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) lex_data();
    add(TokenKind::end);
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(std::string_view message) const { throw_syntax_error(what_, line_, message); }

  bool starts_with(std::string_view part) const { return std::string_view(text_).substr(at_).starts_with(part); }
  void add(TokenKind kind, std::string text = {}) { tokens_.push_back({kind, line_, std::move(text), {}}); }

  void move_to(std::size_t next) {
    line_ += static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(next), '\n'));
    line_starting_ = next > at_ && text_[next - 1] == '\n';
    at_ = next;
  }

  std::size_t after_spaces(std::size_t at) const {
    while (at < text_.size()) {
      const CodePoint point = decode_utf8(text_, at);
      if (!is_space(point.value)) break;
      at += point.length;
    }
    return at;
  }

  static std::string_view without_spaces_at_end(std::string_view text) {
    while (!text.empty()) {
      std::size_t last = text.size() - 1;
      while (!starts_code_point(text[last])) --last;
      if (!is_space(decode_utf8(text, last).value)) break;
      text = text.substr(0, last);
    }
    return text;
  }

  // Text before a tag with `mark` ('-', '+' or none) after its first two characters.
  void add_data(std::size_t tag, char mark, bool is_output) {
    std::string_view data = std::string_view(text_).substr(at_, tag - at_);
    if (mark == '-') {
      data = without_spaces_at_end(data);
    } else if (mark != '+' && !is_output) {
      const std::size_t line_start = data.rfind('\n') + 1;  // 0 if there is none
      if ((line_start > 0 || line_starting_) && without_spaces_at_end(data.substr(line_start)).empty()) {
        data = data.substr(0, line_start);
      }
    }
    if (!data.empty()) add(TokenKind::data, std::string(data));
  }

  char mark_at(std::size_t at) const {
    return at < text_.size() && (text_[at] == '-' || text_[at] == '+') ? text_[at] : 0;
  }

  void lex_data() {
    std::size_t tag = at_;
    for (;; ++tag) {
      tag = text_.find('{', tag);
      if (tag == std::string::npos || tag + 1 >= text_.size()) {
        add(TokenKind::data, text_.substr(at_));
        return move_to(text_.size());
      }
      if (text_[tag + 1] == '{' || text_[tag + 1] == '%' || text_[tag + 1] == '#') break;
    }
    const char mark = mark_at(tag + 2);
    const std::size_t inside = tag + (mark != 0 ? 3 : 2);
    if (text_[tag + 1] == '%') {
      if (const std::size_t body = after_raw_tag(inside); body != 0) {
        add_data(tag, mark, false);
        move_to(body);
        return lex_raw();
      }
    }
    add_data(tag, mark, text_[tag + 1] == '{');
    move_to(tag);
    if (text_[tag + 1] == '#') {
      at_ = inside;
      return lex_comment();
    }
    const bool is_output = text_[tag + 1] == '{';
    add(is_output ? TokenKind::output_begin : TokenKind::statement_begin);
    at_ = inside;
    lex_tag(is_output);
  }

  // After "{% raw %}" if that is what begins here, otherwise 0.
  std::size_t after_raw_tag(std::size_t inside) const {
    std::size_t at = after_spaces(inside);
    if (text_.compare(at, 3, "raw") != 0) return 0;
    at = after_spaces(at + 3);
    if (text_.compare(at, 3, "-%}") == 0) return after_spaces(at + 3);
    return text_.compare(at, 2, "%}") == 0 ? at + 2 : 0;
  }

  void lex_raw() {
    for (std::size_t tag = at_; (tag = text_.find("{%", tag)) != std::string::npos; tag += 2) {
      const char mark = mark_at(tag + 2);
      std::size_t at = after_spaces(tag + (mark != 0 ? 3 : 2));
      if (text_.compare(at, 6, "endraw") != 0) continue;
      at = after_spaces(at + 6);
      const std::size_t end = after_end(at, "%}");
      if (end == 0) continue;
      add_data(tag, mark, false);
      return move_to(end);
    }
    fail("{% raw %} has no {% endraw %}");
  }

  void lex_comment() {
    const std::size_t end = text_.find("#}", at_);
    if (end == std::string::npos) fail("a comment has no end");
    const std::size_t mark = end > at_ && (text_[end - 1] == '-' || text_[end - 1] == '+') ? end - 1 : end;
    move_to(after_end(mark, "#}"));
  }

  // After the end of a tag that begins at `at`: the sign with its mark, and the white space that belongs to it. 0 if
  // there is none.
  std::size_t after_end(std::size_t at, std::string_view sign) const {
    const char mark = mark_at(at);
    if (text_.compare(at + (mark != 0), 2, sign) != 0) return 0;
    const std::size_t end = at + (mark != 0) + 2;
    if (mark == '-') return after_spaces(end);
    return mark == 0 && end < text_.size() && text_[end] == '\n' ? end + 1 : end;
  }

  std::size_t after_output_end() const {
    if (starts_with("-}}")) return after_spaces(at_ + 3);
    return starts_with("}}") ? at_ + 2 : 0;
  }

  void lex_tag(bool is_output) {
    std::string open;  // brackets that are open
    while (at_ < text_.size()) {
      if (open.empty()) {
        if (const std::size_t end = is_output ? after_output_end() : after_end(at_, "%}"); end != 0) {
          add(is_output ? TokenKind::output_end : TokenKind::statement_end);
          return move_to(end);
        }
      }
      if (const std::size_t next = after_spaces(at_); next != at_) {
        move_to(next);
        continue;
      }
      lex_token(open);
    }
  }

  void lex_token(std::string& open) {
    const char c = text_[at_];
    if (is_ascii_digit(c)) return lex_number();
    if (c == '"' || c == '\'') return lex_text(c);
    if (c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80) {
      return lex_name();
    }
    lex_sign(open);
  }

  void lex_name() {
    std::size_t end = at_;
    while (end < text_.size()) {
      const CodePoint point = decode_utf8(text_, end);
      const bool is_ascii_word = point.value == '_' || (point.value < 0x80 && is_digit_of(text_[end], 36));
      if (!is_ascii_word && (point.value < 0x80 || !is_identifier("a" + text_.substr(end, point.length)))) break;
      end += point.length;
    }
    const std::string name = text_.substr(at_, end - at_);
    if (end == at_ || !is_identifier(name)) fail("unexpected character");
    add(TokenKind::name, name);
    at_ = end;
  }

  // Digits of a base, single underscores between them; the end of what belongs to the number.
  std::size_t after_digits(std::size_t at, int base) const {
    while (at < text_.size() && (is_digit_of(text_[at], base) ||
                                 (text_[at] == '_' && at + 1 < text_.size() && is_digit_of(text_[at + 1], base)))) {
      at += text_[at] == '_' ? 2 : 1;
    }
    return at;
  }

  void lex_number() {
    const std::size_t whole = after_digits(at_, 10);
    std::size_t end = whole;
    const auto has_digit_at = [&](std::size_t at) { return at < text_.size() && is_ascii_digit(text_[at]); };
    if (end < text_.size() && text_[end] == '.' && has_digit_at(end + 1)) end = after_digits(end + 1, 10);
    if (end < text_.size() && (text_[end] | 32) == 'e') {
      const std::size_t sign = end + 1 < text_.size() && (text_[end + 1] == '+' || text_[end + 1] == '-') ? 1 : 0;
      if (has_digit_at(end + 1 + sign)) end = after_digits(end + 1 + sign, 10);
    }
    const bool follows_dot = at_ > 0 && text_[at_ - 1] == '.';
    if (end != whole && !follows_dot) {
      std::string digits = text_.substr(at_, end - at_);
      std::erase(digits, '_');
      tokens_.push_back({TokenKind::real, line_, {}, Value::real(std::strtod(digits.c_str(), nullptr))});
      at_ = end;
      return;
    }
    lex_integer(whole);
  }

  void lex_integer(std::size_t end) {
    int base = 10;
    std::size_t start = at_;
    if (text_[at_] == '0') {
      const char mark = at_ + 1 < text_.size() ? static_cast<char>(text_[at_ + 1] | 32) : ' ';
      base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
      if (base != 10) {
        const std::size_t after = after_digits(at_ + 2, base);
        if (after == at_ + 2) base = 10;
        if (after != at_ + 2) start = at_ + 2, end = after;
      }
      if (base == 10) {  // zeros only: "012" is the two numbers 0 and 12, which no expression has
        end = at_;
        while (end < text_.size() && (text_[end] == '0' || (text_[end] == '_' && text_.compare(end + 1, 1, "0") == 0)))
          ++end;
      }
    }
    Integer value = 0;
    for (std::size_t i = start; i < end; ++i) {
      if (text_[i] == '_') continue;
      const int digit = is_ascii_digit(text_[i]) ? text_[i] - '0' : (text_[i] | 32) - 'a' + 10;
      if (__builtin_mul_overflow(value, Integer{base}, &value) ||
          __builtin_add_overflow(value, Integer{digit}, &value)) {
        fail("an integer has more than 127 bits");
      }
    }
    tokens_.push_back({TokenKind::integer, line_, {}, Value::integer(value)});
    at_ = end;
  }

  void lex_text(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) fail("a string has no end");
    add(TokenKind::text, unescaped(std::string_view(text_).substr(at_ + 1, end - at_ - 1)));
    move_to(end + 1);
  }

  std::string unescaped(std::string_view text) const {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t next = text.find('\\', i);
      out += text.substr(i, next - i);
      if (next == std::string_view::npos) break;
      i = append_escape(out, text, next + 1);
    }
    return repair_utf8(out).value_or(out);
  }

  // Appends what the escape stands for, whose letter is at `at`; returns where the text goes on. Python's
  // unicode_escape.
  std::size_t append_escape(std::string& out, std::string_view text, std::size_t at) const {
    const char c = text[at];
    constexpr std::string_view kLetters = "\\'\"abfnrtv", kMeanings = "\\'\"\a\b\f\n\r\t\v";
    if (const std::size_t letter = kLetters.find(c); letter != std::string_view::npos) {
      out += kMeanings[letter];
      return at + 1;
    }
    if (c == '\n') return at + 1;
    if (c >= '0' && c <= '7') {
      std::size_t end = at;
      char32_t value = 0;
      for (; end < text.size() && end < at + 3 && text[end] >= '0' && text[end] <= '7'; ++end) {
        value = value * 8 + static_cast<char32_t>(text[end] - '0');
      }
      append_utf8(out, value);
      return end;
    }
    if (const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0; digits != 0) {
      std::uint32_t value = 0;
      const std::string_view number = text.substr(at + 1, digits);
      const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), value, 16);
      if (number.size() != digits || end != number.data() + digits || status != std::errc() || value > 0x10FFFF) {
        fail("a string has an escape that is no character");
      }
      append_utf8(out, value >= 0xD800 && value < 0xE000 ? 0xFFFD : value);
      return at + 1 + digits;
    }
    if (c == 'N') fail("a string names a character, as in \\N{DASH}; write the character or its number");
    out += '\\';
    if (static_cast<unsigned char>(c) < 0x80) {
      out += c;
      return at + 1;
    }
    // The reference encodes the character as an escape first, and the two backslashes become one.
    const CodePoint point = decode_utf8(text, at);
    char escape[16];
    const char* format = point.value < 0x100 ? "x%02x" : point.value < 0x10000 ? "u%04x" : "U%08x";
    std::snprintf(escape, sizeof(escape), format, static_cast<unsigned>(point.value));
    out += escape;
    return at + point.length;
  }

  void lex_sign(std::string& open) {
    constexpr std::string_view kPairs[] = {"**", "//", "==", "!=", ">=", "<="};
    constexpr std::string_view kSingles = "+-/*%~[](){}><=.:|,;";
    std::string sign(1, text_[at_]);
    for (const std::string_view pair : kPairs) {
      if (starts_with(pair)) sign = pair;
    }
    if (sign.size() == 1 && kSingles.find(sign[0]) == std::string_view::npos) {
      fail("unexpected character " + formats::quoted_name(sign));
    }
    constexpr std::string_view kOpening = "([{", kClosing = ")]}";
    if (kOpening.find(sign[0]) != std::string_view::npos) open += kClosing[kOpening.find(sign[0])];
    if (kClosing.find(sign[0]) != std::string_view::npos) {
      if (open.empty()) fail("unexpected '" + sign + "'");
      if (open.back() != sign[0]) fail("unexpected '" + sign + "', expected '" + open.back() + "'");
      open.pop_back();
    }
    at_ += sign.size();
    add(TokenKind::sign, std::move(sign));
  }

  std::string text_;
  std::string_view what_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  bool line_starting_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize_template(std::string_view text, std::string_view what) {
  constexpr std::size_t kMaxBytes = std::size_t{256} << 10;
  if (text.size() > kMaxBytes) {
    throw make_error(ErrorCode::resource_exhausted, what, " has ", text.size(), " bytes; the limit is ", kMaxBytes);
  }
  return Lexer(normalized(text), what).run();
}

}  // namespace alate::tokenizers::chat_templates
