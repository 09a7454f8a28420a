// Hashing and comparison of rows, and the cache of recent results.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/batching/batch_scheduler.h"

namespace alate::runtime {

/// A hash of a row. `seed` is secret, so that clients cannot craft rows that collide.
std::uint64_t hash_row(std::uint64_t seed, const BatchProgram* program, const BatchRow& row);

bool same_parts(const models::RowParts& a, const models::RowParts& b);

inline bool same_row(const BatchRow& a, const BatchRow& b) {
  return a.pool_skip == b.pool_skip && a.masked_tail == b.masked_tail && a.ids == b.ids && a.type_ids == b.type_ids &&
         same_parts(a.parts, b.parts);
}

/// An LRU cache of results by row. Not thread-safe.
class BatchCache {
 public:
  using Clock = BatchJob::Clock;

  BatchCache(std::size_t rows, std::chrono::nanoseconds ttl) : capacity_(rows), ttl_(ttl) {}

  /// Null when missing or too old. Valid until the next call.
  const std::vector<float>* find(std::uint64_t hash, const BatchProgram* program, const BatchRow& row,
                                 Clock::time_point now);
  void put(std::uint64_t hash, std::shared_ptr<const BatchProgram> program, BatchRow row, std::span<const float> values,
           Clock::time_point now);

 private:
  struct Entry {
    std::uint64_t hash;
    std::shared_ptr<const BatchProgram> program;  // kept, so that no other one gets its address
    BatchRow row;
    std::vector<float> values;
    Clock::time_point computed;
  };
  using Entries = std::list<Entry>;

  /// The identity: the key is already a hash.
  struct AsItIs {
    std::size_t operator()(std::uint64_t hash) const { return static_cast<std::size_t>(hash); }
  };

  void erase(Entries::iterator entry);

  const std::size_t capacity_;
  const std::chrono::nanoseconds ttl_;
  Entries entries_;  // the most recently used first
  // One entry for each hash: of two rows that collide, the later one stays.
  std::unordered_map<std::uint64_t, Entries::iterator, AsItIs> by_hash_;
};

}  // namespace alate::runtime
