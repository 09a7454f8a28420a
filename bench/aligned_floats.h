// Memory for the operands of kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace alate::bench {

struct AlignedDelete {
  void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
/// Aligned to 64 bytes.
using AlignedFloats = std::unique_ptr<float[], AlignedDelete>;

inline AlignedFloats filled(std::size_t count, float value) {
  AlignedFloats floats(static_cast<float*>(::operator new[](count * sizeof(float), std::align_val_t{64})));
  std::fill_n(floats.get(), count, value);
  return floats;
}

}  // namespace alate::bench
