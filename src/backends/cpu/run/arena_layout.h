// Where values with lifetimes lie in memory that they share.
#pragma once

#include <cstddef>
#include <vector>

namespace alate::cpu {

/// Bytes that are needed from step `first` to step `last`; `offset` gets their place.
struct ArenaInterval {
  std::size_t bytes, first, last;
  std::size_t* offset;
};

/// `count` times so many bytes, each rounded up to the alignment of parts. Throws resource_exhausted where no memory
/// could hold as many.
std::size_t arena_aligned(std::size_t bytes, std::size_t count = 1);

/// Gives each interval an offset so that no two of the same time overlap, and returns the bytes of the whole. Reorders
/// the intervals; their bytes are aligned already.
std::size_t lay_out(std::vector<ArenaInterval>& intervals);

}  // namespace alate::cpu
