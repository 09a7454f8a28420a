// A position in the text of a regular expression, with errors that show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "tokenizers/regex/code_point_set.h"
#include "tokenizers/regex/syntax_tree.h"

namespace alate::tokenizers {

class PatternReader {
 public:
  /// `where` must outlive the reader. Throws corrupt unless the pattern is UTF-8.
  PatternReader(std::string_view pattern, std::string_view where, RegexClasses classes = RegexClasses::oniguruma);

  bool at_end() const { return at_ == text_.size(); }
  char32_t peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : kNone; }
  char32_t next() { return text_[at_++]; }
  void skip(std::size_t count) { at_ += count; }
  bool accept(char32_t c);
  bool accept(std::u32string_view text);
  std::size_t position() const { return at_; }
  void return_to(std::size_t position) { at_ = position; }
  std::u32string_view rest() const { return std::u32string_view(text_).substr(at_); }

  /// A decimal number; nothing read if there is none. Throws corrupt above 100000.
  bool accept_number(std::uint32_t& number);
  /// The rest of an escape that stands for one code point, after the backslash; the escaped character itself if it
  /// means nothing else.
  char32_t escaped_code_point();
  /// \w and \W (`bare`: outside of brackets), \d and \D, \s and \S, and what the dot is not.
  CodePointSet words(bool negated, bool bare) const;
  CodePointSet digits(bool negated) const;
  CodePointSet spaces(bool negated) const;
  CodePointSet newlines() const;
  /// The set of \p{…} or \P{…}, after its first brace. `bare` is false inside of brackets.
  CodePointSet property(bool negated, bool bare);

  [[noreturn]] void fail(std::string_view problem) const { fail(ErrorCode::corrupt, problem); }
  [[noreturn]] void refuse(std::string_view construct) const {
    fail(ErrorCode::unsupported, std::string(construct) + " is not supported");
  }
  [[noreturn]] void fail(ErrorCode code, std::string_view problem) const;

  static constexpr char32_t kNone = 0xFFFFFFFF;

 private:
  char32_t number_of_digits(unsigned base, std::size_t max_digits);

  std::u32string text_;
  std::size_t at_ = 0;
  std::string_view pattern_;
  std::string_view where_;
  RegexClasses classes_;
};

/// The class after its opening bracket, up to and including the closing one.
CodePointSet parse_character_class(PatternReader& reader, bool ignore_case, int depth);

/// A pattern for messages: shortened if it is long.
std::string shown_pattern(std::string_view pattern);

}  // namespace alate::tokenizers
