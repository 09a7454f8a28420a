#include <optional>
#include <string>
#include <vector>

#include "tokenizers/regex/parse_regex.h"
#include "tokenizers/regex/pattern_reader.h"
#include "tokenizers/regex/properties.h"

namespace alate::tokenizers {
namespace {

// One class: unions of members, intersected at each &&.
class ClassParser {
 public:
  ClassParser(PatternReader& reader, int depth) : reader_(reader), depth_(depth) {
    if (depth > kMaxRegexDepth) reader.fail(ErrorCode::resource_exhausted, "brackets are nested too deeply");
  }

  // Before a ^ is applied.
  CodePointSet parse() {
    if (reader_.peek() == ']') {
      if (!closes_later()) reader_.fail("a character class is empty");
      member(reader_.next());
    }
    while (!reader_.accept(U']')) {
      if (reader_.at_end()) reader_.fail("a character class has no end");
      element();
    }
    CodePointSet last = finish_operand();
    return before_and_.has_value() ? before_and_->intersection(last) : last;
  }

 private:
  enum class State { start, value, set, range, complete };

  // Whether an unescaped bracket follows the first one, which is then a member.
  bool closes_later() const {
    const std::u32string_view rest = reader_.rest();
    for (std::size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] == '\\') {
        ++i;
      } else if (rest[i] == ']') {
        return true;
      }
    }
    return false;
  }

  void element() {
    if (reader_.accept(U"&&")) {
      CodePointSet operand = finish_operand();
      before_and_ = before_and_.has_value() ? before_and_->intersection(operand) : std::move(operand);
      state_ = State::start;
      return;
    }
    const char32_t c = reader_.next();
    if (c == '[') {
      bracket();
    } else if (c == '-') {
      dash();
    } else if (c == '\\') {
      escape();
    } else {
      member(c);
    }
  }

  void bracket() {
    if (reader_.peek() == ':' && posix()) return;
    if (state_ == State::range) reader_.refuse("a class as the end of a range");
    flush();
    CodePointSet inner;
    const bool negated = reader_.accept(U'^');
    inner = ClassParser(reader_, depth_ + 1).parse();
    operand_.add(negated ? inner.complement() : inner);
    state_ = State::complete;
  }

  // [:name:], of which the first bracket has been read.
  bool posix() {
    const std::size_t begin = reader_.position();
    reader_.skip(1);
    const bool negated = reader_.accept(U'^');
    std::string name;
    while (reader_.peek() >= 'a' && reader_.peek() <= 'z' && name.size() < 8) name += static_cast<char>(reader_.next());
    if (!reader_.accept(U":]")) {
      reader_.return_to(begin);
      return false;
    }
    const std::optional<CodePointSet> set = posix_class(name);
    if (!set.has_value()) reader_.fail("[:" + name + ":] is no class");
    add_set(negated ? set->complement() : *set);
    return true;
  }

  void dash() {
    if (state_ == State::start || state_ == State::range) return member('-');
    if (reader_.peek() == ']' || reader_.rest().starts_with(U"&&")) return member('-');
    if (state_ == State::value) {
      state_ = State::range;
      return;
    }
    if (state_ == State::set) reader_.fail("a class is no start of a range");
    member('-');
  }

  void escape() {
    const char32_t c = reader_.peek();
    const auto take = [&](const CodePointSet& set) {
      reader_.skip(1);
      add_set(set);
    };
    switch (c) {
      case 'w':
      case 'W': return take(reader_.words(c == 'W', false));
      case 'd':
      case 'D': return take(reader_.digits(c == 'D'));
      case 's':
      case 'S': return take(reader_.spaces(c == 'S'));
      case 'h':
      case 'H': return take(c == 'H' ? hex_digit_set().complement() : hex_digit_set());
      case 'p':
      case 'P':
        if (reader_.peek(1) == '{') {
          reader_.skip(2);
          return add_set(reader_.property(c == 'P', false));
        }
        break;
      case 'b': reader_.skip(1); return member('\b');
      default: break;
    }
    member(reader_.escaped_code_point());
  }

  void member(char32_t c) {
    if (state_ == State::range) {
      if (c < value_) reader_.fail("a range is in the wrong order");
      ranges_.push_back({value_, c});
      state_ = State::complete;
      return;
    }
    flush();
    value_ = c;
    state_ = State::value;
  }

  void add_set(const CodePointSet& set) {
    if (state_ == State::range) reader_.fail("a class is no end of a range");
    flush();
    ranges_.insert(ranges_.end(), set.ranges().begin(), set.ranges().end());
    if (ranges_.size() > kMaxRanges) reader_.fail(ErrorCode::resource_exhausted, "a character class is too large");
    state_ = State::set;
  }

  void flush() {
    if (state_ == State::value) ranges_.push_back({value_, value_});
  }

  CodePointSet finish_operand() {
    flush();
    operand_.add(ranges_);
    ranges_.clear();
    return std::exchange(operand_, {});
  }

  static constexpr std::size_t kMaxRanges = std::size_t{1} << 20;

  PatternReader& reader_;
  int depth_;
  State state_ = State::start;
  char32_t value_ = 0;  // a single member that may begin a range
  std::vector<CodePointRange> ranges_;
  CodePointSet operand_;
  std::optional<CodePointSet> before_and_;
};

}  // namespace

CodePointSet parse_character_class(PatternReader& reader, bool ignore_case, int depth) {
  const bool negated = reader.accept(U'^');
  CodePointSet set = ClassParser(reader, depth).parse();
  if (ignore_case) {
    if (!negated && folds_to_several(set))
      reader.refuse("a class that ignores case and has a letter which matches several others (as ß matches ss)");
    add_case_variants(set);
  }
  return negated ? set.complement() : set;
}

}  // namespace alate::tokenizers
