#include "generation/constraint/token_masks.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"

namespace alate::generation {
namespace {

constexpr std::uint64_t kMostWork = 5'000'000;  // of a mask: a quarter of a second
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::uint32_t kLargeTree = 256;      // nodes below one; smaller ones are walked each time
constexpr std::uint32_t kRoot = 0, kNone = 0;  // the root is no node to leave out

void set_bit(TokenMask& mask, std::int32_t token) {
  const auto at = static_cast<std::size_t>(token);
  if (at / 32 < mask.size()) mask[at / 32] |= 1U << at % 32;
}

std::uint64_t pair_of(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }

}  // namespace

TokenMasks::TokenMasks(const GrammarTables& tables, const Vocabulary& vocabulary)
    : tables_(tables), vocabulary_(vocabulary), automaton_(tables), path_(vocabulary.longest() + 1) {}

void TokenMasks::begin_work() {
  most_work_ = automaton_.work() + work_ + kMostWork;
  most_bytes_ = bytes() + kMostBytes;
}

void TokenMasks::check_work() const {
  if (automaton_.work() + work_ > most_work_ || bytes() > most_bytes_)
    throw Error(ErrorCode::invalid_argument,
                "the grammar takes too long to follow: it is too ambiguous; write it so that a text can be read in "
                "fewer ways");
}

std::shared_ptr<const TokenMask> TokenMasks::mask(StateId state) {
  std::shared_ptr<const TokenMask>& known = masks_[state];
  if (known == nullptr) {
    known = std::make_shared<const TokenMask>(mask_of(state, false));
    bytes_ += known->size() * sizeof(std::uint32_t) + 64;
  }
  return known;
}

std::shared_ptr<const TokenMask> TokenMasks::first_mask(StateId state) {
  if (!vocabulary_.drops_first_space()) return mask(state);
  std::shared_ptr<const TokenMask>& known = first_masks_[state];
  if (known == nullptr) {
    known = std::make_shared<const TokenMask>(mask_of(state, true));
    bytes_ += known->size() * sizeof(std::uint32_t) + 64;
  }
  return known;
}

TokenMask TokenMasks::mask_of(StateId state, bool is_first) {
  begin_work();
  TokenMask mask(vocabulary_.mask_words(), 0);
  for (const Automaton::Item& item : automaton_.state(state).items) {
    for (const GrammarTables::TokenEdge& edge : tables_.tokens_of(item.node)) set_bit(mask, edge.token);
  }
  marked_.clear();
  // Of a first token that begins with a space, what is shown is the rest.
  const std::uint32_t space = is_first ? vocabulary_.first(' ') : kNone;
  mark(state, {kRoot}, space, mask);
  if (space != kNone) {
    std::vector<std::uint32_t> rests;
    for (std::uint32_t rest = space + 1; rest < end_of(space); rest = end_of(rest)) rests.push_back(rest);
    mark(state, rests, kNone, mask);
  }
  return mask;
}

// Adds the tokens of the trees below `nodes`, these included, that continue a text in the state, where the text ends
// with what is on the way to them.
void TokenMasks::mark(StateId state, const std::vector<std::uint32_t>& nodes, std::uint32_t without, TokenMask& mask) {
  const std::vector<Automaton::Item> items = automaton_.state(state).items;
  Walk own;
  for (const Automaton::Item& item : items) {
    Exits exits{.after = automaton_.after(item.frame)};
    exits.bytes = first_bytes(exits.after);
    const ByteSet bytes = bytes_of(item.node);
    for (const std::uint32_t node : nodes) {
      if (node != kRoot && !bytes.test(vocabulary_.nodes()[node].byte)) continue;
      if (end_of(node) - node > kLargeTree && without == kNone) {
        add_known(item, known_walk(item, node), mask, exits);
        continue;
      }
      if (!walk(item, node, without, counts(item), own)) walk(item, node, without, false, own);
      for (const Reached& token : own.tokens) {
        if (token.passes <= item.left) set_bit(mask, static_cast<std::int32_t>(token.what));
      }
      add_exits(item, own, exits);
    }
    if (!exits.nodes.empty()) mark(exits.after, exits.nodes, kNone, mask);
  }
}

TokenMasks::ByteSet TokenMasks::bytes_of(std::uint32_t node) const {
  ByteSet bytes;
  for (const GrammarTables::ByteEdge& edge : tables_.bytes_of(node)) {
    for (unsigned byte = edge.first; byte <= edge.last; ++byte) bytes.set(byte);
  }
  return bytes;
}

TokenMasks::ByteSet TokenMasks::first_bytes(StateId state) const {
  ByteSet bytes;
  for (const Automaton::Item& item : automaton_.state(state).items) bytes |= bytes_of(item.node);
  return bytes;
}

// Whether a walk from the item counts passes, so that it serves all numbers of them.
bool TokenMasks::counts(const Automaton::Item& item) const {
  const GrammarTables::Rule& rule = tables_.rules[tables_.nodes[item.node].rule];
  return rule.most != 1 && !(rule.most == GrammarTables::kUnlimited && rule.least <= 1);
}

// Of the places behind a walk's exits, those at which the text can go on.
void TokenMasks::add_exits(const Automaton::Item& item, const Walk& walk, Exits& exits) {
  const auto add = [&](const Reached& exit) {
    if (walk.is_counted && (exit.passes < item.needs || exit.passes > item.left)) return;
    if (marked_.insert(pair_of(exits.after, exit.what)).second) exits.nodes.push_back(exit.what);
    ++work_;
  };
  const std::span<const Vocabulary::Node> nodes = vocabulary_.nodes();
  if (walk.exits_of_byte.empty()) {
    for (const Reached& exit : walk.exits) {
      if (exits.bytes.test(nodes[exit.what].byte)) add(exit);
    }
    return;
  }
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    if (!exits.bytes.test(byte)) continue;
    for (std::uint32_t i = walk.exits_of_byte[byte]; i < walk.exits_of_byte[byte + 1]; ++i) add(walk.exits[i]);
  }
}

