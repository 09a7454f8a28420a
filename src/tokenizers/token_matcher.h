// Leftmost-longest matching of a fixed set of tokens in a text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alate::tokenizers {

/// Byte tries in flat arrays. Immutable once built; thread-safe.
class TokenMatcher {
 public:
  struct Found {
    std::size_t begin;
    std::size_t end;
    std::int32_t id;
  };

  TokenMatcher() = default;
  /// Of equal tokens the one with the lowest id matches. No token may be empty.
  explicit TokenMatcher(std::vector<std::pair<std::string, std::int32_t>> tokens);

  bool empty() const { return forward_.nodes.empty(); }
  /// Replaces `found` by the matches, in order: each is the longest of those that start first behind the one before.
  void find_all(std::string_view text, std::vector<Found>& found) const;

 private:
  struct Node {
    std::uint32_t first_edge = 0;
    std::uint32_t edge_count = 0;
    std::int32_t id = -1;
    std::uint32_t depth = 0;
  };
  struct Edge {
    unsigned char byte;
    std::uint32_t node;
  };
  struct Trie {
    explicit Trie(const std::vector<std::pair<std::string, std::int32_t>>& sorted);
    Trie() = default;

    /// The node that the byte leads to; 0 if there is none, since no edge leads to the root.
    std::uint32_t next(std::uint32_t node, char byte) const;

    std::vector<Node> nodes;  // the root first, then level by level
    std::vector<Edge> edges;  // of each node, by byte
    std::array<std::uint32_t, 256> from_root{};
  };

  void make_backward(std::vector<std::pair<std::string, std::int32_t>> tokens);
  void scan_forward(std::string_view text, std::vector<Found>& found) const;
  void scan_backward(std::string_view text, std::vector<Found>& found) const;

  Trie forward_;
  // Where tokens are so long that trying each position may take long: an Aho-Corasick automaton of the reversed tokens,
  // which tells for each position the longest token that starts there. Otherwise empty.
  Trie backward_;
  std::vector<std::uint32_t> fallback_;  // by node, that of the longest other end of its bytes
  std::vector<std::uint32_t> longest_;   // by node, that of the longest token at the end of its bytes; 0: none
};

}  // namespace alate::tokenizers
