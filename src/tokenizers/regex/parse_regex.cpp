#include "tokenizers/regex/parse_regex.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "tokenizers/regex/pattern_reader.h"
#include "tokenizers/regex/properties.h"

namespace alate::tokenizers {
namespace {

using Kind = RegexNode::Kind;

struct RegexOptions {
  bool ignore_case = false;
  bool dot_matches_newline = false;
  bool extended = false;
};

class RegexParser {
 public:
  RegexParser(std::string_view pattern, std::string_view where, RegexClasses classes)
      : reader_(pattern, where, classes) {}

  RegexTree parse() {
    tree_.root = alternation({}, 0);
    if (!reader_.at_end()) reader_.fail("a closing parenthesis has no opening one");
    return std::move(tree_);
  }

 private:
  // Up to the end or a closing parenthesis, which is left.
  RegexNode alternation(RegexOptions options, int depth) {
    if (depth > kMaxRegexDepth) reader_.fail(ErrorCode::resource_exhausted, "groups are nested too deeply");
    RegexNode node = node_of(Kind::alternation);
    do {
      node.parts.push_back(branch(options, depth));
    } while (reader_.accept(U'|'));
    return node.parts.size() == 1 ? std::move(node.parts.front()) : node;
  }

  RegexNode branch(RegexOptions options, int depth) {
    RegexNode sequence = node_of(Kind::sequence);
    std::u32string letters;  // consecutive ones whose case is ignored
    while (!reader_.at_end() && reader_.peek() != '|' && reader_.peek() != ')') {
      if (options.extended && skip_extended()) continue;
      if (reader_.accept(U"(?#")) {
        while (!reader_.at_end() && !reader_.accept(U')')) {
          if (reader_.next() == '\\' && !reader_.at_end()) reader_.skip(1);
        }
        continue;
      }
      if (std::optional<RegexOptions> changed = isolated_options(options)) {
        // They hold up to the end of the group, alternatives included.
        sequence.parts.push_back(alternation(*changed, depth + 1));
        break;
      }
      literal_ = PatternReader::kNone;
      RegexNode one = atom(options, depth);
      const char32_t letter = options.ignore_case ? literal_ : PatternReader::kNone;
      const bool repeated = repeat(one, options);
      if (letter == PatternReader::kNone || repeated) {
        letters.clear();
      } else {
        check_folds(letter, letters);
      }
      sequence.parts.push_back(std::move(one));
    }
    return sequence;
  }

  bool skip_extended() {
    const char32_t c = reader_.peek();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
      reader_.skip(1);
      return true;
    }
    if (c != '#') return false;
    while (!reader_.at_end() && reader_.next() != '\n') {
    }
    return true;
  }

  // (?i) and the like, with its closing parenthesis; nothing is read if it is something else.
  std::optional<RegexOptions> isolated_options(RegexOptions options) {
    const std::size_t begin = reader_.position();
    if (reader_.accept(U"(?") && read_options(options) && reader_.accept(U')')) return options;
    reader_.return_to(begin);
    return std::nullopt;
  }

  // Letters of options; false if there are none.
  bool read_options(RegexOptions& options) {
    bool on = true;
    bool any = false;
    for (;;) {
      const char32_t c = reader_.peek();
      if (c == '-') {
        on = false;
      } else if (c == 'i') {
        options.ignore_case = on;
      } else if (c == 'm') {
        options.dot_matches_newline = on;
      } else if (c == 'x') {
        options.extended = on;
      } else {
        return any;
      }
      any = true;
      reader_.skip(1);
    }
  }

  RegexNode atom(RegexOptions options, int depth) {
    const char32_t c = reader_.next();
    switch (c) {
      case '(': return group(options, depth);
      case '[': return set_node(parse_character_class(reader_, options.ignore_case, depth + 1));
      case '.': return options.dot_matches_newline ? set_node(CodePointSet::all()) : not_newline();
      case '^': return line_node(Kind::begin_line);
      case '$': return line_node(Kind::end_line);
      case '\\': return escape(options);
      case '*':
      case '+':
      case '?': reader_.fail("a repetition has nothing to repeat");
      case '{': {
        std::uint32_t min = 0;
        std::uint32_t max = 0;
        bool fixed = false;
        if (interval(min, max, fixed)) reader_.fail("a repetition has nothing to repeat");
        return literal(c, options);
      }
      default: return literal(c, options);
    }
  }

