// The chains of multiply-adds of GemmKernels, for the one instruction set that the including file is compiled for.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_block.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

constexpr std::size_t kChains = 12;

float run_multiply_adds(std::size_t rounds) {
  FloatVector x[kChains];
  const FloatVector half = hn::Set(kFloats, 0.5f);
  HWY_UNROLL(16) for (std::size_t i = 0; i < kChains; ++i) x[i] = hn::Set(kFloats, static_cast<float>(i));
  for (std::size_t round = 0; round < rounds; ++round) {
    HWY_UNROLL(16) for (std::size_t i = 0; i < kChains; ++i) x[i] = hn::MulAdd(x[i], half, half);
  }
  FloatVector sum = x[0];
  HWY_UNROLL(16) for (std::size_t i = 1; i < kChains; ++i) sum = hn::Add(sum, x[i]);
  return hn::GetLane(sum);
}

void fill_multiply_adds(GemmKernels& kernels) {
  kernels.run_multiply_adds = run_multiply_adds;
  kernels.flops_per_round = 2 * kChains * kLanes;
}

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
