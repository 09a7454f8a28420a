// Counter-based random bits: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
#pragma once

#include <cstddef>
#include <cstdint>

namespace alate::cpu {

constexpr std::size_t kRandomRun = 64;

/// 20-round Threefry-2x32 of kRandomRun counters first, first + 1, …: x and y receive the first and second words.
using ThreefryWords = void (*)(std::uint64_t key, std::uint64_t first, std::uint32_t* x, std::uint32_t* y);
/// 10-round Philox-4x32 of kRandomRun 128-bit counters from high:low on: words receives four arrays of kRandomRun.
using PhiloxWords = void (*)(std::uint64_t key, std::uint64_t low, std::uint64_t high, std::uint32_t* words);

}  // namespace alate::cpu
