// Fills in the kernel table's products, windows, transforms and random bits of every type, with the code compiled for
// this file's instruction set.
#pragma once

#include "backends/cpu/kernels/dispatch/simd_kernels.h"
#include "backends/cpu/kernels/elementwise/random_bits.inl.h"
#include "backends/cpu/kernels/gemm/product.inl.h"
#include "backends/cpu/kernels/windows/depthwise.inl.h"
#include "backends/cpu/kernels/windows/fourier.inl.h"
#include "backends/cpu/kernels/windows/window.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

inline void fill_any_type(SimdKernels& table) {
  table.product_loop = find_product_loop;
  table.window_loop = find_window_loop;
  table.depthwise_run = depthwise_run;
  table.fourier_f32 = transform_lanes<float>;
  table.fourier_f64 = transform_lanes<double>;
  table.threefry_words = threefry_words;
  table.philox_words = philox_words;
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
