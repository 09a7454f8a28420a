// A cache of the tokens of words, bounded in memory and in the time of a lookup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizers/models/hashing.h"
#include "tokenizers/models/model.h"

namespace alate::tokenizers {

/// Belongs to one thread at a time. When it is full, it starts over.
class WordCache {
 public:
  /// Longer words are not kept.
  static constexpr std::size_t kMaxWordBytes = 256;

  static std::uint64_t hash(std::string_view word) { return hash_of(word, 0); }

  /// Appends the tokens of a word that is in the cache; otherwise returns false.
  bool find(std::string_view word, std::uint64_t hash, std::vector<Token>& out) const;
  /// Adds a word that is not in the cache. Words and lists of tokens that are too long are left out.
  void add(std::string_view word, std::uint64_t hash, std::span<const Token> tokens);

 private:
  static constexpr std::size_t kFirstSlots = 1 << 10;
  static constexpr std::size_t kMaxSlots = 1 << 15;
  static constexpr std::size_t kMaxWords = std::size_t{1} << 20;  // of 4 bytes, for all entries
  static constexpr std::size_t kLongestProbe = 16;
  static constexpr std::size_t kWordsPerToken = 3;

  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t entry = 0;  // 1-based position in `words_`; 0: free
  };

  void put(Slot slot);
  void grow(std::size_t slots);

  std::vector<Slot> slots_;
  // Entries: the length of the word and the number of its tokens, the word, its tokens (id, begin, end and is_surface).
  std::vector<std::uint32_t> words_;
  std::size_t entries_ = 0;
};

}  // namespace alate::tokenizers
