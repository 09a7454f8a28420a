// Functions computed by the C library, one element at a time.
#include <cmath>
#include <complex>

#include "backends/cpu/kernels/elementwise/tile.h"

namespace alate::cpu {
namespace {

// `kFunction` is a captureless lambda, so that each function gets its own loop.
template <typename T, auto kFunction>
void each_of_one(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const T* x = static_cast<const T*>(operands[0]);
  T* to = static_cast<T*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = kFunction(x[i]);
}

template <typename T, auto kFunction>
void each_of_two(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const T* x = static_cast<const T*>(operands[0]);
  const T* y = static_cast<const T*>(operands[1]);
  T* to = static_cast<T*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = kFunction(x[i], y[i]);
}

template <typename T>
TileKernel math(TileOp op) {
  switch (op) {
    case TileOp::exp: return {each_of_one<T, [](T x) { return std::exp(x); }>};
    case TileOp::expm1: return {each_of_one<T, [](T x) { return std::expm1(x); }>};
    case TileOp::log: return {each_of_one<T, [](T x) { return std::log(x); }>};
    case TileOp::log1p: return {each_of_one<T, [](T x) { return std::log1p(x); }>};
    case TileOp::logistic: return {each_of_one<T, [](T x) { return 1 / (1 + std::exp(-x)); }>};
    case TileOp::tanh: return {each_of_one<T, [](T x) { return std::tanh(x); }>};
    case TileOp::erf: return {each_of_one<T, [](T x) { return std::erf(x); }>};
    case TileOp::sqrt: return {each_of_one<T, [](T x) { return std::sqrt(x); }>};
    case TileOp::rsqrt: return {each_of_one<T, [](T x) { return 1 / std::sqrt(x); }>};
    case TileOp::cbrt: return {each_of_one<T, [](T x) { return std::cbrt(x); }>};
    case TileOp::sin: return {each_of_one<T, [](T x) { return std::sin(x); }>};
    case TileOp::cos: return {each_of_one<T, [](T x) { return std::cos(x); }>};
    case TileOp::tan: return {each_of_one<T, [](T x) { return std::tan(x); }>};
    case TileOp::floor: return {each_of_one<T, [](T x) { return std::floor(x); }>};
    case TileOp::ceil: return {each_of_one<T, [](T x) { return std::ceil(x); }>};
    case TileOp::round_nearest_even: return {each_of_one<T, [](T x) { return std::nearbyint(x); }>};
    case TileOp::power: return {each_of_two<T, [](T x, T y) { return std::pow(x, y); }>};
    case TileOp::remainder: return {each_of_two<T, [](T x, T y) { return std::fmod(x, y); }>};
    case TileOp::atan2: return {each_of_two<T, [](T y, T x) { return std::atan2(y, x); }>};
    default: return {};
  }
}

// Conversions between separate parts and complex numbers, stored as real part, imaginary part.
template <typename T>
void parts_to_complex(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const T* real = static_cast<const T*>(operands[0]);
  const T* imag = static_cast<const T*>(operands[1]);
  auto* to = static_cast<std::complex<T>*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = {real[i], imag[i]};
}

template <typename T>
void real_of_real(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  std::copy_n(static_cast<const T*>(operands[0]), n, static_cast<T*>(out));
}

template <typename T>
void imag_of_real(const void* const* /*operands*/, void* out, std::size_t n, std::uint32_t /*context*/) {
  std::fill_n(static_cast<T*>(out), n, T{0});
}

template <typename T>
TileKernel real_number(TileOp op) {
  switch (op) {
    case TileOp::complex: return {parts_to_complex<T>};
    case TileOp::real: return {real_of_real<T>};
    case TileOp::imag: return {imag_of_real<T>};
    default: return math<T>(op);
  }
}

}  // namespace

TileKernel tile_kernel_math(TileOp op, DType dtype) {
  if (dtype == DType::f32) return real_number<float>(op);
  if (dtype == DType::f64) return real_number<double>(op);
  return {};
}

}  // namespace alate::cpu
