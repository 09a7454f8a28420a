// Leftmost-longest matching of a fixed set of tokens in a text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alate::tokenizers {

/// A byte trie in flat arrays. Immutable once built.
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

  bool empty() const { return nodes_.empty(); }
  /// The first match that starts at `from` or later.
  std::optional<Found> find(std::string_view text, std::size_t from) const;

 private:
  struct Node {
    std::uint32_t first_edge = 0;
    std::uint32_t edge_count = 0;
    std::int32_t id = -1;
  };
  struct Edge {
    unsigned char byte;
    std::uint32_t node;
  };

  const Edge* edge(const Node& node, char byte) const;

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::array<bool, 256> starts_{};
};

}  // namespace alate::tokenizers
