#include "generation/constraint/automaton.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"

namespace alate::generation {
namespace {

constexpr std::uint32_t kUnlimited = GrammarTables::kUnlimited;

void mix(std::size_t& hash, std::uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL, hash ^= hash >> 29; }

template <typename Entry>  // an Item or a Caller
std::size_t hash_of(std::span<const Entry> entries, std::size_t seed) {
  for (const Entry& entry : entries) {
    mix(seed, std::uint64_t{entry.node} << 32 | entry.frame);
    mix(seed, std::uint64_t{entry.needs} << 32 | entry.left);
  }
  return seed;
}

template <typename Entry>
void sort_unique(std::vector<Entry>& entries) {
  std::ranges::sort(entries);
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
}

}  // namespace

Automaton::Automaton(const GrammarTables& tables) : tables_(tables) {
  intern({}, false, false);  // kDead
  frames_.resize(2);         // kRoot, kAnywhere
  const GrammarTables::Rule& root = tables.rules.front();
  is_complete_ = tables.may_be_empty;
  leaves_ = false;
  add({root.start, root.least, root.most, kRoot});
  close();
}

Automaton::StateId Automaton::compute_step(StateId from, std::uint8_t byte) {
  is_complete_ = leaves_ = false;
  for (const Item& item : states_[from].items) {
    const auto edges = tables_.bytes_of(item.node);
    const auto found = std::ranges::upper_bound(edges, byte, {}, &GrammarTables::ByteEdge::first);
    if (found == edges.begin() || std::prev(found)->last < byte) continue;
    add({std::prev(found)->to, item.needs, item.left, item.frame});
  }
  const StateId to = close();
  std::unique_ptr<std::array<StateId, 256>>& next = states_[from].next;
  if (next == nullptr) {
    next = std::make_unique<std::array<StateId, 256>>();
    next->fill(kUnknown);
    bytes_ += sizeof *next;
  }
  (*next)[byte] = to;
  return to;
}

Automaton::StateId Automaton::step_token(StateId from, std::int32_t token) {
  is_complete_ = leaves_ = false;
  for (const Item& item : states_[from].items) {
    for (const GrammarTables::TokenEdge& edge : tables_.tokens_of(item.node)) {
      if (edge.token == token) add({edge.to, item.needs, item.left, item.frame});
    }
  }
  return close();
}

void Automaton::add(const Item& item) {
  queue_.push_back(item);
  ++work_;
  if (queue_.size() <= kMostItems) return;
  queue_.clear();
  throw make_error(ErrorCode::invalid_argument, "the grammar is too ambiguous: a text can be read in more than ",
                   kMostItems, " ways; write it so that each text has fewer");
}

// The rule of the item is at the end of a pass.
void Automaton::end_pass(const Item& item) {
  const std::uint32_t needs = item.needs == 0 ? 0 : item.needs - 1;
  const std::uint32_t left = item.left == kUnlimited ? kUnlimited : item.left - 1;
  if (left > 0) add({tables_.rules[tables_.nodes[item.node].rule].start, needs, left, item.frame});
  if (needs > 0) return;
  if (item.frame == kRoot) is_complete_ = true;
  if (item.frame == kAnywhere) leaves_ = true;
  for (std::size_t i = 0; i < frames_[item.frame].callers.size(); ++i) {
    const Caller& caller = frames_[item.frame].callers[i];
    add({caller.node, caller.needs, caller.left, caller.frame});
  }
}

// Whether nothing follows but the end of the caller's own rule.
bool Automaton::only_returns(const Caller& caller) const {
  return caller.left == 1 && caller.needs <= 1 && tables_.nodes[caller.node].is_final &&
         tables_.bytes_of(caller.node).empty() && tables_.calls_of(caller.node).empty() &&
         tables_.tokens_of(caller.node).empty() && !frames_[caller.frame].callers.empty();
}

void Automaton::call(const Item& item) {
  for (const GrammarTables::CallEdge& edge : tables_.calls_of(item.node)) {
    const std::uint32_t rank = tables_.rules[edge.rule].rank;
    const Caller caller{edge.to, item.needs, item.left, item.frame};
    if (!only_returns(caller)) {
      pending_.push_back({rank, edge.rule, caller});
      continue;
    }
    // A call at the end of a rule returns to the rule's own callers, so that recursion there takes no frames.
    for (const Caller& outer : frames_[item.frame].callers) pending_.push_back({rank, edge.rule, outer});
  }
  work_ += pending_.size();
}

// Whether an item of the queue is not there before its place too: it may come from several callers.
bool Automaton::is_new(const Item& item, std::size_t place) {
  constexpr std::size_t kFew = 32;
  const auto begin = queue_.begin(), end = begin + static_cast<std::ptrdiff_t>(place);
  if (place < kFew) return std::find(begin, end, item) == end;
  if (place == kFew) many_ = {begin, end};
  return many_.insert(item).second;
}

// The state of what was added.
Automaton::StateId Automaton::close() {
  kept_.clear();
  pending_.clear();
  std::size_t sorted = 0;
  const auto take = [&](Item item) {
    if (tables_.nodes[item.node].is_final) end_pass(item);
    call(item);
    if (!tables_.bytes_of(item.node).empty() || !tables_.tokens_of(item.node).empty()) kept_.push_back(item);
  };
  const auto take_all = [&] {
    for (; sorted < queue_.size(); ++sorted) {
      const Item item = queue_[sorted];
      if (is_new(item, sorted)) take(item);
    }
  };
  take_all();
  // Rules in the order of their ranks: when a rule's turn comes, all its callers are known.
  while (!pending_.empty()) {
    const PendingCall least = *std::ranges::min_element(pending_);
    std::vector<Caller> callers;
    std::erase_if(pending_, [&](const PendingCall& call) {
      if (call.rule != least.rule) return false;
      callers.push_back(call.caller);
      return true;
    });
    work_ += pending_.size() + callers.size();
    const FrameId frame = frame_of(std::move(callers));
    const GrammarTables::Rule& rule = tables_.rules[least.rule];
    add({rule.start, rule.least, rule.most, frame});
    take_all();
  }
  queue_.clear();
  sort_unique(kept_);
  return intern(kept_, is_complete_, leaves_);
}

Automaton::FrameId Automaton::frame_of(std::vector<Caller> callers) {
  sort_unique(callers);
  const std::size_t hash = hash_of<Caller>(callers, 1);
  const auto [begin, end] = frames_by_hash_.equal_range(hash);
  for (auto found = begin; found != end; ++found) {
    if (frames_[found->second].callers == callers) return found->second;
  }
  const auto id = static_cast<FrameId>(frames_.size());
  bytes_ += sizeof(Frame) + callers.size() * sizeof(Caller) + 64;
  frames_.push_back({.callers = std::move(callers)});
  frames_by_hash_.emplace(hash, id);
  return id;
}

Automaton::StateId Automaton::intern(std::vector<Item> items, bool is_complete, bool leaves) {
  const std::size_t hash = hash_of<Item>(items, (is_complete ? 2U : 0U) + (leaves ? 1U : 0U));
  const auto [begin, end] = states_by_hash_.equal_range(hash);
  for (auto found = begin; found != end; ++found) {
    const State& state = states_[found->second];
    if (state.items == items && state.is_complete == is_complete && state.leaves == leaves) return found->second;
  }
  const auto id = static_cast<StateId>(states_.size());
  bytes_ += sizeof(State) + items.size() * sizeof(Item) + 64;
  states_.push_back({.items = std::move(items), .is_complete = is_complete, .leaves = leaves, .next = nullptr});
  states_by_hash_.emplace(hash, id);
  return id;
}

Automaton::StateId Automaton::inside(const Item& item, std::uint32_t horizon) {
  return intern(
      {{item.node, std::min(item.needs, horizon + 1), item.left > horizon ? kUnlimited : item.left, kAnywhere}}, false,
      false);
}

Automaton::StateId Automaton::inside_counted(std::uint32_t node) {
  return intern({{node, 0, kManyPasses, kAnywhere}}, false, false);
}

Automaton::StateId Automaton::after(FrameId frame) {
  if (frames_[frame].after == kUnknown) {
    is_complete_ = leaves_ = false;
    for (const Caller& caller : frames_[frame].callers) add({caller.node, caller.needs, caller.left, caller.frame});
    frames_[frame].after = close();
  }
  return frames_[frame].after;
}

Automaton::StateId Automaton::copy_to(Automaton& other, StateId state) const {
  // A frame's callers have frames with smaller numbers.
  std::vector<bool> is_needed(frames_.size(), false);
  for (const Item& item : states_[state].items) is_needed[item.frame] = true;
  for (std::size_t i = frames_.size(); i-- > 0;) {
    if (!is_needed[i]) continue;
    for (const Caller& caller : frames_[i].callers) is_needed[caller.frame] = true;
  }
  std::vector<FrameId> copies(frames_.size(), 0);
  copies[kAnywhere] = kAnywhere;
  for (std::size_t i = 2; i < frames_.size(); ++i) {
    if (!is_needed[i]) continue;
    std::vector<Caller> callers = frames_[i].callers;
    for (Caller& caller : callers) caller.frame = copies[caller.frame];
    copies[i] = other.frame_of(std::move(callers));
  }
  std::vector<Item> items = states_[state].items;
  for (Item& item : items) item.frame = copies[item.frame];
  sort_unique(items);
  return other.intern(std::move(items), states_[state].is_complete, states_[state].leaves);
}

}  // namespace alate::generation
