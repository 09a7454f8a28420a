#include "tokenizers/models/merge_table.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "alate/error.h"
#include "tokenizers/models/hashing.h"

namespace alate::tokenizers {

MergeTable::MergeTable() : multiplier_(hash_seed() | 1) { grow(16); }

void MergeTable::reserve(std::size_t merges) {
  merges = std::min(merges, std::size_t{1} << 24);
  merged_.reserve(merges);
  grow(std::bit_ceil(merges + merges / 2 + 16));
}

void MergeTable::grow(std::size_t slots) {
  if (slots <= slots_.size()) return;
  std::vector<Slot> old(slots);
  old.swap(slots_);
  mask_ = slots - 1;
  shift_ = 64 - std::countr_zero(slots);
  for (const Slot& slot : old) {
    if (slot.rank == kNone) continue;
    std::size_t at = slot_of(slot.left, slot.right);
    while (slots_[at].rank != kNone) at = (at + 1) & mask_;
    slots_[at] = slot;
  }
}

void MergeTable::add(std::int32_t left, std::int32_t right, std::int32_t merged) {
  if (merged_.size() >= kNone)
    throw make_error(ErrorCode::resource_exhausted, "the model has more than ", kNone, " merges");
  if ((merged_.size() + 1) * 3 > slots_.size() * 2) grow(slots_.size() * 2);
  const auto rank = static_cast<std::uint32_t>(merged_.size());
  merged_.push_back(merged);
  std::size_t at = slot_of(left, right);
  while (slots_[at].rank != kNone && (slots_[at].left != left || slots_[at].right != right)) at = (at + 1) & mask_;
  slots_[at] = {left, right, rank};
}

}  // namespace alate::tokenizers
