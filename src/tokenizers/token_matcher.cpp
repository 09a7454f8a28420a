#include "tokenizers/token_matcher.h"

#include <algorithm>

namespace alate::tokenizers {
namespace {

// Trying each position reads at most so many bytes for each byte of the text.
constexpr std::size_t kLongestTried = 128;

}  // namespace

TokenMatcher::Trie::Trie(const std::vector<std::pair<std::string, std::int32_t>>& sorted) {
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
    if (sorted[at].first.size() == depth) nodes[node].id = sorted[at].second;
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

std::uint32_t TokenMatcher::Trie::next(std::uint32_t node, char byte) const {
  const auto wanted = static_cast<unsigned char>(byte);
  if (node == 0) return from_root[wanted];
  const Edge* first = edges.data() + nodes[node].first_edge;
  const Edge* last = first + nodes[node].edge_count;
  const Edge* found =
      std::lower_bound(first, last, wanted, [](const Edge& edge, unsigned char value) { return edge.byte < value; });
  return found != last && found->byte == wanted ? found->node : 0;
}

TokenMatcher::TokenMatcher(std::vector<std::pair<std::string, std::int32_t>> tokens) {
  if (tokens.empty()) return;
  std::sort(tokens.begin(), tokens.end());
  forward_ = Trie(tokens);
  if (forward_.nodes.back().depth > kLongestTried) make_backward(std::move(tokens));
}

void TokenMatcher::make_backward(std::vector<std::pair<std::string, std::int32_t>> tokens) {
  for (auto& [token, id] : tokens) std::reverse(token.begin(), token.end());
  std::sort(tokens.begin(), tokens.end());
  backward_ = Trie(tokens);
  const auto& nodes = backward_.nodes;
  fallback_.assign(nodes.size(), 0);
  longest_.assign(nodes.size(), 0);
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    longest_[node] = nodes[node].id >= 0 ? node : longest_[fallback_[node]];
    for (std::uint32_t i = 0; i < nodes[node].edge_count; ++i) {
      const Edge& edge = backward_.edges[nodes[node].first_edge + i];
      if (node == 0) continue;
      std::uint32_t from = fallback_[node];
      while (from != 0 && backward_.next(from, static_cast<char>(edge.byte)) == 0) from = fallback_[from];
      fallback_[edge.node] = backward_.next(from, static_cast<char>(edge.byte));
    }
  }
}

void TokenMatcher::find_all(std::string_view text, std::vector<Found>& found) const {
  found.clear();
  if (empty()) return;
  if (backward_.nodes.empty()) {
    scan_forward(text, found);
  } else {
    scan_backward(text, found);
  }
}

void TokenMatcher::scan_forward(std::string_view text, std::vector<Found>& found) const {
  for (std::size_t begin = 0; begin < text.size();) {
    std::uint32_t node = forward_.from_root[static_cast<unsigned char>(text[begin])];
    if (node == 0) {
      ++begin;
      continue;
    }
    Found longest{begin, begin, -1};
    for (std::size_t at = begin + 1;; ++at) {
      if (forward_.nodes[node].id >= 0) longest = {begin, at, forward_.nodes[node].id};
      if (at == text.size()) break;
      node = forward_.next(node, text[at]);
      if (node == 0) break;
    }
    if (longest.id >= 0) found.push_back(longest);
    begin = std::max(longest.end, begin + 1);
  }
}

void TokenMatcher::scan_backward(std::string_view text, std::vector<Found>& found) const {
  std::uint32_t node = 0;
  for (std::size_t begin = text.size(); begin-- > 0;) {
    std::uint32_t next = backward_.next(node, text[begin]);
    while (next == 0 && node != 0) {
      node = fallback_[node];
      next = backward_.next(node, text[begin]);
    }
    node = next;
    const std::uint32_t token = longest_[node];
    if (token != 0) found.push_back({begin, begin + backward_.nodes[token].depth, backward_.nodes[token].id});
  }
  std::reverse(found.begin(), found.end());
  std::size_t done = 0;
  std::erase_if(found, [&](const Found& match) {
    if (match.begin < done) return true;
    done = match.end;
    return false;
  });
}

}  // namespace alate::tokenizers
