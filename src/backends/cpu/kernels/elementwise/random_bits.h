// Random bits by Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3", for runs of counters.
#pragma once

#include <cstddef>
#include <cstdint>

namespace alate::cpu {

constexpr std::size_t kRandomRun = 64;

/// Threefry-2x32 of 20 rounds of the counters first, first + 1, …: x and y get the first and second word of kRandomRun.
using ThreefryWords = void (*)(std::uint64_t key, std::uint64_t first, std::uint32_t* x, std::uint32_t* y);
/// Philox-4x32 of 10 rounds of the counters high:low and those after it, of 128 bits: words gets four arrays of
/// kRandomRun.
using PhiloxWords = void (*)(std::uint64_t key, std::uint64_t low, std::uint64_t high, std::uint32_t* words);

}  // namespace alate::cpu
