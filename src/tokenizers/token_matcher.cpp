#include "tokenizers/token_matcher.h"

#include <algorithm>

namespace alate::tokenizers {

TokenMatcher::TokenMatcher(std::vector<std::pair<std::string, std::int32_t>> tokens) {
  if (tokens.empty()) return;
  std::sort(tokens.begin(), tokens.end());
  // Breadth-first over ranges of sorted tokens with a common prefix, so that a node's edges are contiguous.
  struct Range {
    std::size_t begin;
    std::size_t end;
    std::size_t depth;
  };
  std::vector<Range> ranges{{0, tokens.size(), 0}};
  nodes_.emplace_back();
  for (std::size_t node = 0; node < ranges.size(); ++node) {
    auto [at, end, depth] = ranges[node];
    if (tokens[at].first.size() == depth) nodes_[node].id = tokens[at].second;
    while (at < end && tokens[at].first.size() == depth) ++at;
    nodes_[node].first_edge = static_cast<std::uint32_t>(edges_.size());
    while (at < end) {
      const char byte = tokens[at].first[depth];
      std::size_t next = at;
      while (next < end && tokens[next].first[depth] == byte) ++next;
      edges_.push_back({static_cast<unsigned char>(byte), static_cast<std::uint32_t>(ranges.size())});
      ranges.push_back({at, next, depth + 1});
      nodes_.emplace_back();
      at = next;
    }
    nodes_[node].edge_count = static_cast<std::uint32_t>(edges_.size()) - nodes_[node].first_edge;
  }
  for (std::uint32_t i = 0; i < nodes_[0].edge_count; ++i) starts_[edges_[i].byte] = true;
}

const TokenMatcher::Edge* TokenMatcher::edge(const Node& node, char byte) const {
  const Edge* first = edges_.data() + node.first_edge;
  const Edge* last = first + node.edge_count;
  const auto wanted = static_cast<unsigned char>(byte);
  const Edge* found =
      std::lower_bound(first, last, wanted, [](const Edge& e, unsigned char value) { return e.byte < value; });
  return found != last && found->byte == wanted ? found : nullptr;
}

std::optional<TokenMatcher::Found> TokenMatcher::find(std::string_view text, std::size_t from) const {
  if (empty()) return std::nullopt;
  for (std::size_t begin = from; begin < text.size(); ++begin) {
    if (!starts_[static_cast<unsigned char>(text[begin])]) continue;
    std::optional<Found> longest;
    const Node* node = &nodes_[0];
    for (std::size_t at = begin; at < text.size(); ++at) {
      const Edge* next = edge(*node, text[at]);
      if (next == nullptr) break;
      node = &nodes_[next->node];
      if (node->id >= 0) longest = Found{begin, at + 1, node->id};
    }
    if (longest.has_value()) return longest;
  }
  return std::nullopt;
}

}  // namespace alate::tokenizers
