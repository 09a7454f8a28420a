// Complex functions. c64 is computed in double, so that no intermediate overflows where the result does not.
#include <cmath>
#include <complex>
#include <functional>

#include "backends/cpu/kernels/elementwise/tile.h"
#include "graph/reference/elementwise/complex_math.h"

namespace alate::cpu {
namespace {

using Wide = std::complex<double>;

template <typename T, auto kFunction>
void each_of_one(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const auto* x = static_cast<const std::complex<T>*>(operands[0]);
  auto* to = static_cast<std::complex<T>*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = std::complex<T>(kFunction(Wide(x[i])));
}

template <typename T, auto kFunction>
void each_of_two(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const auto* x = static_cast<const std::complex<T>*>(operands[0]);
  const auto* y = static_cast<const std::complex<T>*>(operands[1]);
  auto* to = static_cast<std::complex<T>*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = std::complex<T>(kFunction(Wide(x[i]), Wide(y[i])));
}

// Functions whose result has the parts' type.
template <typename T, auto kFunction>
void part_of(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const auto* x = static_cast<const std::complex<T>*>(operands[0]);
  T* to = static_cast<T*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<T>(kFunction(Wide(x[i])));
}

template <typename T, bool kEqual>
void compare(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const auto* x = static_cast<const std::complex<T>*>(operands[0]);
  const auto* y = static_cast<const std::complex<T>*>(operands[1]);
  auto* to = static_cast<std::uint8_t*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = (x[i] == y[i]) == kEqual;
}

template <typename T, typename Relation>
void compare_order(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const auto* x = static_cast<const std::complex<T>*>(operands[0]);
  const auto* y = static_cast<const std::complex<T>*>(operands[1]);
  auto* to = static_cast<std::uint8_t*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = graph::holds_lexicographically(Relation(), Wide(x[i]), Wide(y[i]));
}

// Operands: the lower bound, the value, the upper bound.
template <typename T>
void clamp(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const auto* low = static_cast<const std::complex<T>*>(operands[0]);
  const auto* x = static_cast<const std::complex<T>*>(operands[1]);
  const auto* high = static_cast<const std::complex<T>*>(operands[2]);
  auto* to = static_cast<std::complex<T>*>(out);
  for (std::size_t i = 0; i < n; ++i)
    to[i] = std::complex<T>(graph::smaller(graph::larger(Wide(x[i]), Wide(low[i])), Wide(high[i])));
}

template <typename T>
TileKernel complex_number(TileOp op) {
  switch (op) {
    case TileOp::abs: return {part_of<T, [](Wide x) { return std::hypot(x.real(), x.imag()); }>};
    case TileOp::real: return {part_of<T, [](Wide x) { return x.real(); }>};
    case TileOp::imag: return {part_of<T, [](Wide x) { return x.imag(); }>};
    case TileOp::conj: return {each_of_one<T, [](Wide x) { return std::conj(x); }>};
    case TileOp::negate: return {each_of_one<T, [](Wide x) { return -x; }>};
    case TileOp::sign: return {each_of_one<T, [](Wide x) { return graph::sign_of(x); }>};
    case TileOp::exp: return {each_of_one<T, [](Wide x) { return std::exp(x); }>};
    case TileOp::expm1: return {each_of_one<T, [](Wide x) { return graph::expm1_of(x); }>};
    case TileOp::log: return {each_of_one<T, [](Wide x) { return std::log(x); }>};
    case TileOp::log1p: return {each_of_one<T, [](Wide x) { return graph::log1p_of(x); }>};
    case TileOp::logistic: return {each_of_one<T, [](Wide x) { return graph::logistic_of(x); }>};
    case TileOp::tanh: return {each_of_one<T, [](Wide x) { return std::tanh(x); }>};
    case TileOp::sin: return {each_of_one<T, [](Wide x) { return std::sin(x); }>};
    case TileOp::cos: return {each_of_one<T, [](Wide x) { return std::cos(x); }>};
    case TileOp::tan: return {each_of_one<T, [](Wide x) { return std::tan(x); }>};
    case TileOp::sqrt: return {each_of_one<T, [](Wide x) { return std::sqrt(x); }>};
    case TileOp::rsqrt: return {each_of_one<T, [](Wide x) { return graph::quotient_of(Wide(1), std::sqrt(x)); }>};
    case TileOp::power: return {each_of_two<T, [](Wide x, Wide y) { return graph::power_of(x, y); }>};
    case TileOp::add: return {each_of_two<T, [](Wide x, Wide y) { return x + y; }>};
    case TileOp::subtract: return {each_of_two<T, [](Wide x, Wide y) { return x - y; }>};
    case TileOp::multiply: return {each_of_two<T, [](Wide x, Wide y) { return graph::product_of(x, y); }>};
    case TileOp::divide: return {each_of_two<T, [](Wide x, Wide y) { return graph::quotient_of(x, y); }>};
    case TileOp::equal: return {compare<T, true>};
    case TileOp::not_equal: return {compare<T, false>};
    case TileOp::less: return {compare_order<T, std::less<>>};
    case TileOp::less_equal: return {compare_order<T, std::less_equal<>>};
    case TileOp::greater: return {compare_order<T, std::greater<>>};
    case TileOp::greater_equal: return {compare_order<T, std::greater_equal<>>};
    case TileOp::maximum: return {each_of_two<T, [](Wide x, Wide y) { return graph::larger(x, y); }>};
    case TileOp::minimum: return {each_of_two<T, [](Wide x, Wide y) { return graph::smaller(x, y); }>};
    case TileOp::clamp: return {clamp<T>};
    default: return {};
  }
}

}  // namespace

TileKernel tile_kernel_complex(TileOp op, DType dtype) {
  if (dtype == DType::c64) return complex_number<float>(op);
  if (dtype == DType::c128) return complex_number<double>(op);
  return {};
}

}  // namespace alate::cpu
