#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "graph/reference/elementwise.h"
#include "tensor/element.h"
#include "tensor/half.h"

namespace alate::graph {
namespace {

// The integer in a double from which rounding to a narrower float gives what rounding the integer itself would give:
// bits that do not fit leave a trace in the last one (round to odd; Boldo and Melquiond 2008).
double rounded_to_odd(std::uint64_t magnitude) {
  const int extra = 64 - std::countl_zero(magnitude) - std::numeric_limits<double>::digits;
  if (extra <= 0) return static_cast<double>(magnitude);
  const std::uint64_t kept = magnitude >> extra;
  const bool is_exact = kept << extra == magnitude;
  return std::ldexp(static_cast<double>(kept | (is_exact ? 0U : 1U)), extra);
}

Tensor integers_to_floats(const Tensor& x, const Shape& shape) {
  const bool is_signed = is_signed_integer(x.dtype());
  std::vector<double> values;
  for (const std::uint64_t word : load_words(x)) {
    const bool is_negative = is_signed && static_cast<std::int64_t>(word) < 0;
    const std::uint64_t magnitude = is_negative ? 0 - word : word;
    const double value = shape.dtype == DType::f64 ? static_cast<double>(magnitude) : rounded_to_odd(magnitude);
    values.push_back(is_negative ? -value : value);
  }
  return store_floats(shape, values);
}

Tensor complex_to(const Tensor& x, const Shape& shape) {
  const std::vector<Complex> values = load_complex(x);
  if (is_complex(shape.dtype)) return store_complex(shape, values);
  std::vector<double> reals;
  for (const Complex value : values) reals.push_back(value.real());
  return store_floats(shape, reals);
}

// Weights stored in 16 bits, millions of numbers, come this way.
Tensor halves_to_float32(const Tensor& x, const Shape& shape) {
  Tensor result = Tensor::uninitialized(shape);
  const std::span<const std::byte> bytes = x.bytes();
  const std::span<const std::uint16_t> halves(reinterpret_cast<const std::uint16_t*>(bytes.data()), bytes.size() / 2);
  if (x.dtype() == DType::f16) {
    tensor::f16_to_float(halves, result.mutable_values<float>());
  } else {
    tensor::bf16_to_float(halves, result.mutable_values<float>());
  }
  return result;
}

}  // namespace

Tensor reference_convert(const ReferenceCall& call) {
  const Tensor& x = call.operand(0);
  const Shape& shape = call.shape();
  if (is_complex(x.dtype())) return complex_to(x, shape);
  if (is_complex(shape.dtype)) {
    // By way of the parts' dtype, so that integers too are rounded once.
    const Shape parts{shape.dtype == DType::c64 ? DType::f32 : DType::f64, shape.dims};
    const std::vector<double> reals =
        load_floats(is_float(x.dtype()) ? store_floats(parts, load_floats(x)) : integers_to_floats(x, parts));
    return store_complex(shape, std::vector<Complex>(reals.begin(), reals.end()));
  }
  const bool is_half = x.dtype() == DType::f16 || x.dtype() == DType::bf16;
  if (is_half && shape.dtype == DType::f32) return halves_to_float32(x, shape);
  if (is_float(x.dtype())) return store_floats(shape, load_floats(x));
  return is_float(shape.dtype) ? integers_to_floats(x, shape) : store_words(shape, load_words(x));
}

// Rows are dense and little-endian, packed elements too, so that the bytes stay as they are whatever the widths.
Tensor reference_bitcast(const ReferenceCall& call) {
  Tensor result = Tensor::uninitialized(call.shape());
  std::ranges::copy(call.operand(0).bytes(), result.mutable_bytes().begin());
  return result;
}

}  // namespace alate::graph
