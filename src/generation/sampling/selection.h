// Finds where an order of candidates is to be cut, without sorting them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "generation/sampling/candidates.h"

namespace alate::generation {

/// The last of the fewest first `ranks` whose masses, with `before`, add up to at least `mass` and that are at least
/// `count`; the last of all if there are none. Halves the part in which it is, so that the work is about twice that of
/// one partition. There is at least one rank; `mass_of(index)`.
template <typename MassOf>
Rank last_by_halving(std::span<Rank> ranks, double before, double mass, std::size_t count, const MassOf& mass_of) {
  std::size_t too_few = 0, enough = ranks.size();
  while (enough - too_few > 1) {
    const std::size_t half = too_few + (enough - too_few) / 2;
    const std::span<Rank> part = ranks.subspan(too_few, enough - too_few);
    std::nth_element(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(half - too_few), part.end());
    double added = 0;
    for (std::size_t i = too_few; i < half; ++i) added += mass_of(ranks[i].index);
    if (before + added >= mass && half >= count) {
      enough = half;
    } else {
      too_few = half;
      before += added;
    }
  }
  return *std::max_element(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(enough));
}

/// The last of the fewest first candidates whose masses add up to at least `mass` and that are at least `count`. The
/// order is by `key_of(index)`, which is in nats and at least `least_key`; `mass_of(index)` is not negative. One walk
/// adds up the masses of buckets of keys, and only the bucket in which the mass is reached is looked at closer.
template <typename KeyOf, typename MassOf>
Rank last_of_mass(std::size_t size, float least_key, double mass, std::size_t count, std::vector<Rank>& scratch,
                  const KeyOf& key_of, const MassOf& mass_of) {
  constexpr std::size_t kBuckets = 1024;
  constexpr float kMostNats = 128;  // what is farther off has no mass, as a rule, and shares the last bucket
  float greatest_key = least_key;
  for (std::size_t i = 0; i < size; ++i) {
    const float key = key_of(i);
    greatest_key = key > greatest_key ? key : greatest_key;
  }
  const float width = std::min(greatest_key - least_key, kMostNats) / kBuckets;
  const float scale = width >= std::numeric_limits<float>::min() ? 1 / width : 0;  // finite
  const auto bucket_of = [&](float key) {
    return static_cast<std::size_t>(std::min((key - least_key) * scale, static_cast<float>(kBuckets - 1)));
  };
  std::array<double, kBuckets> masses = {};
  std::array<std::size_t, kBuckets> counts = {};
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t bucket = bucket_of(key_of(i));
    masses[bucket] += mass_of(i);
    ++counts[bucket];
  }
  double before = 0;
  std::size_t candidates = 0, last = 0;  // of the buckets before `last`, which has candidates
  for (std::size_t bucket = 0, all = 0; bucket < kBuckets; ++bucket) {
    if (counts[bucket] == 0) continue;
    if (all > 0) {
      before += masses[last];
      candidates += counts[last];
    }
    last = bucket;
    all += counts[bucket];
    if (before + masses[bucket] >= mass && all >= count) break;
  }
  scratch.clear();
  for (std::size_t i = 0; i < size; ++i) {
    if (const float key = key_of(i); bucket_of(key) == last) scratch.push_back({key, static_cast<std::uint32_t>(i)});
  }
  return last_by_halving(std::span(scratch), before, mass, count > candidates ? count - candidates : 0, mass_of);
}

/// The `count` greatest logits, fewer if there are not so many: the greatest first, of equal ones the first. Their keys
/// are the negative logits.
void greatest_ranks(std::span<const float> logits, std::size_t count, std::vector<Rank>& ranks);

}  // namespace alate::generation
