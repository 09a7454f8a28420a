#include "backends/cpu/kernels/tile.h"

#include <cstring>

#include "backends/cpu/kernels/dispatch.h"

namespace alate::cpu {
namespace {

template <UnaryOp kOp>
void unary_f32(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  kernels().simd.unary(kOp, static_cast<const float*>(operands[0]), static_cast<float*>(out), n);
}

template <BinaryOp kOp>
void binary_f32(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  kernels().simd.binary(kOp, {static_cast<const float*>(operands[0]), 0, 1},
                        {static_cast<const float*>(operands[1]), 0, 1}, static_cast<float*>(out), 1, n);
}

template <Activation kActivation>
void activation_f32(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  if (operands[0] != out) std::memcpy(out, operands[0], n * sizeof(float));
  kernels().simd.apply_activation(kActivation, static_cast<float*>(out), n);
}

// Those that have vector code of their own.
TileKernel vector_f32(TileOp op) {
  switch (op) {
    case TileOp::exp: return {unary_f32<UnaryOp::exp>};
    case TileOp::expm1: return {unary_f32<UnaryOp::expm1>};
    case TileOp::log: return {unary_f32<UnaryOp::log>};
    case TileOp::log1p: return {unary_f32<UnaryOp::log1p>};
    case TileOp::logistic: return {unary_f32<UnaryOp::logistic>};
    case TileOp::tanh: return {unary_f32<UnaryOp::tanh>};
    case TileOp::erf: return {unary_f32<UnaryOp::erf>};
    case TileOp::sqrt: return {unary_f32<UnaryOp::sqrt>};
    case TileOp::rsqrt: return {unary_f32<UnaryOp::rsqrt>};
    case TileOp::floor: return {unary_f32<UnaryOp::floor>};
    case TileOp::ceil: return {unary_f32<UnaryOp::ceil>};
    case TileOp::round_nearest_even: return {unary_f32<UnaryOp::round_nearest_even>};
    case TileOp::power: return {binary_f32<BinaryOp::power>};
    case TileOp::gelu_erf: return {activation_f32<Activation::gelu_erf>};
    case TileOp::gelu_tanh: return {activation_f32<Activation::gelu_tanh>};
    case TileOp::silu: return {activation_f32<Activation::silu>};
    default: return {};
  }
}

}  // namespace

TileKernel tile_kernel(TileOp op, DType dtype, const Kernels& set) {
  if (is_complex(dtype) && op != TileOp::select) return tile_kernel_complex(op, dtype);
  const std::size_t bits = bits_of(dtype);
  if (bits < 8) return {};
  if (dtype == DType::f32) {
    if (const TileKernel found = vector_f32(op)) return found;
  }
  if (const TileKernel found = set.simd.tile_loop(op, dtype, bits / 8)) return found;
  return tile_kernel_math(op, dtype);
}

}  // namespace alate::cpu
