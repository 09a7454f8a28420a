// The filter wordwrap: Python's textwrap, for each line of the text.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/chat_templates/filters/filters.h"
#include "tokenizers/chat_templates/methods/methods.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/chat_templates/values/arguments.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

bool is_letter_or_digit(char32_t c) { return c == '_' || is_alphabetic(c) || is_decimal(c) || is_numeric(c); }
bool is_blank(char32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_in_word(char32_t c) {
  return is_letter_or_digit(c) || std::u32string_view(U"!\"'&.,?").find(c) != std::u32string_view::npos;
}
// textwrap's "letter" is a word character that is no digit.
bool is_letter(char32_t c) { return is_letter_or_digit(c) && !is_decimal(c); }

// A line as pieces between which it may be broken: textwrap's wordsep_re.
class Pieces {
 public:
  Pieces(const std::u32string& line, bool break_on_hyphens) : line_(line), break_on_hyphens_(break_on_hyphens) {}

  std::vector<std::u32string> all() const {
    std::vector<std::u32string> pieces;
    for (std::size_t at = 0; at < line_.size();) {
      const std::size_t end = end_of_piece(at);
      pieces.push_back(line_.substr(at, end - at));
      at = end;
    }
    return pieces;
  }

 private:
  bool has(std::size_t at, bool (*is)(char32_t)) const { return at < line_.size() && is(line_[at]); }
  std::size_t after_hyphens(std::size_t at) const {
    while (at < line_.size() && line_[at] == '-') ++at;
    return at;
  }
  // Two hyphens or more between words.
  bool is_dash(std::size_t at) const {
    if (at == 0 || !is_in_word(line_[at - 1])) return false;  // asked first: of many hyphens only one is after a word
    const std::size_t end = after_hyphens(at);
    return end >= at + 2 && has(end, is_letter_or_digit);
  }
  // Whether a word may be broken after the hyphen at `at`, which is not before `begin`.
  bool breaks_after(std::size_t at) const {
    if (line_[at] != '-') return false;
    const bool two_letters = at >= 2 && is_letter(line_[at - 1]) && is_letter(line_[at - 2]);
    const bool letter_and_hyphen =
        at >= 3 && is_letter(line_[at - 3]) && line_[at - 2] == '-' && is_letter(line_[at - 1]);
    if (!two_letters && !letter_and_hyphen) return false;
    if (!has(at + 1, is_letter)) return false;
    return has(at + 2, is_letter) || (at + 2 < line_.size() && line_[at + 2] == '-' && has(at + 3, is_letter));
  }

  std::size_t end_of_piece(std::size_t begin) const {
    const bool blank = is_blank(line_[begin]);
    std::size_t end = begin;
    if (blank || !break_on_hyphens_) {
      while (end < line_.size() && is_blank(line_[end]) == blank) ++end;
      return end;
    }
    if (is_dash(begin)) return after_hyphens(begin);
    // The shortest part of one character or more that ends in one of three ways.
    for (end = begin + 1; end < line_.size() && !is_blank(line_[end]); ++end) {
      if (breaks_after(end)) return end + 1;
      if (is_dash(end)) return end;
    }
    return end;
  }

  const std::u32string& line_;
  bool break_on_hyphens_;
};

struct WrapOptions {
  std::size_t width;
  bool break_long_words, break_on_hyphens;
};

bool is_space_only(const std::u32string& text) { return std::ranges::all_of(text, is_space); }

// How much of a word that fits no line goes to a line that has `left` places.
std::size_t broken_at(const std::u32string& word, std::size_t left, const WrapOptions& options) {
  if (!options.break_on_hyphens || word.size() <= left || left == 0) return std::min(left, word.size());
  const std::size_t hyphen = word.rfind('-', left - 1);
  const bool breaks = hyphen != std::u32string::npos && hyphen > 0 && word.find_first_not_of('-') < hyphen;
  return breaks ? hyphen + 1 : left;
}

std::vector<std::u32string> wrapped(Rendering& run, const std::u32string& line, const WrapOptions& options) {
  std::vector<std::u32string> pieces = Pieces(line, options.break_on_hyphens).all();
  std::ranges::reverse(pieces);  // the next one is the last
  std::vector<std::u32string> lines;
  while (!pieces.empty()) {
    run.budget().work();
    std::vector<std::u32string> current;
    std::size_t size = 0;
    if (!lines.empty() && is_space_only(pieces.back())) pieces.pop_back();
    while (!pieces.empty() && size + pieces.back().size() <= options.width) {
      size += pieces.back().size();
      current.push_back(std::move(pieces.back()));
      pieces.pop_back();
    }
    if (!pieces.empty() && pieces.back().size() > options.width) {
      if (options.break_long_words) {
        std::u32string& word = pieces.back();
        run.budget().work(word.size() / 16);
        const std::size_t taken = broken_at(word, options.width - size, options);
        current.push_back(word.substr(0, taken));
        word.erase(0, taken);
      } else if (current.empty()) {
        current.push_back(std::move(pieces.back()));
        pieces.pop_back();
      }
    }
    if (!current.empty() && is_space_only(current.back())) current.pop_back();
    if (current.empty()) continue;
    std::u32string text;
    for (const std::u32string& piece : current) text += piece;
    lines.push_back(std::move(text));
  }
  return lines;
}

std::u32string decoded(std::string_view text) {
  std::u32string points;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    points += point.value;
    at += point.length;
  }
  return points;
}

}  // namespace

Value wrap_text(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "wordwrap", std::move(arguments),
                         {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  if (input.is_undefined()) run.fail(input.undefined_message());
  if (!input.is_text()) run.fail("wordwrap needs a string, not '", type_name(input), "'");
  const std::string_view between = given.is_set(2) ? given.text(2, "") : "\n";
  if (input.bytes().empty()) return input;  // whatever the other arguments are
  const Integer width = given.integer(0, 79);
  const WrapOptions options{given.size(0, 79), given.flag(1, true), given.flag(3, true)};
  run.budget().work(input.bytes().size());  // a piece for each byte at worst
  Builder out(run.budget());
  bool is_first = true;
  for (const std::string_view line : split_lines(input.bytes())) {
    if (width <= 0)
      run.fail("wordwrap: invalid width ", static_cast<long long>(std::max(width, Integer{-1})), " (must be > 0)");
    const Charge charge(run.budget(), 40 * line.size());  // what the pieces take
    const std::vector<std::u32string> lines = wrapped(run, decoded(line), options);
    if (!is_first) out.append(between);
    is_first = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) out.append(between);
      std::string text;
      for (const char32_t c : lines[i]) append_utf8(text, c);
      out.append(text);
    }
  }
  return make_text(run.budget(), out.take());
}

}  // namespace alate::tokenizers::chat_templates
