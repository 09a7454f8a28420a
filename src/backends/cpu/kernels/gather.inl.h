// The loop of gather.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/gather.h"
#include "backends/cpu/kernels/row_sum.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

inline void gather_sum(const GatherSumArguments& a) {
  for (std::size_t row = 0; row < a.rows; ++row) {
    const float* sources[3] = {};
    for (std::size_t t = 0; t < a.count; ++t) {
      const std::size_t index = a.indices[t] != nullptr ? static_cast<std::size_t>(a.indices[t][row]) : 0;
      sources[t] = a.tables[t] + index * a.width;
    }
    float* out = a.out + row * a.out_stride;
    for_each_vector(a.width, [&](std::size_t i, auto load, auto store) HWY_ATTR {
      FloatVector sum = load(sources[0] + i);
      if (a.count > 1) sum = hn::Add(sum, load(sources[1] + i));
      if (a.count > 2) sum = hn::Add(sum, load(sources[2] + i));
      store(sum, out + i);
    });
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