  RegexNode group(RegexOptions options, int depth) {
    Kind kind = Kind::sequence;
    if (reader_.accept(U'?')) {
      const auto read_kind = [&](std::u32string_view mark, Kind chosen) {
        if (!reader_.accept(mark)) return false;
        kind = chosen;
        return true;
      };
      if (!read_kind(U":", Kind::sequence) && !read_kind(U"=", Kind::look_ahead) &&
          !read_kind(U"!", Kind::not_look_ahead) && !read_kind(U">", Kind::atomic) &&
          !read_kind(U"<=", Kind::look_behind) && !read_kind(U"<!", Kind::not_look_behind)) {
        if (reader_.peek() == '<' || reader_.peek() == '\'') {
          group_name();
        } else if (!read_options(options) || !reader_.accept(U':')) {
          reader_.refuse("this kind of group");
        }
      }
    } else if (reader_.peek() == '*') {
      reader_.refuse("a callout");
    }
    RegexNode inner = alternation(options, depth + 1);
    if (!reader_.accept(U')')) reader_.fail("a group has no closing parenthesis");
    literal_ = PatternReader::kNone;
    if (kind == Kind::sequence) return inner;
    RegexNode node = node_of(kind);
    node.parts.push_back(std::move(inner));
    return node;
  }

  // Names do not matter without references.
  void group_name() {
    const char32_t close = reader_.next() == '<' ? U'>' : U'\'';
    std::size_t length = 0;
    while (!reader_.accept(close)) {
      if (reader_.at_end() || reader_.next() == ')') reader_.fail("a group's name has no end");
      ++length;
    }
    if (length == 0) reader_.fail("a group has an empty name");
  }

  RegexNode escape(RegexOptions options) {
    const char32_t c = reader_.peek();
    const auto plain = [&](RegexNode node) {
      reader_.skip(1);
      return node;
    };
    const auto set = [&](const CodePointSet& of, bool negated) {
      return plain(set_node(negated ? of.complement() : of));
    };
    switch (c) {
      case 'w':
      case 'W': return plain(set_node(reader_.words(c == 'W', true)));
      case 'd':
      case 'D': return plain(set_node(reader_.digits(c == 'D')));
      case 's':
      case 'S': return plain(set_node(reader_.spaces(c == 'S')));
      case 'h':
      case 'H': return set(hex_digit_set(), c == 'H');
      case 'N': return plain(not_newline());
      case 'O': return plain(set_node(CodePointSet::all()));
      case 'R': return plain(general_newline());
      case 'A': return plain(node_of(Kind::begin_text));
      case 'z': return plain(node_of(Kind::end_text));
      case 'Z': return plain(line_node(Kind::end_text_or_last_newline));
      case '`': return plain(node_of(Kind::begin_text));
      case '\'': return plain(node_of(Kind::end_text));
      case 'b': return plain(word_node(Kind::word_boundary));
      case 'B': return plain(word_node(Kind::not_word_boundary));
      case 'p':
      case 'P':
        if (reader_.peek(1) != '{') break;
        reader_.skip(2);
        return set_node(reader_.property(c == 'P', true));
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
      case '7':
      case '8':
      case '9': reader_.refuse("a back reference");
      case 'k':
        if (reader_.peek(1) == '<' || reader_.peek(1) == '\'') reader_.refuse("a back reference");
        break;
      case 'g':
        if (reader_.peek(1) == '<' || reader_.peek(1) == '\'') reader_.refuse("a call of a group");
        break;
      case 'G': reader_.refuse("\\G");
      case 'K': reader_.refuse("\\K");
      case 'X':
      case 'y':
      case 'Y': reader_.refuse("a text segment");
      default: break;
    }
    return literal(reader_.escaped_code_point(), options);
  }

  RegexNode literal(char32_t c, RegexOptions options) {
    CodePointSet set(CodePointRange{c, c});
    if (options.ignore_case) {
      if (folds_to_several(set))
        reader_.refuse("a letter that ignores case and matches several others (as ß matches ss)");
      add_case_variants(set);
    }
    literal_ = c;
    return set_node(set);
  }

  // Texts whose case variants include a single letter (ss and ß).
  void check_folds(char32_t letter, std::u32string& letters) {
    letters += letter;
    for (const std::size_t size : {2, 3}) {
      if (letters.size() >= size && is_fold_of_one(std::u32string_view(letters).substr(letters.size() - size)))
        reader_.refuse("letters that ignore case and match one other (as ss matches ß)");
    }
  }

