#include "backends/cpu/run/arena_layout.h"

#include <algorithm>
#include <cstdint>

#include "alate/error.h"
#include "backends/cpu/kernels/vectors/scratch.h"

namespace alate::cpu {

std::size_t arena_aligned(std::size_t bytes, std::size_t count) {
  if (bytes > SIZE_MAX / 2 / count)
    throw Error(ErrorCode::resource_exhausted, "a value of this size does not fit in memory: use smaller inputs");
  return scratch_aligned(bytes) * count;
}

// Largest first, each at the lowest offset that overlaps no other live interval: Pisarchyk and Lee, arXiv:2001.03288,
// greedy by size.
std::size_t lay_out(std::vector<ArenaInterval>& intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const ArenaInterval& a, const ArenaInterval& b) { return a.bytes > b.bytes; });
  std::vector<const ArenaInterval*> placed;  // by offset
  std::size_t total = 0;
  for (const ArenaInterval& interval : intervals) {
    std::size_t offset = 0;
    for (const ArenaInterval* other : placed) {
      const bool same_time = interval.first <= other->last && other->first <= interval.last;
      if (!same_time) continue;
      if (offset + interval.bytes <= *other->offset) break;
      offset = std::max(offset, *other->offset + other->bytes);
    }
    *interval.offset = offset;
    total = std::max(total, offset + interval.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [](std::size_t at, const ArenaInterval* other) { return at < *other->offset; }),
                  &interval);
  }
  return total;
}

}  // namespace alate::cpu
