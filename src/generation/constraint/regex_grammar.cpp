#include "generation/constraint/regex_grammar.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "tokenizers/regex/parse_regex.h"

namespace alate::generation {
namespace {

using tokenizers::CodePointSet;
using tokenizers::RegexNode;
using tokenizers::RegexTree;
using Kind = RegexNode::Kind;

constexpr std::uint32_t kUnlimited = GrammarBuilder::kUnlimited;
static_assert(RegexNode::kUnlimited == kUnlimited);

[[noreturn]] void refuse(std::string_view what, std::string_view construct) {
  throw make_error(ErrorCode::invalid_argument, what, " has ", construct,
                   ", which output cannot be held to; docs/constrained-output.md lists what expressions may have");
}

RegexTree parse(std::string_view pattern, std::string_view what) {
  try {
    return tokenizers::parse_regex(pattern, what, tokenizers::RegexClasses::portable);
  } catch (const Error& error) {
    throw Error(ErrorCode::invalid_argument, error.message());
  }
}

bool is_begin(const RegexNode& node) { return node.kind == Kind::begin_line || node.kind == Kind::begin_text; }
bool is_end(const RegexNode& node) {
  return node.kind == Kind::end_line || node.kind == Kind::end_text || node.kind == Kind::end_text_or_last_newline;
}

class RegexWriter {
 public:
  RegexWriter(GrammarBuilder& builder, const RegexTree& tree, std::string_view what, const RegexWriting& writing)
      : builder_(builder), tree_(tree), what_(what), writing_(writing) {}

  Expression write(const RegexNode& node) {
    const Side side = writing_.is_search ? Side::open : Side::closed;
    return write(node, side, side);
  }

 private:
  // What is beside a part.
  enum class Side : std::uint8_t {
    inner,   // other parts: no anchor may stand there
    closed,  // the end of the text
    open,    // anything, unless an anchor stands there
  };

  Expression write(const RegexNode& node, Side left, Side right) {
    if (node.kind == Kind::sequence) return write_sequence(node.parts, left, right);
    if (node.kind != Kind::alternation) return write_sequence(std::span(&node, 1), left, right);
    std::vector<Expression> parts;
    for (const RegexNode& part : node.parts) parts.push_back(write(part, left, right));
    return builder_.choice(parts);
  }

  Expression write_sequence(std::span<const RegexNode> nodes, Side left, Side right) {
    for (; left != Side::inner && !nodes.empty() && is_begin(nodes.front()); nodes = nodes.subspan(1))
      left = Side::closed;
    for (; right != Side::inner && !nodes.empty() && is_end(nodes.back()); nodes = nodes.first(nodes.size() - 1))
      right = Side::closed;
    std::vector<Expression> parts;
    if (nodes.empty() && (left == Side::open || right == Side::open)) return anything();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Side before = i == 0 ? left : Side::inner, behind = i + 1 == nodes.size() ? right : Side::inner;
      if (nodes[i].kind == Kind::sequence || nodes[i].kind == Kind::alternation) {
        parts.push_back(write(nodes[i], before, behind));  // it has its own anchors, or none
        continue;
      }
      if (before == Side::open) parts.push_back(anything());
      parts.push_back(write_one(nodes[i]));
      if (behind == Side::open) parts.push_back(anything());
    }
    return builder_.sequence(parts);
  }

  Expression anything() {
    if (!anything_)
      anything_ = builder_.parts().shared(builder_.repeat(writing_.set(CodePointSet::all()), 0), "anything");
    return *anything_;
  }

  Expression write_one(const RegexNode& node) {
    switch (node.kind) {
      case Kind::set: return writing_.set(tree_.sets[node.set]);
      case Kind::repeat:
        if (node.greed == RegexNode::Greed::possessive) refuse(what_, "a possessive repetition");
        return builder_.repeat(write(node.parts.front(), Side::inner, Side::inner), node.min, node.max);
      case Kind::atomic: refuse(what_, "an atomic group, or \\R");
      case Kind::look_ahead:
      case Kind::not_look_ahead:
      case Kind::look_behind:
      case Kind::not_look_behind: refuse(what_, "a look-around");
      case Kind::word_boundary:
      case Kind::not_word_boundary: refuse(what_, "a word boundary");
      default: refuse(what_, "an anchor (^ or $) in the middle");
    }
  }

  GrammarBuilder& builder_;
  const RegexTree& tree_;
  std::string_view what_;
  const RegexWriting& writing_;
  std::optional<Expression> anything_;
};

std::uint64_t at_most_unlimited(std::uint64_t length) { return std::min<std::uint64_t>(length, kUnlimited); }

// Anchors are empty.
TextLengths lengths_of(const RegexNode& node) {
  switch (node.kind) {
    case Kind::set: return {1, 1};
    case Kind::sequence: {
      TextLengths sum;
      for (const RegexNode& part : node.parts) {
        const TextLengths one = lengths_of(part);
        sum = {at_most_unlimited(sum.least + one.least), at_most_unlimited(sum.most + one.most)};
      }
      return sum;
    }
    case Kind::alternation: {
      TextLengths any{kUnlimited, 0};
      for (const RegexNode& part : node.parts) {
        const TextLengths one = lengths_of(part);
        any = {std::min(any.least, one.least), std::max(any.most, one.most)};
      }
      return any;
    }
    case Kind::repeat: {
      const TextLengths one = lengths_of(node.parts.front());
      const std::uint64_t most = one.most == 0 ? 0 : node.max == kUnlimited ? kUnlimited : one.most * node.max;
      return {at_most_unlimited(one.least * node.min), at_most_unlimited(most)};
    }
    default: return {0, 0};
  }
}

// Whether the expression can match only the whole text.
bool is_anchored(const RegexNode& node) {
  if (node.kind == Kind::alternation) return std::ranges::all_of(node.parts, is_anchored);
  return node.kind == Kind::sequence && node.parts.size() >= 2 && is_begin(node.parts.front()) &&
         is_end(node.parts.back());
}

}  // namespace

Expression regex_expression(GrammarBuilder& builder, std::string_view pattern, std::string_view what,
                            const RegexWriting& writing) {
  const RegexTree tree = parse(pattern, what);
  return RegexWriter(builder, tree, what, writing).write(tree.root);
}

Expression regex_expression(GrammarBuilder& builder, std::string_view pattern, std::string_view what) {
  return regex_expression(builder, pattern, what,
                          {.set = [&](const CodePointSet& set) { return builder.parts().add_set(set); }});
}

TextLengths regex_lengths(std::string_view pattern, std::string_view what) {
  const RegexTree tree = parse(pattern, what);
  const TextLengths lengths = lengths_of(tree.root);
  return {lengths.least, is_anchored(tree.root) ? lengths.most : kUnlimited};
}

std::optional<RepeatedSet> as_repeated_set(std::string_view pattern, std::string_view what) {
  const RegexTree tree = parse(pattern, what);
  if (!is_anchored(tree.root) || tree.root.kind != Kind::sequence || tree.root.parts.size() != 3) return std::nullopt;
  const RegexNode& node = tree.root.parts[1];
  if (node.kind != Kind::repeat || node.parts.front().kind != Kind::set || node.greed == RegexNode::Greed::possessive)
    return std::nullopt;
  return RepeatedSet{tree.sets[node.parts.front().set], node.min, node.max};
}

}  // namespace alate::generation
