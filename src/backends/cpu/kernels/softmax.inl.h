// The row loops of softmax.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/reduce.inl.h"
#include "backends/cpu/kernels/softmax.h"
#include "backends/cpu/kernels/vector_math.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

inline void softmax_rows(const SoftmaxArguments& a) {
  const FloatTag d;
  for (std::size_t row = 0; row < a.rows; ++row) {
    const float* x = a.x + row * a.x_stride;
    float* out = a.out + row * a.out_stride;
    const FloatVector greatest = hn::Set(d, reduce_row<ReduceOp::max>(x, a.width));
    // A row that is all -infinity gives NaN here, as in the formula.
    const auto exponential = [&](FloatVector v) HWY_ATTR { return simd_exp_nonpositive(d, hn::Sub(v, greatest)); };
    if (a.logarithm) {
      const auto step = [&](FloatVector sum, FloatVector v) HWY_ATTR { return hn::Add(sum, exponential(v)); };
      const float sum = fold_row(x, a.width, 0.0f, hn::GetLane(hn::Neg(hn::Inf(d))), step, AddVectors(), AddScalars());
      const FloatVector log_sum = simd_log(d, hn::Set(d, sum));
      for_each_vector(a.width, [&](std::size_t i, auto load, auto store)
                                   HWY_ATTR { store(hn::Sub(hn::Sub(load(x + i), greatest), log_sum), out + i); });
    } else {
      for_each_vector(a.width,
                      [&](std::size_t i, auto load, auto store) HWY_ATTR { store(exponential(load(x + i)), out + i); });
      const FloatVector factor = hn::Set(d, 1.0f / row_sum(out, a.width));
      for_each_vector(a.width, [&](std::size_t i, auto load, auto store)
                                   HWY_ATTR { store(hn::Mul(load(out + i), factor), out + i); });
    }
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
