// Large pages for large blocks: fewer page faults at first touch, fewer TLB misses on reads.
#pragma once

#include <cstddef>

namespace alate::base {

/// Blocks of at least this many bytes benefit from this alignment.
inline constexpr std::size_t kLargePageBytes = std::size_t{2} << 20;

/// Asks the system to back these bytes with large pages, if it will. Never fails.
void prefer_large_pages(void* data, std::size_t bytes);

}  // namespace alate::base