void TokenMasks::add_known(const Automaton::Item& item, Walk& walk, TokenMask& mask, Exits& exits) {
  add_exits(item, walk, exits);
  work_ += mask.size() / 16;
  check_work();
  const std::uint32_t passes = std::min(item.left, walk.most_passes);
  if (walk.tokens.size() <= mask.size()) {
    for (const Reached& token : walk.tokens) {
      if (token.passes <= passes) set_bit(mask, static_cast<std::int32_t>(token.what));
    }
    return;
  }
  TokenMask& known = walk.masks[passes];
  if (known.empty()) {
    known.assign(mask.size(), 0);
    bytes_ += known.size() * sizeof(std::uint32_t) + 64;
    for (const Reached& token : walk.tokens) {
      if (token.passes <= passes) set_bit(known, static_cast<std::int32_t>(token.what));
    }
  }
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] |= known[i];
}

// Where a walk that counts comes to: how many passes of the first item's rule are over, if that is certain.
std::optional<std::uint32_t> TokenMasks::passes_of(const Automaton::State& state) {
  std::optional<std::uint32_t> passes;
  for (const Automaton::Item& item : state.items) {
    if (item.frame != Automaton::kAnywhere) return std::nullopt;
    const std::uint32_t own = Automaton::kManyPasses - item.left;
    if (passes && *passes != own) return std::nullopt;
    passes = own;
  }
  return passes;
}

