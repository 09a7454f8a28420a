#include "backends/cpu/kernels/depthwise.inl.h"
#include "backends/cpu/kernels/fourier.inl.h"
#include "backends/cpu/kernels/product.inl.h"
#include "backends/cpu/kernels/random_bits.inl.h"
#include "backends/cpu/kernels/simd_kernels.h"
#include "backends/cpu/kernels/window.inl.h"

namespace alate::cpu {

void fill_any_type_scalar(SimdKernels& table) {
  table.product_loop = HWY_NAMESPACE::find_product_loop;
  table.window_loop = HWY_NAMESPACE::find_window_loop;
  table.depthwise_point = HWY_NAMESPACE::depthwise_point;
  table.fourier_f32 = HWY_NAMESPACE::transform_lanes<float>;
  table.fourier_f64 = HWY_NAMESPACE::transform_lanes<double>;
  table.threefry_words = HWY_NAMESPACE::threefry_words;
  table.philox_words = HWY_NAMESPACE::philox_words;
}

}  // namespace alate::cpu
