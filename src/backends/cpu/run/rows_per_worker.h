// How many rows a thread takes through a plan together.
#pragma once

#include <cstddef>

namespace alate::cpu {

/// Up to this many bytes of packed weights stay mostly in a processor's last-level cache; larger models read their
/// weights from memory in each run, at some ten gigabytes a second for a thread.
inline constexpr std::size_t kCachedWeightBytes = std::size_t{64} << 20;

/// The best number of rows for one thread to take through a plan together, when each run reads so many bytes of
/// weights: the rows' activations should stay in one core's cache, and weights that do not fit in a cache should be
/// read for much work.
std::size_t rows_per_worker(std::size_t weight_bytes);

}  // namespace alate::cpu
