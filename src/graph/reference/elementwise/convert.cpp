#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "graph/reference/elementwise/elementwise.h"
#include "tensor/element.h"
#include "tensor/half.h"

namespace alate::graph {
namespace {

// The integer as a double that rounds to a narrower float as the integer itself would: bits that do not fit set the
// last one (round to odd; Boldo and Melquiond 2008).
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

std::span<const std::uint16_t> words_of(const Tensor& halves) {
  return {reinterpret_cast<const std::uint16_t*>(halves.bytes().data()), halves.byte_count() / sizeof(std::uint16_t)};
}

template <typename From, typename To>
Tensor converted(const Shape& shape, From from, void (*convert)(From, std::span<To>)) {
  Tensor result = Tensor::uninitialized(shape);
  convert(from, {reinterpret_cast<To*>(result.mutable_bytes().data()), from.size()});
  return result;
}

// Fast paths for weight loading; equal to conversion through double, which represents all of these dtypes exactly.
std::optional<Tensor> between_halves(const Tensor& x, const Shape& shape) {
  using Halves = std::span<const std::uint16_t>;
  using Floats = std::span<const float>;
  const DType from = x.dtype(), to = shape.dtype;
  if (from == DType::f32 && to == DType::bf16)
    return converted<Floats, std::uint16_t>(shape, x.values<float>(), tensor::float_to_bf16);
  if (from == DType::f32 && to == DType::f16)
    return converted<Floats, std::uint16_t>(shape, x.values<float>(), tensor::float_to_f16);
  if (from == DType::bf16 && to == DType::f32)
    return converted<Halves, float>(shape, words_of(x), tensor::bf16_to_float);
  if (from == DType::f16 && to == DType::f32) return converted<Halves, float>(shape, words_of(x), tensor::f16_to_float);
  return std::nullopt;
}

Tensor complex_to(const Tensor& x, const Shape& shape) {
  const std::vector<Complex> values = load_complex(x);
  if (is_complex(shape.dtype)) return store_complex(shape, values);
  std::vector<double> reals;
  for (const Complex value : values) reals.push_back(value.real());
  return store_floats(shape, reals);
}

}  // namespace

Tensor reference_convert(const ReferenceCall& call) {
  const Tensor& x = call.operand(0);
  const Shape& shape = call.shape();
  if (is_complex(x.dtype())) return complex_to(x, shape);
  if (is_complex(shape.dtype)) {
    // Through the parts' dtype, so that integers too are rounded once.
    const Shape parts{shape.dtype == DType::c64 ? DType::f32 : DType::f64, shape.dims};
    const std::vector<double> reals =
        load_floats(is_float(x.dtype()) ? store_floats(parts, load_floats(x)) : integers_to_floats(x, parts));
    return store_complex(shape, std::vector<Complex>(reals.begin(), reals.end()));
  }
  if (std::optional<Tensor> result = between_halves(x, shape)) return *std::move(result);
  if (is_float(x.dtype())) return store_floats(shape, load_floats(x));
  return is_float(shape.dtype) ? integers_to_floats(x, shape) : store_words(shape, load_words(x));
}

// Rows are dense and little-endian, packed elements too, so the bytes are unchanged whatever the widths.
Tensor reference_bitcast(const ReferenceCall& call) {
  Tensor result = Tensor::uninitialized(call.shape());
  std::ranges::copy(call.operand(0).bytes(), result.mutable_bytes().begin());
  return result;
}

}  // namespace alate::graph
