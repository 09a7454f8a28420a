// Rows and their results: how equal rows are found, and the cache of what was computed lately.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/batching/batch_scheduler.h"

namespace alate::runtime {

/// A number for a row that equal rows share. `seed` is secret, so that no client can send rows that collide.
std::uint64_t hash_row(std::uint64_t seed, std::uint64_t program, const BatchRow& row);

inline bool same_row(const BatchRow& a, const BatchRow& b) { return a.pool_skip == b.pool_skip && a.ids == b.ids; }

/// Results by row, the least recently used dropped first. Not thread-safe.
class BatchCache {
 public:
  using Clock = BatchJob::Clock;

  BatchCache(std::size_t rows, std::chrono::nanoseconds ttl) : capacity_(rows), ttl_(ttl) {}

  /// Null when it is not there or too old. Valid until the next call.
  const std::vector<float>* find(std::uint64_t hash, std::uint64_t program, const BatchRow& row, Clock::time_point now);
  void put(std::uint64_t hash, std::uint64_t program, BatchRow row, std::span<const float> values,
           Clock::time_point now);

 private:
  struct Entry {
    std::uint64_t hash;
    std::uint64_t program;
    BatchRow row;
    std::vector<float> values;
    Clock::time_point computed;
  };
  using Entries = std::list<Entry>;

  /// An own hash: the row's is one already.
  struct AsItIs {
    std::size_t operator()(std::uint64_t hash) const { return static_cast<std::size_t>(hash); }
  };

  void erase(Entries::iterator entry);

  const std::size_t capacity_;
  const std::chrono::nanoseconds ttl_;
  Entries entries_;  // the most recently used first
  // One entry a hash: of two rows that collide, the later one stays.
  std::unordered_map<std::uint64_t, Entries::iterator, AsItIs> by_hash_;
};

}  // namespace alate::runtime
