#include "tokenizers/token_matcher.h"

#include <algorithm>
#include <utility>

namespace alate::tokenizers {

TokenMatcher::TokenMatcher(TokenIds tokens) {
  if (tokens.empty()) return;
  std::sort(tokens.begin(), tokens.end());
  forward_ = FlatTrie(tokens);
  if (forward_.nodes.back().depth > TokenAutomaton::kLongestTried)
    backward_ = TokenAutomaton(reversed(std::move(tokens)));
}

void TokenMatcher::find_all(std::string_view text, std::vector<Found>& found, WorkBudget& budget) const {
  found.clear();
  if (empty()) return;
  if (backward_.empty()) {
    scan_forward(text, found, budget);
  } else {
    scan_backward(text, found, budget);
  }
}

void TokenMatcher::scan_forward(std::string_view text, std::vector<Found>& found, WorkBudget& budget) const {
  Progress progress(budget);
  for (std::size_t begin = 0; begin < text.size();) {
    progress.reached(begin);
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

void TokenMatcher::scan_backward(std::string_view text, std::vector<Found>& found, WorkBudget& budget) const {
  std::uint32_t state = TokenAutomaton::kStart;
  for (std::size_t begin = text.size(); begin-- > 0;) {
    budget.count_steps(backward_.advance(state, text[begin]));
    const std::uint32_t token = backward_.longest(state);
    if (token != 0) found.push_back({begin, begin + backward_.length(token), backward_.id(token)});
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
