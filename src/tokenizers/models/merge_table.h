// The merges of a BPE model: a flat hash table from a pair of tokens to the rank of its merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace alate::tokenizers {

/// Immutable once built.
class MergeTable {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  void reserve(std::size_t merges);
  /// Adds the merge of the next rank; a pair that has one already gets the new rank.
  void add(std::int32_t left, std::int32_t right, std::int32_t merged);

  /// The rank of the pair's merge, or kNone.
  std::uint32_t rank(std::int32_t left, std::int32_t right) const {
    for (std::size_t at = slot_of(left, right); slots_[at].rank != kNone; at = (at + 1) & mask_) {
      if (slots_[at].left == left && slots_[at].right == right) return slots_[at].rank;
    }
    return kNone;
  }
  /// Asks for the memory that a later `add` or `rank` of the pair reads.
  void prepare(std::int32_t left, std::int32_t right) const { __builtin_prefetch(&slots_[slot_of(left, right)]); }
  /// The token that the merge of a rank makes.
  std::int32_t merged(std::uint32_t rank) const { return merged_[rank]; }
  bool empty() const { return merged_.empty(); }

  MergeTable();

 private:
  struct Slot {
    std::int32_t left = 0;
    std::int32_t right = 0;
    std::uint32_t rank = kNone;
  };

  std::size_t slot_of(std::int32_t left, std::int32_t right) const {
    const std::uint64_t pair =
        std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
    const std::uint64_t hash = (pair ^ pair >> 32) * multiplier_;
    return static_cast<std::size_t>((hash ^ pair * kSpread) >> shift_);
  }
  void grow(std::size_t slots);

  static constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15u;

  std::vector<Slot> slots_;           // a power of two, at most two thirds full
  std::vector<std::int32_t> merged_;  // by rank
  std::uint64_t multiplier_;
  std::size_t mask_ = 0;
  int shift_ = 63;
};

}  // namespace alate::tokenizers
