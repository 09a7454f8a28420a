#include "backends/cpu/kernels/elementwise/tile.h"

#include <cstring>

#include "backends/cpu/kernels/elementwise/elementwise_kernels.h"

namespace alate::cpu {
namespace {

// `context` is the instruction set.
const ElementwiseKernels& kernels_of(std::uint32_t context) {
  return elementwise_kernels(kernels_for(static_cast<base::InstructionSet>(context)));
}

template <UnaryOp kOp>
void unary_f32(const void* const* operands, void* out, std::size_t n, std::uint32_t context) {
  kernels_of(context).unary(kOp, static_cast<const float*>(operands[0]), static_cast<float*>(out), n);
}

template <Activation kActivation>
void activation_f32(const void* const* operands, void* out, std::size_t n, std::uint32_t context) {
  if (operands[0] != out) std::memcpy(out, operands[0], n * sizeof(float));
  kernels_of(context).apply_activation(kActivation, static_cast<float*>(out), n);
}

// f32 functions with hand-written vector code.
TileKernel vector_f32(TileOp op, std::uint32_t set) {
  switch (op) {
    case TileOp::exp: return {unary_f32<UnaryOp::exp>, set};
    case TileOp::expm1: return {unary_f32<UnaryOp::expm1>, set};
    case TileOp::log: return {unary_f32<UnaryOp::log>, set};
    case TileOp::log1p: return {unary_f32<UnaryOp::log1p>, set};
    case TileOp::logistic: return {unary_f32<UnaryOp::logistic>, set};
    case TileOp::tanh: return {unary_f32<UnaryOp::tanh>, set};
    case TileOp::erf: return {unary_f32<UnaryOp::erf>, set};
    case TileOp::sqrt: return {unary_f32<UnaryOp::sqrt>, set};
    case TileOp::rsqrt: return {unary_f32<UnaryOp::rsqrt>, set};
    case TileOp::floor: return {unary_f32<UnaryOp::floor>, set};
    case TileOp::ceil: return {unary_f32<UnaryOp::ceil>, set};
    case TileOp::round_nearest_even: return {unary_f32<UnaryOp::round_nearest_even>, set};
    case TileOp::gelu_erf: return {activation_f32<Activation::gelu_erf>, set};
    case TileOp::gelu_tanh: return {activation_f32<Activation::gelu_tanh>, set};
    case TileOp::silu: return {activation_f32<Activation::silu>, set};
    default: return {};
  }
}

}  // namespace

TileKernel tile_kernel(TileOp op, DType dtype, const Kernels& set) {
  if (is_complex(dtype) && op != TileOp::select) return tile_kernel_complex(op, dtype);
  const std::size_t bits = bits_of(dtype);
  if (bits < 8) return {};
  if (dtype == DType::f32) {
    if (const TileKernel found = vector_f32(op, static_cast<std::uint32_t>(instruction_set(set)))) return found;
  }
  if (const TileKernel found = elementwise_kernels(set).tile_loop(op, dtype, bits / 8)) return found;
  return tile_kernel_math(op, dtype);
}

}  // namespace alate::cpu
