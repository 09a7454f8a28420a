#include "tokenizers/unicode/sentence_breaks.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

#include "tokenizers/unicode/sentence_breaks.inc"

using Break = SentenceBreak;

constexpr std::uint32_t kBits = 4;  // of a run that are its value

constexpr SentenceBreak run_value(std::uint32_t run) { return static_cast<SentenceBreak>(run & ((1U << kBits) - 1)); }

constexpr std::size_t kDirect = 0x250;  // Latin letters, whose runs are short

consteval std::array<SentenceBreak, kDirect> make_direct_values() {
  std::array<SentenceBreak, kDirect> values{};
  std::size_t run = 0;
  for (std::uint32_t c = 0; c < kDirect; ++c) {
    while (kSentenceBreakRuns[run + 1] >> kBits <= c) ++run;
    values[c] = run_value(kSentenceBreakRuns[run]);
  }
  return values;
}

constexpr std::array<SentenceBreak, kDirect> kDirectValues = make_direct_values();

constexpr bool is_paragraph_end(Break value) { return value == Break::sep || value == Break::cr || value == Break::lf; }
constexpr bool is_term(Break value) { return value == Break::aterm || value == Break::sterm; }
constexpr bool is_letter(Break value) {
  return value == Break::lower || value == Break::upper || value == Break::oletter;
}

// Rule SB8: whether a lower-case letter comes first of all that could show that a new sentence begins.
bool goes_on_in_lower_case(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const CodePoint point = decode_utf8(text, at);
    const Break value = sentence_break(point.value);
    if (value == Break::lower) return true;
    if (is_letter(value) || is_paragraph_end(value) || is_term(value)) return false;
    at += point.length;
  }
  return false;
}

// What has been read of "SATerm Close* Sp*".
enum class Ending { none, term, closes, spaces };

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // Whether a sentence begins at `at`, where a code point of this value starts; the text's start is not asked for.
  bool begins(Break value, std::size_t at) const {
    if (last_ == Break::cr && value == Break::lf) return false;            // SB3
    if (is_paragraph_end(last_)) return true;                              // SB4
    if (value == Break::extend || value == Break::format) return false;    // SB5
    if (ending_ == Ending::none) return false;                             // SB998
    if (is_term(value) || value == Break::scontinue) return false;         // SB8a
    if (value == Break::sp || is_paragraph_end(value)) return false;       // SB9, SB10
    if (value == Break::close && ending_ != Ending::spaces) return false;  // SB9
    if (term_ != Break::aterm) return true;                                // SB11
    if (ending_ == Ending::term && value == Break::numeric) return false;  // SB6
    const bool is_initial = before_term_ == Break::upper || before_term_ == Break::lower;
    if (ending_ == Ending::term && is_initial && value == Break::upper) return false;  // SB7
    return !goes_on_in_lower_case(text_, at);                                          // SB8, SB11
  }

  void read(Break value) {
    // SB5: these belong to what is before them, but not to the end of a paragraph.
    const bool is_first = is_paragraph_end(last_) || !has_last_;
    last_ = value;
    has_last_ = true;
    if (!is_first && (value == Break::extend || value == Break::format)) return;
    if (is_term(value)) {
      before_term_ = base_;
      term_ = value;
      ending_ = Ending::term;
    } else if (value == Break::close && (ending_ == Ending::term || ending_ == Ending::closes)) {
      ending_ = Ending::closes;
    } else if (value == Break::sp && ending_ != Ending::none) {
      ending_ = Ending::spaces;
    } else {
      ending_ = Ending::none;
    }
    base_ = value;
  }

 private:
  std::string_view text_;
  bool has_last_ = false;
  Break last_ = Break::other;         // of the last code point
  Break base_ = Break::other;         // of the last one that SB5 does not skip
  Break term_ = Break::other;         // of the last terminator
  Break before_term_ = Break::other;  // of what it follows
  Ending ending_ = Ending::none;
};

}  // namespace

SentenceBreak sentence_break(char32_t c) {
  if (c < kDirect) return kDirectValues[c];
  const std::uint32_t key = static_cast<std::uint32_t>(c) << kBits | ((1U << kBits) - 1);
  return run_value(*std::prev(std::ranges::upper_bound(kSentenceBreakRuns, key)));
}

std::vector<std::size_t> sentence_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  Reader reader(text);
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    const Break value = sentence_break(point.value);
    if (at == 0 || reader.begins(value, at)) starts.push_back(at);
    reader.read(value);
    at += point.length;
  }
  return starts;
}

}  // namespace alate::tokenizers
