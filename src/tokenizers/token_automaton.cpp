#include "tokenizers/token_automaton.h"

#include <algorithm>

#include "alate/error.h"

namespace alate::tokenizers {

FlatTrie::FlatTrie(const TokenIds& sorted) {
  // Breadth-first over ranges of sorted tokens with a common prefix, so that a node's edges are contiguous.
  struct Range {
    std::size_t begin;
    std::size_t end;
  };
  std::vector<Range> ranges{{0, sorted.size()}};
  nodes.emplace_back();
  for (std::size_t node = 0; node < ranges.size(); ++node) {
    auto [at, end] = ranges[node];
    const std::size_t depth = nodes[node].depth;
    if (at < end && sorted[at].first.size() == depth) nodes[node].id = sorted[at].second;
    while (at < end && sorted[at].first.size() == depth) ++at;
    nodes[node].first_edge = static_cast<std::uint32_t>(edges.size());
    while (at < end) {
      const char byte = sorted[at].first[depth];
      std::size_t next = at;
      while (next < end && sorted[next].first[depth] == byte) ++next;
      edges.push_back({static_cast<unsigned char>(byte), static_cast<std::uint32_t>(ranges.size())});
      ranges.push_back({at, next});
      nodes.emplace_back().depth = static_cast<std::uint32_t>(depth + 1);
      at = next;
    }
    nodes[node].edge_count = static_cast<std::uint32_t>(edges.size()) - nodes[node].first_edge;
  }
  for (std::uint32_t i = 0; i < nodes[0].edge_count; ++i) from_root[edges[i].byte] = edges[i].node;
}

std::uint32_t FlatTrie::next(std::uint32_t node, char byte) const {
  const auto wanted = static_cast<unsigned char>(byte);
  if (node == 0) return from_root[wanted];
  const Edge* first = edges.data() + nodes[node].first_edge;
  const Edge* last = first + nodes[node].edge_count;
  const Edge* found =
      std::lower_bound(first, last, wanted, [](const Edge& edge, unsigned char value) { return edge.byte < value; });
  return found != last && found->byte == wanted ? found->node : 0;
}

TokenAutomaton::TokenAutomaton(TokenIds tokens) {
  std::size_t bytes = 0;
  for (const auto& [token, id] : tokens) bytes += token.size();
  if (bytes > kMaxBytes)
    throw make_error(ErrorCode::resource_exhausted, "tokens of which one has over ", kLongestTried, " bytes have ",
                     bytes, " bytes together; ", kMaxBytes, " are allowed");
  std::sort(tokens.begin(), tokens.end());
  trie_ = FlatTrie(tokens);
  const auto& nodes = trie_.nodes;
  fallback_.assign(nodes.size(), 0);
  longest_.assign(nodes.size(), 0);
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    longest_[node] = nodes[node].id >= 0 ? node : longest_[fallback_[node]];
    for (std::uint32_t i = 0; i < nodes[node].edge_count; ++i) {
      const FlatTrie::Edge& edge = trie_.edges[nodes[node].first_edge + i];
      if (node == 0) continue;
      std::uint32_t from = fallback_[node];
      while (from != 0 && trie_.next(from, static_cast<char>(edge.byte)) == 0) from = fallback_[from];
      fallback_[edge.node] = trie_.next(from, static_cast<char>(edge.byte));
    }
  }
}

TokenIds reversed(TokenIds tokens) {
  for (auto& [token, id] : tokens) std::reverse(token.begin(), token.end());
  return tokens;
}

void find_longest(const TokenAutomaton& automaton, std::string_view text, std::vector<LongestToken>& longest,
                  WorkBudget& budget) {
  longest.assign(text.size(), LongestToken());
  std::uint32_t state = TokenAutomaton::kStart;
  for (std::size_t begin = text.size(); begin-- > 0;) {
    budget.count_steps(automaton.advance(state, text[begin]));
    const std::uint32_t token = automaton.longest(state);
    if (token == 0) continue;
    longest[begin] = {automaton.id(token), static_cast<std::uint32_t>(automaton.length(token))};
  }
}

}  // namespace alate::tokenizers
