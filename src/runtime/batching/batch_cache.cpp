#include "runtime/batching/batch_cache.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace alate::runtime {

bool same_parts(const models::RowParts& a, const models::RowParts& b) {
  return std::ranges::equal(a, b, [](const Tensor& one, const Tensor& other) {
    return one.shape() == other.shape() && std::ranges::equal(one.bytes(), other.bytes());
  });
}

std::uint64_t hash_row(std::uint64_t seed, const BatchProgram* program, const BatchRow& row) {
  // The multiplier depends on the seed too, so that collisions differ between processes.
  const std::uint64_t factor = (seed * 0x9e3779b97f4a7c15ULL) | 1;
  std::uint64_t hash = seed;
  const auto add = [&](std::uint64_t value) {
    hash = (hash ^ value) * factor;
    hash ^= hash >> 29;
  };
  add(std::hash<const BatchProgram*>()(program));
  add(static_cast<std::uint32_t>(row.pool_skip));
  add(static_cast<std::uint32_t>(row.masked_tail));
  for (const std::int32_t id : row.ids) add(static_cast<std::uint32_t>(id));
  for (const std::int32_t type : row.type_ids) add(static_cast<std::uint32_t>(type));
  for (const Tensor& part : row.parts) {
    std::span<const std::byte> bytes = part.bytes();
    while (!bytes.empty()) {
      const std::size_t count = std::min(bytes.size(), sizeof(std::uint64_t));
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), count);
      add(word);
      bytes = bytes.subspan(count);
    }
    add(part.byte_count());
  }
  add(row.ids.size());
  return hash ^ (hash >> 32);
}

const std::vector<float>* BatchCache::find(std::uint64_t hash, const BatchProgram* program, const BatchRow& row,
                                           Clock::time_point now) {
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return nullptr;  // always so without a cache
  const Entries::iterator entry = found->second;
  if (now - entry->computed >= ttl_) {
    erase(entry);
    return nullptr;
  }
  if (entry->program.get() != program || !same_row(entry->row, row)) return nullptr;
  entries_.splice(entries_.begin(), entries_, entry);
  return &entry->values;
}

void BatchCache::put(std::uint64_t hash, std::shared_ptr<const BatchProgram> program, BatchRow row,
                     std::span<const float> values, Clock::time_point now) {
  if (capacity_ == 0) return;
  if (const auto found = by_hash_.find(hash); found != by_hash_.end()) erase(found->second);
  entries_.push_front(
      {hash, std::move(program), std::move(row), std::vector<float>(values.begin(), values.end()), now});
  try {
    by_hash_.emplace(hash, entries_.begin());
  } catch (...) {
    entries_.pop_front();
    throw;
  }
  while (entries_.size() > capacity_) erase(std::prev(entries_.end()));
}

void BatchCache::erase(Entries::iterator entry) {
  by_hash_.erase(entry->hash);
  entries_.erase(entry);
}

}  // namespace alate::runtime
