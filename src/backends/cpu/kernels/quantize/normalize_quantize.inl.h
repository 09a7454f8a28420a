// The row loops of normalize_quantize.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/quantize/normalize_quantize.h"
#include "backends/cpu/kernels/quantize/quantize_rows.inl.h"
#include "backends/cpu/kernels/rows/normalize.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// A group of a row that is normalized and written as its numbers are read. v may alias the destination.
template <bool kSmooths>
struct RunToScale {
  const NormArguments& norm;
  const float* v;
  FloatVector means, factors;
  std::size_t first;  // index of the group's first number in its row
  float* out;
  const float* smoothing;

  HWY_INLINE FloatVector vector(std::size_t i) const {
    const FloatTag d;
    const auto load = [d](const float* p) HWY_ATTR { return hn::LoadU(d, p); };
    const FloatVector y = scaled(norm, load(v + i), means, factors, first + i, load);
    hn::StoreU(y, d, out + i);
    return kSmooths ? hn::Mul(y, load(smoothing + i)) : y;
  }
  HWY_INLINE FloatVector one(std::size_t i) const {
    const FloatTag d;
    const auto load = [d](const float* p) HWY_ATTR { return hn::Set(d, *p); };
    const FloatVector y = scaled(norm, load(v + i), means, factors, first + i, load);
    out[i] = hn::GetLane(y);
    return kSmooths ? hn::Mul(y, load(smoothing + i)) : y;
  }
};

inline void normalize_and_quantize_rows(NormKind kind, const NormArguments& norm, const QuantizeArguments& integers) {
  const FloatTag d;
  const std::size_t length = norm.width / integers.groups;
  for (std::size_t first = 0; first < norm.rows; first += kFolded) {
    const std::size_t rows = norm.rows - first < kFolded ? norm.rows - first : kFolded;
    RowsToScale found;
    measure_rows(kind, norm, first, rows, found);
    const QuantizeArguments part = rows_to_quantize(integers, first, first + rows);
    with_form_of(part, [&](auto smooths, auto integer) HWY_ATTR {
      quantize_runs<smooths.value, decltype(integer)>(
          part, [&](std::size_t row, std::size_t group, const float* /*x*/, const float* smoothing) HWY_ATTR {
            const std::size_t place = group * length;
            return RunToScale<smooths.value>{norm,
                                             found.v[row] + place,
                                             hn::Set(d, found.means[row]),
                                             hn::Set(d, found.factors[row]),
                                             place,
                                             norm.out + (first + row) * norm.out_stride + place,
                                             smoothing};
          });
    });
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
