// The tokens that may follow in the states of an automaton.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

  // A token, or a node of the tree, and after how many passes of a rule it comes.
  struct Reached {
    std::uint32_t what, passes;
  };
  // The tokens below a node of the tree that a place allows, and the nodes before which its rule may have ended. One
  // that counts serves all numbers of passes that are still needed or left.
  struct Walk {
    std::vector<Reached> tokens;               // with the passes that they begin
    std::vector<Reached> exits;                // with those that are over
    std::vector<std::uint32_t> exits_of_byte;  // of many, in order of their bytes: where those of a byte begin
    std::map<std::uint32_t, TokenMask> masks;  // of many tokens, by the passes that are left
    std::uint32_t most_passes = 0;
    bool is_counted = false;
  };

  static constexpr std::size_t kBytes = 256;
  using ByteSet = std::bitset<kBytes>;

  // Where a rule may have ended: the state then, its bytes, and the nodes of the tree that come next.
  struct Exits {
    StateId after = Automaton::kDead;
    ByteSet bytes = {};
    std::vector<std::uint32_t> nodes = {};
  };

  TokenMask mask_of(StateId state, bool is_first);
  void mark(StateId state, const std::vector<std::uint32_t>& nodes, std::uint32_t without, TokenMask& mask);
  bool counts(const Automaton::Item& item) const;
  static std::optional<std::uint32_t> passes_of(const Automaton::State& state);
  void add_exits(const Automaton::Item& item, const Walk& walk, Exits& exits);
  void add_known(const Automaton::Item& item, Walk& walk, TokenMask& mask, Exits& exits);
  ByteSet bytes_of(std::uint32_t node) const;
  ByteSet first_bytes(StateId state) const;
  std::uint32_t end_of(std::uint32_t node) const { return vocabulary_.nodes()[node].end; }
  bool walk(const Automaton::Item& item, std::uint32_t node, std::uint32_t without, bool is_counted, Walk& result);
  Walk& known_walk(const Automaton::Item& item, std::uint32_t node);
  std::unique_ptr<Walk> make_walk(const Automaton::Item& item, std::uint32_t node, bool is_counted);
  void begin_work();
  void check_work() const;

  const GrammarTables& tables_;
  const Vocabulary& vocabulary_;
  Automaton automaton_;
  std::unordered_map<StateId, std::shared_ptr<const TokenMask>> masks_, first_masks_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Walk>> walks_;  // by state and node
  std::vector<StateId> path_;                                       // of a walk, by depth
  std::unordered_set<std::uint64_t> marked_;                        // states and nodes of a mask
  std::size_t bytes_ = 0;
  std::uint64_t work_ = 0, most_work_ = 0;
  std::size_t most_bytes_ = 0;
};

}  // namespace alate::generation
