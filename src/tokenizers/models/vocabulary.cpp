#include "tokenizers/models/vocabulary.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "alate/error.h"
#include "tokenizers/models/hashing.h"

namespace alate::tokenizers {
namespace {

std::uint64_t hash_of_token(std::string_view token) {
  static const std::uint64_t seed = hash_seed();
  return hash_of(token, seed);
}

}  // namespace

void Vocabulary::reserve(std::size_t tokens) {
  tokens = std::min(tokens, kMaxTokens);
  entries_.reserve(tokens);
  text_.reserve(tokens * 8);
  grow(std::bit_ceil(std::max<std::size_t>(tokens * 2, 16)));
}

void Vocabulary::grow(std::size_t slots) {
  if (slots <= slots_.size()) return;
  std::vector<Slot> old(slots);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.entry == 0) continue;
    std::size_t at = hash_of_token(text_of(entries_[slot.entry - 1])) >> 32 & (slots - 1);
    while (slots_[at].entry != 0) at = (at + 1) & (slots - 1);
    slots_[at] = slot;
  }
}

void Vocabulary::add(std::string_view token, std::int32_t id) {
  if (id < 0) throw make_error(ErrorCode::corrupt, "a token of the vocabulary has the negative id ", id);
  if (token.size() > kMaxTokenBytes)
    throw make_error(ErrorCode::resource_exhausted, "a token of the vocabulary has ", token.size(), " bytes; ",
                     kMaxTokenBytes, " are allowed");
  if (entries_.size() >= kMaxTokens || text_.size() + token.size() > std::numeric_limits<std::uint32_t>::max())
    throw make_error(ErrorCode::resource_exhausted, "the vocabulary has more than ", kMaxTokens, " tokens");
  if ((entries_.size() + 1) * 2 > slots_.size()) grow(std::max<std::size_t>(slots_.size() * 2, 16));
  const std::uint64_t hash = hash_of_token(token);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash >> 32 & mask;
  for (; slots_[at].entry != 0; at = (at + 1) & mask) {
    if (slots_[at].hash != static_cast<std::uint32_t>(hash)) continue;
    Entry& entry = entries_[slots_[at].entry - 1];
    if (text_of(entry) != token) continue;
    entry.id = id;
    return;
  }
  entries_.push_back({static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(token.size()), id});
  text_ += token;
  longest_ = std::max(longest_, token.size());
  slots_[at] = {static_cast<std::uint32_t>(entries_.size()), static_cast<std::uint32_t>(hash)};
}

void Vocabulary::finish() {
  if (slots_.empty()) grow(16);
  text_.shrink_to_fit();
  entries_.shrink_to_fit();
  std::int32_t highest = -1;
  for (const Entry& entry : entries_) highest = std::max(highest, entry.id);
  if (static_cast<std::size_t>(highest + std::int64_t{1}) <= entries_.size() * 2 + 1024) {
    by_id_.assign(static_cast<std::size_t>(highest + std::int64_t{1}), 0);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      std::uint32_t& entry = by_id_[static_cast<std::size_t>(entries_[i].id)];
      if (entry != 0) unique_ids_ = false;
      entry = static_cast<std::uint32_t>(i + 1);
    }
    return;
  }
  sorted_ids_.reserve(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i)
    sorted_ids_.emplace_back(entries_[i].id, static_cast<std::uint32_t>(i + 1));
  std::sort(sorted_ids_.begin(), sorted_ids_.end());
  for (std::size_t i = 1; i < sorted_ids_.size(); ++i)
    if (sorted_ids_[i - 1].first == sorted_ids_[i].first) unique_ids_ = false;
}

std::optional<std::int32_t> Vocabulary::id_of(std::string_view token) const {
  return id_of(token, hash_of_token(token));
}

std::uint64_t Vocabulary::prepare(std::string_view token) const {
  const std::uint64_t hash = hash_of_token(token);
  __builtin_prefetch(&slots_[hash >> 32 & (slots_.size() - 1)]);
  return hash;
}

std::optional<std::int32_t> Vocabulary::id_of(std::string_view token, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash >> 32 & mask; slots_[at].entry != 0; at = (at + 1) & mask) {
    if (slots_[at].hash != static_cast<std::uint32_t>(hash)) continue;
    const Entry& entry = entries_[slots_[at].entry - 1];
    if (text_of(entry) == token) return entry.id;
  }
  return std::nullopt;
}

std::optional<std::string_view> Vocabulary::token_of(std::int32_t id) const {
  if (id < 0) return std::nullopt;
  if (!by_id_.empty()) {
    if (static_cast<std::size_t>(id) >= by_id_.size() || by_id_[static_cast<std::size_t>(id)] == 0) return std::nullopt;
    return text_of(entries_[by_id_[static_cast<std::size_t>(id)] - 1]);
  }
  const auto after = std::upper_bound(sorted_ids_.begin(), sorted_ids_.end(),
                                      std::pair{id, std::numeric_limits<std::uint32_t>::max()});
  if (after == sorted_ids_.begin() || std::prev(after)->first != id) return std::nullopt;
  return text_of(entries_[std::prev(after)->second - 1]);
}

}  // namespace alate::tokenizers
