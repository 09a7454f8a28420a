// Writes past the caches, for results that are too large to be found there when they are read.
#pragma once

#include <cstddef>

namespace alate::cpu {

/// From this size on a result is written past the caches: a line need not be read before it is written, and what the
/// caches hold stays there.
constexpr std::size_t kStreamedBytes = std::size_t{1} << 24;

/// Copies bytes that do not overlap. The last copy of a thread is followed by finish, before others read.
struct StreamKernel {
  void (*copy)(const void* from, void* to, std::size_t bytes) = nullptr;
  void (*finish)() = nullptr;
};

}  // namespace alate::cpu
