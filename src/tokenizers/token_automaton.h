// All tokens that end at each byte of a text, in time that does not grow with the tokens' lengths.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizers/work_budget.h"

namespace alate::tokenizers {

/// Tokens and their ids.
using TokenIds = std::vector<std::pair<std::string, std::int32_t>>;

/// A trie over bytes in flat arrays. Immutable once built.
class FlatTrie {
 public:
  FlatTrie() = default;
  /// `sorted` by text; of equal texts the first one's id remains. No text may be empty.
  explicit FlatTrie(const TokenIds& sorted);

  struct Node {
    std::uint32_t first_edge = 0;
    std::uint32_t edge_count = 0;
    std::int32_t id = -1;  // of the token that ends here, if one does
    std::uint32_t depth = 0;
  };
  struct Edge {
    unsigned char byte;
    std::uint32_t node;
  };

  /// The node that the byte leads to; 0 if there is none, since no edge leads to the root.
  std::uint32_t next(std::uint32_t node, char byte) const;

  std::vector<Node> nodes;  // the root first, then level by level
  std::vector<Edge> edges;  // of each node, by byte
  std::array<std::uint32_t, 256> from_root{};
};

/// The automaton of Aho and Corasick ("Efficient string matching", 1975). Fed with a text from its end to its start,
/// and built of reversed tokens, it tells the tokens that start at each byte. Immutable once built; thread-safe.
class TokenAutomaton {
 public:
  /// Trying each place of a text with tokens up to this length is as good as an automaton.
  static constexpr std::size_t kLongestTried = 128;
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 24;  // of all tokens together

  TokenAutomaton() = default;
  /// No token may be empty; of equal ones the lowest id remains. Throws resource_exhausted beyond kMaxBytes.
  explicit TokenAutomaton(TokenIds tokens);

  static constexpr std::uint32_t kStart = 0;

  bool empty() const { return trie_.nodes.empty(); }
  /// Takes the next byte of the text and returns the number of steps that this has taken, on average two at most.
  std::size_t advance(std::uint32_t& state, char byte) const {
    std::size_t steps = 1;
    std::uint32_t next = trie_.next(state, byte);
    for (; next == 0 && state != kStart; ++steps) {
      state = fallback_[state];
      next = trie_.next(state, byte);
    }
    state = next;
    return steps;
  }
  /// The longest token that the text so far ends with; 0 if there is none.
  std::uint32_t longest(std::uint32_t state) const { return longest_[state]; }
  /// The next shorter one; 0 if there is none.
  std::uint32_t shorter(std::uint32_t token) const { return longest_[fallback_[token]]; }
  std::int32_t id(std::uint32_t token) const { return trie_.nodes[token].id; }
  std::size_t length(std::uint32_t token) const { return trie_.nodes[token].depth; }

 private:
  FlatTrie trie_;
  std::vector<std::uint32_t> fallback_;  // by node, that of the longest other end of its bytes
  std::vector<std::uint32_t> longest_;   // by node, that of the longest token at the end of its bytes; 0: none
};

/// The tokens with their bytes in reverse order.
TokenIds reversed(TokenIds tokens);

struct LongestToken {
  std::int32_t id = -1;  // -1: none
  std::uint32_t length = 0;
};
/// Replaces `longest` by the longest token that starts at each byte of the text. The automaton is that of the reversed
/// tokens.
void find_longest(const TokenAutomaton& automaton, std::string_view text, std::vector<LongestToken>& longest,
                  WorkBudget& budget);

}  // namespace alate::tokenizers