  // Wraps the node in the repetitions that follow; false if none does.
  bool repeat(RegexNode& node, RegexOptions options) {
    bool any = false;
    for (;;) {
      while (options.extended && skip_extended()) {
      }
      RegexNode outer = node_of(Kind::repeat);
      if (!quantifier(outer)) return any;
      if (is_anchor(node.kind)) reader_.fail("a position is repeated");
      outer.parts.push_back(std::move(node));
      node = std::move(outer);
      any = true;
      if (++nesting_ > kMaxRepeats) reader_.fail(ErrorCode::resource_exhausted, "there are too many repetitions");
    }
  }

  static bool is_anchor(Kind kind) { return kind >= Kind::begin_line; }

  bool quantifier(RegexNode& node) {
    bool fixed = false;
    bool is_interval = false;
    if (reader_.accept(U'*')) {
      node.max = RegexNode::kUnlimited;
    } else if (reader_.accept(U'+')) {
      node.min = 1;
      node.max = RegexNode::kUnlimited;
    } else if (reader_.accept(U'?')) {
      node.max = 1;
    } else if (reader_.accept(U'{')) {
      if (!interval(node.min, node.max, fixed)) {
        reader_.return_to(reader_.position() - 1);
        return false;
      }
      is_interval = true;
    } else {
      return false;
    }
    // Oniguruma: {n}? repeats {n} once or not at all, {n,m}+ repeats {n,m}, and {m,n} with m > n is possessive.
    if (node.min > node.max) {
      std::swap(node.min, node.max);
      node.greed = RegexNode::Greed::possessive;
    } else if (!fixed && reader_.accept(U'?')) {
      node.greed = RegexNode::Greed::lazy;
    } else if (!is_interval && reader_.accept(U'+')) {
      node.greed = RegexNode::Greed::possessive;
    }
    return true;
  }

  // The rest of {n}, {n,}, {,n} or {n,m}; nothing is read if it is none.
  bool interval(std::uint32_t& min, std::uint32_t& max, bool& fixed) {
    const std::size_t begin = reader_.position();
    const bool has_min = reader_.accept_number(min);
    bool valid = true;
    if (reader_.accept(U',')) {
      if (!reader_.accept_number(max)) {
        max = RegexNode::kUnlimited;
        valid = has_min;
      }
    } else {
      max = min;
      fixed = true;
      valid = has_min;
    }
    if (valid && reader_.accept(U'}')) return true;
    reader_.return_to(begin);
    min = 0;
    fixed = false;
    return false;
  }

  static RegexNode node_of(Kind kind) {
    RegexNode node;
    node.kind = kind;
    return node;
  }

  RegexNode set_node(const CodePointSet& set) {
    RegexNode node = node_of(Kind::set);
    node.set = index_of(set);
    return node;
  }

  std::size_t index_of(const CodePointSet& set) {
    const auto found = std::find(tree_.sets.begin(), tree_.sets.end(), set);
    if (found == tree_.sets.end() && tree_.sets.size() == kMaxSets)
      reader_.fail(ErrorCode::unsupported, "it distinguishes too many characters");
    const auto index = static_cast<std::size_t>(found - tree_.sets.begin());
    if (found == tree_.sets.end()) tree_.sets.push_back(set);
    return index;
  }

  static CodePointSet newline_set() { return CodePointSet(CodePointRange{'\n', '\n'}); }
  RegexNode not_newline() { return set_node(reader_.newlines().complement()); }

  RegexNode line_node(Kind kind) {
    tree_.newline = index_of(newline_set());
    return node_of(kind);
  }

  RegexNode word_node(Kind kind) {
    tree_.word = index_of(bare_word_set());
    return node_of(kind);
  }

  // \R: a line break, of which \r\n is one.
  RegexNode general_newline() {
    RegexNode pair = node_of(Kind::sequence);
    pair.parts.push_back(set_node(CodePointSet(CodePointRange{'\r', '\r'})));
    pair.parts.push_back(set_node(newline_set()));
    constexpr CodePointRange kBreaks[] = {{'\n', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}};
    RegexNode either = node_of(Kind::alternation);
    either.parts.push_back(std::move(pair));
    either.parts.push_back(set_node(CodePointSet(kBreaks)));
    RegexNode node = node_of(Kind::atomic);
    node.parts.push_back(std::move(either));
    return node;
  }

  static constexpr std::size_t kMaxSets = 1024;
  static constexpr std::size_t kMaxRepeats = 1000;

  PatternReader reader_;
  RegexTree tree_;
  char32_t literal_ = PatternReader::kNone;  // the last atom, if it was a letter
  std::size_t nesting_ = 0;
};

}  // namespace

RegexTree parse_regex(std::string_view pattern, std::string_view where, RegexClasses classes) {
  return RegexParser(pattern, where, classes).parse();
}

}  // namespace alate::tokenizers
