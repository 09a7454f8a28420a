// Runs a grammar over bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "generation/constraint/grammar_tables.h"

namespace alate::generation {

/// All places in a grammar that a text may have come to are a state, and states that are equal are one: what follows
/// from a state is computed once. Where rules have been called from are frames; several callers of a rule at the same
/// place in the text share one (a graph-structured stack, Tomita 1985), so that ambiguity does not multiply them.
/// Not thread-safe. `tables` must outlive it.
class Automaton {
 public:
  using StateId = std::uint32_t;
  using FrameId = std::uint32_t;
  static constexpr StateId kDead = 0;  // no text of the grammar begins like this
  static constexpr StateId kStart = 1;
  static constexpr FrameId kAnywhere = 1;  // of the rule of `inside`; as that of the root, it has no callers
  static constexpr std::uint32_t kManyPasses = 1U << 30;

  /// A place in a rule, with how often the rule is still to be passed through, at least and at most.
  struct Item {
    std::uint32_t node, needs, left;
    FrameId frame;
    auto operator<=>(const Item&) const = default;
  };
  struct State {
    std::vector<Item> items;                         // in order; each has edges with bytes or tokens
    bool is_complete = false;                        // the text may end here
    bool leaves = false;                             // a rule that was entered by `inside` may end here
    std::unique_ptr<std::array<StateId, 256>> next;  // kUnknown: not computed
  };

  explicit Automaton(const GrammarTables& tables);

  const State& state(StateId id) const { return states_[id]; }
  /// After one more byte.
  StateId step(StateId from, std::uint8_t byte) {
    const auto& next = states_[from].next;
    if (next != nullptr && (*next)[byte] != kUnknown) return (*next)[byte];
    return compute_step(from, byte);
  }
  /// After a token that the grammar names.
  StateId step_token(StateId from, std::int32_t token);

  /// The state of an item whose rule may have been called from anywhere: `leaves` says where it ends. Numbers of passes
  /// above `horizon`, which no more than that many bytes can tell from it, are taken as it.
  StateId inside(const Item& item, std::uint32_t horizon);
  /// The same with kManyPasses left, of which none is needed, so that passes can be counted.
  StateId inside_counted(std::uint32_t node);
  /// The state after the rule that was called from a frame's callers has ended.
  StateId after(FrameId frame);

  /// The state with the same meaning in another automaton of the same tables.
  StateId copy_to(Automaton& other, StateId state) const;

  /// About how much memory the states and frames take.
  std::size_t bytes() const { return bytes_; }
  /// Steps computed so far; each takes about 50 ns.
  std::uint64_t work() const { return work_; }

 private:
  static constexpr StateId kUnknown = 0xFFFFFFFF;
  static constexpr FrameId kRoot = 0;
  static constexpr std::size_t kMostItems = 4096;  // of a state

  struct Caller {
    std::uint32_t node, needs, left;  // where it goes on
    FrameId frame;
    auto operator<=>(const Caller&) const = default;
  };
  struct Frame {
    std::vector<Caller> callers;
    StateId after = kUnknown;
  };
  struct PendingCall {
    std::uint32_t rank, rule;
    Caller caller;
    auto operator<=>(const PendingCall&) const = default;
  };

  StateId compute_step(StateId from, std::uint8_t byte);
  void add(const Item& item);
  void end_pass(const Item& item);
  void call(const Item& item);
  bool only_returns(const Caller& caller) const;
  bool is_new(const Item& item, std::size_t place);
  StateId close();
  FrameId frame_of(std::vector<Caller> callers);
  StateId intern(std::vector<Item> items, bool is_complete, bool leaves);

  const GrammarTables& tables_;
  std::vector<State> states_;
  std::vector<Frame> frames_;
  std::unordered_multimap<std::size_t, StateId> states_by_hash_;
  std::unordered_multimap<std::size_t, FrameId> frames_by_hash_;
  std::size_t bytes_ = 0;
  std::uint64_t work_ = 0;
  // Of the state under way.
  std::vector<Item> queue_, kept_;
  std::set<Item> many_;  // those of a long queue
  std::vector<PendingCall> pending_;
  bool is_complete_ = false, leaves_ = false;
};

}  // namespace alate::generation
