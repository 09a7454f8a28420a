#include "generation/constraint/token_masks.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"

namespace alate::generation {
namespace {

constexpr std::uint64_t kMostWork = 20'000'000;  // of a mask: about a second
constexpr std::uint32_t kLargeTree = 256;        // nodes below one; smaller ones are walked each time
constexpr std::uint32_t kNone = 0;               // the root is no node to leave out

void set_bit(TokenMask& mask, std::int32_t token) {
  const auto at = static_cast<std::size_t>(token);
  if (at / 32 < mask.size()) mask[at / 32] |= 1U << at % 32;
}

std::uint64_t pair_of(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }

}  // namespace

TokenMasks::TokenMasks(const GrammarTables& tables, const Vocabulary& vocabulary)
    : tables_(tables), vocabulary_(vocabulary), automaton_(tables), path_(vocabulary.longest() + 1) {}

void TokenMasks::begin_work() { most_work_ = automaton_.work() + kMostWork; }

void TokenMasks::check_work() const {
  if (automaton_.work() > most_work_)
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
  mark(state, {0}, space, mask);
  if (space != kNone) mark(state, {space}, kNone, mask);
  return mask;
}

// Adds the tokens below nodes that continue a text in the state, where the text ends with what is on the way to them.
void TokenMasks::mark(StateId state, const std::vector<std::uint32_t>& nodes, std::uint32_t without, TokenMask& mask) {
  const std::vector<Automaton::Item> items = automaton_.state(state).items;
  const auto horizon = static_cast<std::uint32_t>(vocabulary_.longest());
  Walk own;
  std::vector<std::uint32_t> exits;
  for (const Automaton::Item& item : items) {
    const StateId inside = automaton_.inside(item, horizon);
    exits.clear();
    for (const std::uint32_t node : nodes) {
      const bool is_known = vocabulary_.nodes()[node].end - node > kLargeTree && without == kNone;
      if (!is_known) {
        own.tokens.clear();
        own.exits.clear();
        walk(inside, node, without, own);
      }
      const Walk& found = is_known ? known_walk(inside, node) : own;
      for (const std::int32_t token : found.tokens) set_bit(mask, token);
      for (std::size_t i = 0; i < found.mask.size(); ++i) mask[i] |= found.mask[i];
      exits.insert(exits.end(), found.exits.begin(), found.exits.end());
    }
    if (exits.empty()) continue;
    const StateId after = automaton_.after(item.frame);
    std::erase_if(exits, [&](std::uint32_t exit) { return !marked_.insert(pair_of(after, exit)).second; });
    mark(after, exits, kNone, mask);
  }
}

void TokenMasks::walk(StateId from, std::uint32_t node, std::uint32_t without, Walk& result) {
  const std::span<const Vocabulary::Node> nodes = vocabulary_.nodes();
  path_[nodes[node].depth] = from;
  for (std::uint32_t i = node + 1; i < nodes[node].end;) {
    const Vocabulary::Node& at = nodes[i];
    const StateId to = automaton_.step(path_[at.depth - 1U], at.byte);
    if (to == Automaton::kDead || i == without) {
      i = at.end;
      continue;
    }
    const std::span<const std::int32_t> tokens = vocabulary_.tokens(i);
    result.tokens.insert(result.tokens.end(), tokens.begin(), tokens.end());
    const Automaton::State& state = automaton_.state(to);
    if (state.leaves && at.end > i + 1) result.exits.push_back(i);
    path_[at.depth] = to;
    i = state.items.empty() ? at.end : i + 1;
    if (i % 256 == 0) check_work();
  }
  check_work();
}

const TokenMasks::Walk& TokenMasks::known_walk(StateId from, std::uint32_t node) {
  std::unique_ptr<const Walk>& known = walks_[pair_of(from, node)];
  if (known != nullptr) return *known;
  Walk made;
  walk(from, node, kNone, made);
  if (made.tokens.size() > vocabulary_.mask_words()) {
    made.mask.assign(vocabulary_.mask_words(), 0);
    for (const std::int32_t token : made.tokens) set_bit(made.mask, token);
    made.tokens.clear();
  }
  made.tokens.shrink_to_fit();
  made.exits.shrink_to_fit();
  bytes_ += sizeof made + 64 + (made.tokens.size() + made.mask.size() + made.exits.size()) * sizeof(std::uint32_t);
  known = std::make_unique<const Walk>(std::move(made));
  return *known;
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
    known_walk(automaton_.inside({node, rule.least, rule.most, 0}, static_cast<std::uint32_t>(vocabulary_.longest())),
               0);
    ++places;
  }
}

}  // namespace alate::generation
