#include "tokenizers/regex/write_pcre.h"

#include <algorithm>
#include <array>

#include "alate/error.h"

namespace alate::tokenizers {
namespace {

using Kind = RegexNode::Kind;

class PcreWriter {
 public:
  PcreWriter(const RegexTree& tree, const Alphabet& alphabet, std::string_view where)
      : tree_(tree), alphabet_(alphabet), where_(where) {}

  std::string write() {
    node(tree_.root);
    return std::move(out_);
  }

 private:
  void node(const RegexNode& node) {
    if (out_.size() > kMaxPcreBytes)
      throw make_error(ErrorCode::unsupported, where_, ": the regular expression is too large");
    switch (node.kind) {
      case Kind::set: set(node.set); break;
      case Kind::sequence: sequence(node); break;
      case Kind::alternation: group("(?:", node.parts, '|'); break;
      case Kind::repeat: repeat(node); break;
      case Kind::atomic: group("(?>", node.parts); break;
      case Kind::look_ahead: group("(?=", node.parts); break;
      case Kind::not_look_ahead: group("(?!", node.parts); break;
      case Kind::look_behind: look_behind("(?<=", node.parts.front()); break;
      case Kind::not_look_behind: look_behind("(?<!", node.parts.front()); break;
      case Kind::begin_line: lines("(?:\\A|(?<=", ")(?!\\z))"); break;  // not after a final line feed
      case Kind::end_line: lines("(?:\\z|(?=", "))"); break;
      case Kind::begin_text: out_ += "\\A"; break;
      case Kind::end_text: out_ += "\\z"; break;
      case Kind::end_text_or_last_newline: lines("(?:\\z|(?=", "\\z))"); break;
      case Kind::word_boundary: words("(?:(?<=", ")(?!", ")|(?<!", ")(?=", "))"); break;
      case Kind::not_word_boundary: words("(?:(?<=", ")(?=", ")|(?<!", ")(?!", "))"); break;
    }
  }

  void sequence(const RegexNode& sequence) {
    for (const RegexNode& part : sequence.parts) node(part);
  }

  void group(std::string_view open, const std::vector<RegexNode>& parts, char separator = 0) {
    out_ += open;
    for (const RegexNode& part : parts) {
      if (separator != 0 && &part != &parts.front()) out_ += separator;
      node(part);
    }
    out_ += ')';
  }

  // PCRE wants alternatives of different lengths at the top.
  void look_behind(std::string_view open, const RegexNode& inner) {
    const RegexNode* top = &inner;
    while (top->kind == Kind::sequence && top->parts.size() == 1) top = &top->parts.front();
    if (top->kind == Kind::alternation) {
      group(open, top->parts, '|');
    } else {
      out_ += open;
      node(*top);
      out_ += ')';
    }
  }

  void repeat(const RegexNode& repeat) {
    const RegexNode& inner = repeat.parts.front();
    if (inner.kind == Kind::set) {
      set(inner.set);
    } else {
      group("(?:", repeat.parts);
    }
    if (repeat.max == RegexNode::kUnlimited && repeat.min <= 1) {
      out_ += repeat.min == 0 ? '*' : '+';
    } else if (repeat.min == 0 && repeat.max == 1) {
      out_ += '?';
    } else {
      out_ += '{' + std::to_string(repeat.min) + ',';
      if (repeat.max != RegexNode::kUnlimited) out_ += std::to_string(repeat.max);
      out_ += '}';
    }
    if (repeat.greed == RegexNode::Greed::lazy) out_ += '?';
    if (repeat.greed == RegexNode::Greed::possessive) out_ += '+';
  }

  void lines(std::string_view before, std::string_view after) {
    out_ += before;
    set(tree_.newline);
    out_ += after;
  }

  void words(std::string_view a, std::string_view b, std::string_view c, std::string_view d, std::string_view e) {
    for (const std::string_view text : {a, b, c, d}) {
      out_ += text;
      set(tree_.word);
    }
    out_ += e;
  }

  void set(std::size_t index) {
    const Alphabet::Letters& letters = alphabet_.letters_of(index);
    const auto count = static_cast<std::size_t>(std::count(letters.begin(), letters.begin() + alphabet_.size(), true));
    if (count == 0) {
      out_ += "(?!)";
      return;
    }
    if (count > 1) out_ += '[';
    for (std::size_t first = 0; first < alphabet_.size();) {
      std::size_t end = first;
      while (end < alphabet_.size() && letters[end]) ++end;
      if (end > first) {
        letter(first);
        if (end > first + 1) {
          out_ += '-';
          letter(end - 1);
        }
      }
      first = std::max(end, first + 1);
    }
    if (count > 1) out_ += ']';
  }

  void letter(std::size_t value) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out_ += "\\x";
    out_ += kDigits[value / 16];
    out_ += kDigits[value % 16];
  }

  const RegexTree& tree_;
  const Alphabet& alphabet_;
  std::string_view where_;
  std::string out_;
};

}  // namespace

std::string write_pcre(const RegexTree& tree, const Alphabet& alphabet, std::string_view where) {
  return PcreWriter(tree, alphabet, where).write();
}

}  // namespace alate::tokenizers
