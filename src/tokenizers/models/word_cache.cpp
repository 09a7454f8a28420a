#include "tokenizers/models/word_cache.h"

#include <algorithm>
#include <cstring>

namespace alate::tokenizers {
namespace {

constexpr std::size_t words_of(std::size_t bytes) { return (bytes + 3) / 4; }

}  // namespace

bool WordCache::find(std::string_view word, std::uint64_t hash, std::vector<Token>& out) const {
  if (slots_.empty()) return false;
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t probe = 0; probe < kLongestProbe; ++probe) {
    const Slot& slot = slots_[(tag + probe) & mask];
    if (slot.entry == 0) return false;
    if (slot.tag != tag) continue;
    const std::uint32_t* entry = words_.data() + slot.entry - 1;
    const std::size_t length = entry[0] & 0xFFFF;
    if (length != word.size() || std::memcmp(entry + 1, word.data(), length) != 0) continue;
    const std::size_t count = entry[0] >> 16;
    const std::uint32_t* token = entry + 1 + words_of(length);
    for (std::size_t i = 0; i < count; ++i, token += kWordsPerToken)
      out.push_back({static_cast<std::int32_t>(token[0]), token[1], token[2] >> 1, (token[2] & 1) != 0});
    return true;
  }
  return false;
}

void WordCache::put(Slot slot) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t probe = 0; probe < kLongestProbe; ++probe) {
    Slot& free = slots_[(slot.tag + probe) & mask];
    if (free.entry != 0) continue;
    free = slot;
    return;
  }
  slots_[slot.tag & mask] = slot;
}

void WordCache::grow(std::size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.entry != 0) put(slot);
  }
}

void WordCache::add(std::string_view word, std::uint64_t hash, std::span<const Token> tokens) {
  if (word.size() > kMaxWordBytes || tokens.size() > kMaxWordBytes) return;
  if (slots_.empty()) grow(kFirstSlots);
  if ((entries_ + 1) * 2 > slots_.size() && slots_.size() < kMaxSlots) grow(slots_.size() * 2);
  const std::size_t size = 1 + words_of(word.size()) + tokens.size() * kWordsPerToken;
  if ((entries_ + 1) * 2 > slots_.size() || words_.size() + size > kMaxWords) {
    std::fill(slots_.begin(), slots_.end(), Slot());
    words_.clear();
    entries_ = 0;
  }
  const std::size_t entry = words_.size();
  words_.resize(entry + size);
  words_[entry] = static_cast<std::uint32_t>(word.size() | tokens.size() << 16);
  std::memcpy(words_.data() + entry + 1, word.data(), word.size());
  std::uint32_t* to = words_.data() + entry + 1 + words_of(word.size());
  for (const Token& token : tokens) {
    *to++ = static_cast<std::uint32_t>(token.id);
    *to++ = token.begin;
    *to++ = token.end << 1 | (token.is_surface ? 1 : 0);
  }
  put({static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(entry + 1)});
  ++entries_;
}

}  // namespace alate::tokenizers
