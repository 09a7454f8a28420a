// Arena layout: values whose lifetimes do not overlap share memory.
#pragma once

#include <cstddef>
#include <vector>

namespace alate::cpu {

/// Bytes that are live from step `first` to step `last`; `offset` receives their offset.
struct ArenaInterval {
  std::size_t bytes, first, last;
  std::size_t* offset;
};

/// `count` parts of `bytes` bytes, each rounded up to the arena's alignment. Throws resource_exhausted when the total
/// exceeds what any memory could hold.
std::size_t arena_aligned(std::size_t bytes, std::size_t count = 1);

/// Gives each interval an offset such that intervals live at the same time do not overlap, and returns the total bytes.
/// Reorders the intervals, whose sizes must already be aligned.
std::size_t lay_out(std::vector<ArenaInterval>& intervals);

}  // namespace alate::cpu
