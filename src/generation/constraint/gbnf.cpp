#include "generation/constraint/gbnf.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "alate/error.h"
#include "formats/json.h"
#include "formats/utf8.h"
#include "tokenizers/unicode/utf8.h"

// https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md

namespace alate::generation {
namespace {

using tokenizers::CodePointSet;

constexpr std::size_t kMostBytes = std::size_t{1} << 18;
constexpr int kMostNesting = 64;
constexpr std::uint32_t kMostRepetitions = 1'000'000;

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

class GbnfReader {
 public:
  GbnfReader(GrammarBuilder& builder, std::string_view text, std::string_view what)
      : builder_(builder), text_(text), what_(what) {
    if (text.size() > kMostBytes)
      throw make_error(ErrorCode::invalid_argument, what, " has ", text.size(), " bytes; a grammar may have ",
                       kMostBytes);
    if (formats::valid_utf8_prefix(text) != text.size())
      throw make_error(ErrorCode::invalid_argument, what, " is not valid UTF-8");
  }

  Expression read() {
    for (skip_space(true); at_ < text_.size(); skip_space(true)) read_rule();
    const auto root = rules_.find("root");
    if (root == rules_.end() || !builder_.parts().rules[index_of(root->second)].body)
      throw make_error(ErrorCode::invalid_argument, what_, " has no rule root, which a text is: add root ::= …");
    for (const auto& [name, rule] : rules_) {
      if (!builder_.parts().rules[index_of(rule)].body)
        throw make_error(ErrorCode::invalid_argument, what_, " refers to the rule ", formats::quoted_name(name),
                         ", which it lacks");
    }
    return root->second;
  }

 private:
  std::uint32_t index_of(Expression rule) const { return builder_.parts().nodes[rule.number].index; }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void fail(std::string_view problem) const {
    const auto line = 1 + std::ranges::count(text_.substr(0, at_), '\n');
    throw make_error(ErrorCode::invalid_argument, what_, " is malformed in line ", line, ": ", problem);
  }

  // Blanks and comments, and with `lines` the ends of lines.
  void skip_space(bool lines) {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
      if (at_ == text_.size()) return;
      const char c = text_[at_];
      if (c != ' ' && c != '\t' && !(lines && (c == '\n' || c == '\r'))) return;
    }
  }

  std::string_view read_name() {
    const std::size_t begin = at_;
    while (is_name(peek())) ++at_;
    if (at_ == begin) fail("the name of a rule is expected: letters, digits, - and _");
    return text_.substr(begin, at_ - begin);
  }

  Expression rule(std::string_view name) {
    const auto found = rules_.find(name);
    if (found != rules_.end()) return found->second;
    return rules_.emplace(std::string(name), builder_.parts().declare(std::string(name))).first->second;
  }

  void read_rule() {
    const Expression defined = rule(read_name());
    if (builder_.parts().rules[index_of(defined)].body) fail("this rule was defined before");
    skip_space(false);
    if (!text_.substr(at_).starts_with("::=")) fail("::= is expected behind the name of a rule");
    at_ += 3;
    builder_.parts().define(defined, read_alternatives(0));
    if (at_ < text_.size() && peek() != '\n' && peek() != '\r') fail("the end of a line is expected behind a rule");
  }

  Expression read_alternatives(int depth) {
    if (depth > kMostNesting) fail("parentheses are nested too deeply");
    std::vector<Expression> alternatives;
    do {
      skip_space(true);
      alternatives.push_back(read_sequence(depth));
    } while (accept('|'));
    return builder_.choice(alternatives);
  }

  Expression read_sequence(int depth) {
    std::vector<Expression> parts;
    for (;;) {
      skip_space(depth > 0);
      const char c = peek();
      Expression part;
      if (c == '"') {
        part = read_literal();
      } else if (c == '[') {
        part = read_class();
      } else if (c == '(') {
        ++at_;
        part = read_alternatives(depth + 1);
        if (!accept(')')) fail("a parenthesis has no end");
      } else if (c == '.') {
        ++at_;
        part = builder_.parts().add_set(CodePointSet::all());
      } else if (is_name(c)) {
        part = rule(read_name());
      } else {
        return builder_.sequence(parts);
      }
      parts.push_back(repeated(part, depth));
    }
  }

