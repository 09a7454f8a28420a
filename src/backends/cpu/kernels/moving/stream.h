// Non-temporal stores, for results too large to still be in the caches when they are read.
#pragma once

#include <cstddef>

namespace alate::cpu {

/// Results of at least this size bypass the caches: lines need not be read before they are written, and the caches keep
/// their contents.
constexpr std::size_t kStreamedBytes = std::size_t{1} << 24;

/// Copies bytes that do not overlap. A thread must call finish after its last copy, before others read.
struct StreamKernel {
  void (*copy)(const void* from, void* to, std::size_t bytes) = nullptr;
  void (*finish)() = nullptr;
};

}  // namespace alate::cpu
