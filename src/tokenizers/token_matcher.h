// Leftmost-longest matching of a fixed set of tokens in a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizers/token_automaton.h"
#include "tokenizers/work_budget.h"

namespace alate::tokenizers {

/// Immutable once built; thread-safe.
class TokenMatcher {
 public:
  struct Found {
    std::size_t begin;
    std::size_t end;
    std::int32_t id;
  };

  TokenMatcher() = default;
  /// Of equal tokens the one with the lowest id matches. No token may be empty.
  explicit TokenMatcher(TokenIds tokens);

  bool empty() const { return forward_.nodes.empty(); }
  /// Replaces `found` by the matches, in order: each is the longest of those that start first behind the one before.
  void find_all(std::string_view text, std::vector<Found>& found, WorkBudget& budget) const;

 private:
  void scan_forward(std::string_view text, std::vector<Found>& found, WorkBudget& budget) const;
  void scan_backward(std::string_view text, std::vector<Found>& found, WorkBudget& budget) const;

  FlatTrie forward_;
  TokenAutomaton backward_;  // of the reversed tokens, where trying each place may take long; otherwise empty
};

}  // namespace alate::tokenizers
