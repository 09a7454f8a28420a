// Aligned memory for kernel operands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "base/os/large_pages.h"

namespace alate::bench {

struct AlignedDelete {
  void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
/// Matches the engine's weights and arenas. Call it before the memory is first written.
inline void prefer_large_pages(void* data, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data), end = begin + bytes;
  const std::uintptr_t first = (begin + base::kLargePageBytes - 1) / base::kLargePageBytes * base::kLargePageBytes;
  if (first < end) base::prefer_large_pages(reinterpret_cast<void*>(first), end - first);
}

/// Aligned to 64 bytes.
using AlignedFloats = std::unique_ptr<float[], AlignedDelete>;

inline AlignedFloats filled(std::size_t count, float value) {
  AlignedFloats floats(static_cast<float*>(::operator new[](count * sizeof(float), std::align_val_t{64})));
  prefer_large_pages(floats.get(), count * sizeof(float));
  std::fill_n(floats.get(), count, value);
  return floats;
}

}  // namespace alate::bench