// Replaces `result` by the tokens and exits of the tree below a node, this included. False, if it is to count passes
// and cannot tell them.
bool TokenMasks::walk(const Automaton::Item& item, std::uint32_t node, std::uint32_t without, bool is_counted,
                      Walk& result) {
  const std::span<const Vocabulary::Node> nodes = vocabulary_.nodes();
  result.tokens.clear();
  result.exits.clear();
  result.is_counted = is_counted;
  result.most_passes = 0;
  result.exits_of_byte.clear();
  path_[node == kRoot ? 0U : nodes[node].depth - 1U] =
      is_counted ? automaton_.inside_counted(item.node)
                 : automaton_.inside(item, static_cast<std::uint32_t>(vocabulary_.longest()));
  for (std::uint32_t i = std::max(node, kRoot + 1); i < nodes[node].end;) {
    const Vocabulary::Node& at = nodes[i];
    const StateId to = automaton_.step(path_[at.depth - 1U], at.byte);
    if (to == Automaton::kDead || i == without) {
      i = at.end;
      continue;
    }
    const Automaton::State& state = automaton_.state(to);
    std::uint32_t passes = 0, begun = 0;
    if (is_counted) {
      const std::optional<std::uint32_t> certain = passes_of(state);
      if (!certain) return false;
      passes = *certain;
      begun = state.leaves ? passes : passes + 1;
      result.most_passes = std::max(result.most_passes, begun);
    }
    for (const std::int32_t token : vocabulary_.tokens(i))
      result.tokens.push_back({static_cast<std::uint32_t>(token), begun});
    if (state.leaves) {
      for (std::uint32_t next = i + 1; next < at.end; next = nodes[next].end) result.exits.push_back({next, passes});
    }
    path_[at.depth] = to;
    i = state.items.empty() ? at.end : i + 1;
    check_work();
  }
  work_ += result.tokens.size() / 8;
  return true;
}

TokenMasks::Walk& TokenMasks::known_walk(const Automaton::Item& item, std::uint32_t node) {
  if (counts(item)) {
    std::unique_ptr<Walk>& known = walks_[pair_of(automaton_.inside_counted(item.node), node)];
    if (known == nullptr) known = make_walk(item, node, true);
    if (known->is_counted) return *known;
  }
  const auto horizon = static_cast<std::uint32_t>(vocabulary_.longest());
  std::unique_ptr<Walk>& known = walks_[pair_of(automaton_.inside(item, horizon), node)];
  if (known == nullptr) known = make_walk(item, node, false);
  return *known;
}

std::unique_ptr<TokenMasks::Walk> TokenMasks::make_walk(const Automaton::Item& item, std::uint32_t node,
                                                        bool is_counted) {
  auto made = std::make_unique<Walk>();
  if (!walk(item, node, kNone, is_counted, *made)) *made = {};  // one that does not count says so
  made->tokens.shrink_to_fit();
  made->exits.shrink_to_fit();
  if (made->exits.size() > kBytes) {
    const auto byte_of = [&](const Reached& exit) { return vocabulary_.nodes()[exit.what].byte; };
    std::ranges::stable_sort(made->exits, {}, byte_of);
    for (std::size_t byte = 0; byte <= kBytes; ++byte)
      made->exits_of_byte.push_back(
          static_cast<std::uint32_t>(std::ranges::lower_bound(made->exits, byte, {}, byte_of) - made->exits.begin()));
  }
  bytes_ += sizeof *made + 64 + (made->tokens.size() + made->exits.size()) * sizeof(Reached);
  return made;
}

Automaton::StateId TokenMasks::after_token(StateId state, std::int32_t token, bool is_first) {
  begin_work();
  if (token < 0 || static_cast<std::size_t>(token) >= vocabulary_.size()) return Automaton::kDead;
  if (const StateId named = automaton_.step_token(state, token); named != Automaton::kDead) return named;
  std::string_view text = vocabulary_.text(token);
  if (is_first && vocabulary_.drops_first_space() && text.starts_with(' ')) text.remove_prefix(1);
  if (text.empty()) return Automaton::kDead;
  for (const char byte : text) {
    state = automaton_.step(state, static_cast<std::uint8_t>(byte));
    check_work();
  }
  return state;
}

void TokenMasks::prepare() {
  constexpr std::size_t kMostPlaces = 16;
  constexpr std::size_t kManyBytes = 48;  // that may follow
  first_mask(Automaton::kStart);
  std::size_t places = 0;
  for (std::uint32_t node = 0; node < tables_.nodes.size() && places < kMostPlaces; ++node) {
    std::size_t bytes = 0;
    for (const GrammarTables::ByteEdge& edge : tables_.bytes_of(node)) bytes += edge.last - edge.first + 1U;
    if (bytes < kManyBytes) continue;
    const GrammarTables::Rule& rule = tables_.rules[tables_.nodes[node].rule];
    begin_work();
    known_walk({node, rule.least, rule.most, 0}, kRoot);
    ++places;
  }
}

}  // namespace alate::generation
