// The syntax tree of a regular expression, in which every character class is a set of code points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tokenizers/regex/code_point_set.h"

namespace alate::tokenizers {

/// What \d, \w, \s and the dot are.
enum class RegexClasses : std::uint8_t {
  oniguruma,  // as Unicode has them
  portable,   // as narrow as in any usual dialect: digits, letters and spaces of ASCII, no line separators
};

struct RegexNode {
  enum class Kind : std::uint8_t {
    set,          // one code point of `set`
    sequence,     // all parts in order; matches nothing if there are none
    alternation,  // the first part that leads to a match
    repeat,       // the only part, `min` to `max` times
    atomic,       // the only part, without backtracking into it
    look_ahead,
    not_look_ahead,
    look_behind,
    not_look_behind,
    begin_line,
    end_line,
    begin_text,
    end_text,
    end_text_or_last_newline,
    word_boundary,
    not_word_boundary,
  };
  enum class Greed : std::uint8_t { greedy, lazy, possessive };
  static constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

  Kind kind = Kind::sequence;
  Greed greed = Greed::greedy;
  std::uint32_t min = 0;
  std::uint32_t max = 0;
  std::size_t set = 0;  // in RegexTree::sets
  std::vector<RegexNode> parts;
};

struct RegexTree {
  RegexNode root;
  std::vector<CodePointSet> sets;  // each is there once
  std::size_t newline = 0;         // the set of the line feed; valid if a node is about lines
  std::size_t word = 0;            // the set of word characters; valid if a node is about words
};

}  // namespace alate::tokenizers
