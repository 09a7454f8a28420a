#include <bit>
#include <cmath>
#include <limits>

#include "graph/reference/elementwise.h"
#include "tensor/element.h"

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

}  // namespace

Tensor reference_convert(const ReferenceCall& call) {
  const Tensor& x = call.operand(0);
  const DType to = call.shape().dtype;
  if (!is_float(x.dtype()))
    return is_float(to) ? integers_to_floats(x, call.shape()) : store_words(call.shape(), load_words(x));
  return store_floats(call.shape(), load_floats(x));
}

}  // namespace alate::graph