  Expression repeated(Expression part, int depth) {
    for (int repetitions = 0;; ++repetitions) {
      skip_space(depth > 0);
      if (repetitions > kMostNesting) fail("repetitions are nested too deeply");
      if (accept('*')) {
        part = builder_.repeat(part, 0);
      } else if (accept('+')) {
        part = builder_.repeat(part, 1);
      } else if (accept('?')) {
        part = builder_.repeat(part, 0, 1);
      } else if (accept('{')) {
        part = read_counts(part);
      } else {
        return part;
      }
    }
  }

  std::uint32_t read_count() {
    skip_space(false);
    std::uint32_t count = 0;
    const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), count);
    if (problem != std::errc() || count > kMostRepetitions) fail("a number up to 1000000 is expected in braces");
    at_ = static_cast<std::size_t>(end - text_.data());
    skip_space(false);
    return count;
  }
  Expression read_counts(Expression part) {
    skip_space(false);
    const std::uint32_t least = peek() == ',' ? 0 : read_count();
    std::uint32_t most = least;
    if (accept(',')) {
      skip_space(false);
      most = peek() == '}' ? GrammarBuilder::kUnlimited : read_count();
    }
    if (!accept('}')) fail("braces have no end: {n}, {n,} or {n,m} is expected");
    if (most < least) fail("a repetition's greatest number is below its least");
    return builder_.repeat(part, least, most);
  }

  char32_t read_digits(std::size_t count) {
    char32_t value = 0;
    const char* const begin = text_.data() + at_;
    std::uint32_t number = 0;
    const auto [end, problem] = std::from_chars(begin, begin + std::min(count, text_.size() - at_), number, 16);
    if (problem != std::errc() || end != begin + count) fail("an escape has too few hexadecimal digits");
    value = number;
    if (value > tokenizers::kLastCodePoint || (value >= 0xD800 && value <= 0xDFFF)) fail("an escape is no code point");
    at_ += count;
    return value;
  }
  // One that may be escaped.
  char32_t read_code_point() {
    if (at_ >= text_.size() || peek() == '\n') fail("a text or class has no end");
    if (!accept('\\')) {
      const tokenizers::CodePoint c = tokenizers::decode_utf8(text_, at_);
      at_ += c.length;
      return c.value;
    }
    const char escaped = peek();
    ++at_;
    switch (escaped) {
      case 'x': return read_digits(2);
      case 'u': return read_digits(4);
      case 'U': return read_digits(8);
      case 'n': return '\n';
      case 'r': return '\r';
      case 't': return '\t';
      case '\\':
      case '"':
      case '[':
      case ']':
      case '-':
      case '^': return static_cast<char32_t>(escaped);
      default:
        fail("an escape is unknown: those of a text are \\n \\r \\t \\\\ \\\" \\[ \\] \\xFF \\uFFFF \\UFFFFFFFF");
    }
  }

  Expression read_literal() {
    ++at_;
    std::string literal;
    while (!accept('"')) tokenizers::append_utf8(literal, read_code_point());
    return builder_.text(literal);
  }

  Expression read_class() {
    ++at_;
    const bool is_negated = accept('^');
    std::vector<tokenizers::CodePointRange> ranges;
    while (!accept(']')) {
      const char32_t first = read_code_point();
      char32_t last = first;
      if (peek() == '-' && peek(1) != ']') {
        ++at_;
        last = read_code_point();
      }
      if (last < first) fail("a range of a class is in the wrong order");
      ranges.push_back({first, last});
    }
    const CodePointSet set(ranges);
    if (set.empty() && !is_negated) fail("a class is empty");
    return builder_.parts().add_set(is_negated ? set.complement() : set);
  }

  GrammarBuilder& builder_;
  std::string_view text_, what_;
  std::size_t at_ = 0;
  std::map<std::string, Expression, std::less<>> rules_;
};

}  // namespace

Expression gbnf_expression(GrammarBuilder& builder, std::string_view grammar, std::string_view what) {
  return GbnfReader(builder, grammar, what).read();
}

}  // namespace alate::generation
