// What the tests of compute kernels share: the instruction sets of this machine, random numbers, bitwise comparison.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "base/hardware/cpu_facts.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu::kernel_testing {

/// Runs a test once for each instruction set that this processor has.
class EveryInstructionSet : public ::testing::TestWithParam<base::InstructionSet> {
 protected:
  const Kernels& set() const { return kernels_for(GetParam()); }
  base::ThreadPool pool_{2};
};

inline std::string set_name(const ::testing::TestParamInfo<base::InstructionSet>& info) {
  return std::string(base::to_string(info.param));
}

/// The kernels of each instruction set that this processor has, with its extensions and without.
inline std::vector<Kernels> all_kernels() {
  using base::InstructionSet;
  std::vector<Kernels> all;
  for (const InstructionSet set :
       {InstructionSet::scalar, InstructionSet::avx2, InstructionSet::avx512, InstructionSet::neon}) {
    if (!base::can_run(set)) continue;
    all.push_back(kernels_for(set));
    all.push_back(kernels_without_extensions(set));
  }
  return all;
}

inline std::vector<float> random_floats(std::size_t count, unsigned seed, float scale = 1.0f) {
  std::minstd_rand generator(seed);
  std::uniform_real_distribution<float> uniform(-scale, scale);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(generator);
  return values;
}

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace alate::cpu::kernel_testing
