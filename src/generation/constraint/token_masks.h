// The tokens that may follow in the states of an automaton.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "generation/constraint/automaton.h"
#include "generation/constraint/vocabulary.h"

namespace alate::generation {

/// A bit for each token: token i has bit i % 32 of word i / 32.
using TokenMask = std::vector<std::uint32_t>;

/// Masks of states, computed at their first use. Most tokens stay within the rule that a text has come to, and whether
/// they do depends on the place in the rule only: that is walked once for each place, through the tree of all tokens.
/// What is left for a state are the tokens that go beyond the end of a rule. Not thread-safe. Grammar and vocabulary
/// must outlive it.
class TokenMasks {
 public:
  TokenMasks(const GrammarTables& tables, const Vocabulary& vocabulary);

  Automaton& automaton() { return automaton_; }
  /// Throws invalid_argument for a grammar that takes too long here.
  std::shared_ptr<const TokenMask> mask(Automaton::StateId state);
  /// Of the first token of a text, which may lose a space.
  std::shared_ptr<const TokenMask> first_mask(Automaton::StateId state);
  /// After a token; kDead if the token is not allowed.
  Automaton::StateId after_token(Automaton::StateId state, std::int32_t token, bool is_first);

  /// Walks from the places that most tokens can follow, so that the first texts need not.
  void prepare();

  /// About how much memory all takes.
  std::size_t bytes() const { return automaton_.bytes() + bytes_; }

 private:
  using StateId = Automaton::StateId;

  // The tokens below a node of the tree that a place allows, and the nodes at which its rule may have ended.
  struct Walk {
    std::vector<std::int32_t> tokens;
    TokenMask mask;  // in place of many tokens
    std::vector<std::uint32_t> exits;
  };

  TokenMask mask_of(StateId state, bool is_first);
  void mark(StateId state, const std::vector<std::uint32_t>& nodes, std::uint32_t without, TokenMask& mask);
  void walk(StateId from, std::uint32_t node, std::uint32_t without, Walk& result);
  const Walk& known_walk(StateId from, std::uint32_t node);
  void begin_work();
  void check_work() const;

  const GrammarTables& tables_;
  const Vocabulary& vocabulary_;
  Automaton automaton_;
  std::unordered_map<StateId, std::shared_ptr<const TokenMask>> masks_, first_masks_;
  std::unordered_map<std::uint64_t, std::unique_ptr<const Walk>> walks_;  // by state and node
  std::vector<StateId> path_;                                             // of a walk, by depth
  std::unordered_set<std::uint64_t> marked_;                              // states and nodes of a mask
  std::size_t bytes_ = 0;
  std::uint64_t most_work_ = 0;
};

}  // namespace alate::generation
