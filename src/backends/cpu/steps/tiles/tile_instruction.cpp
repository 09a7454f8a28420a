// Selection of the kernels that compute an element-wise node.
#include "backends/cpu/steps/products/halves.h"
#include "backends/cpu/steps/tiles/tile_program.h"
#include "tensor/packed.h"

namespace alate::cpu {
namespace {

using graph::Op;

std::optional<TileOp> tile_op(Op op) {
  switch (op) {
    case Op::abs: return TileOp::abs;
    case Op::neg: return TileOp::negate;
    case Op::sign: return TileOp::sign;
    case Op::exp: return TileOp::exp;
    case Op::expm1: return TileOp::expm1;
    case Op::log: return TileOp::log;
    case Op::log1p: return TileOp::log1p;
    case Op::logistic: return TileOp::logistic;
    case Op::tanh: return TileOp::tanh;
    case Op::erf: return TileOp::erf;
    case Op::sqrt: return TileOp::sqrt;
    case Op::rsqrt: return TileOp::rsqrt;
    case Op::floor: return TileOp::floor;
    case Op::ceil: return TileOp::ceil;
    case Op::round_nearest_even: return TileOp::round_nearest_even;
    case Op::cbrt: return TileOp::cbrt;
    case Op::sin: return TileOp::sin;
    case Op::cos: return TileOp::cos;
    case Op::tan: return TileOp::tan;
    case Op::is_finite: return TileOp::is_finite;
    case Op::is_nan: return TileOp::is_nan;
    case Op::logical_not:
    case Op::bitwise_not: return TileOp::bitwise_not;
    case Op::popcnt: return TileOp::population_count;
    case Op::count_leading_zeros: return TileOp::count_leading_zeros;
    case Op::real: return TileOp::real;
    case Op::imag: return TileOp::imag;
    case Op::conj: return TileOp::conj;
    case Op::rem: return TileOp::remainder;
    case Op::atan2: return TileOp::atan2;
    case Op::complex: return TileOp::complex;
    case Op::shift_left: return TileOp::shift_left;
    case Op::shift_right_arithmetic: return TileOp::shift_right_arithmetic;
    case Op::shift_right_logical: return TileOp::shift_right_logical;
    case Op::add: return TileOp::add;
    case Op::sub: return TileOp::subtract;
    case Op::mul: return TileOp::multiply;
    case Op::div: return TileOp::divide;
    case Op::pow: return TileOp::power;
    case Op::max: return TileOp::maximum;
    case Op::min: return TileOp::minimum;
    case Op::logical_and:
    case Op::bitwise_and: return TileOp::bitwise_and;
    case Op::logical_or:
    case Op::bitwise_or: return TileOp::bitwise_or;
    case Op::logical_xor:
    case Op::bitwise_xor: return TileOp::bitwise_xor;
    case Op::equal: return TileOp::equal;
    case Op::not_equal: return TileOp::not_equal;
    case Op::less: return TileOp::less;
    case Op::less_or_equal: return TileOp::less_equal;
    case Op::greater: return TileOp::greater;
    case Op::greater_or_equal: return TileOp::greater_equal;
    case Op::equal_total_order: return TileOp::equal_total_order;
    case Op::not_equal_total_order: return TileOp::not_equal_total_order;
    case Op::less_total_order: return TileOp::less_total_order;
    case Op::less_or_equal_total_order: return TileOp::less_equal_total_order;
    case Op::greater_total_order: return TileOp::greater_total_order;
    case Op::greater_or_equal_total_order: return TileOp::greater_equal_total_order;
    case Op::select: return TileOp::select;
    case Op::clamp: return TileOp::clamp;
    case Op::silu: return TileOp::silu;
    default: return std::nullopt;
  }
}

std::optional<TileInstruction> conversion(DType from, DType to) {
  // From a half, every type is reached through f32, which represents every half exactly; to a half, only f32 itself may
  // go through f32, as any other number would be rounded twice.
  TileInstruction instruction{.kernel = tile_conversion(from, to), .operand_count = 1};
  if (computed_type(from) != from && to != DType::f32) {
    instruction.widen[0] = tile_conversion(from, DType::f32);
    instruction.kernel = tile_conversion(DType::f32, to);
  }
  if (!instruction.kernel) return std::nullopt;
  return instruction;
}

// Computes packed integers in their carriers: where the bits above an element's own matter, they are set to what the op
// needs; results are wrapped.
void compute_packed(TileInstruction& instruction, TileOp op, DType dtype) {
  switch (op) {
    case TileOp::population_count: instruction.widen[0] = tile_zero_extend(dtype); break;
    case TileOp::count_leading_zeros: instruction.widen[0] = tile_shift_up(dtype); break;
    case TileOp::shift_right_logical:
      instruction.widen = {tile_zero_extend(dtype), tile_zero_extend(dtype), TileKernel{}};
      break;
    case TileOp::shift_right_arithmetic:
      instruction.widen = {tile_sign_extend(dtype), tile_zero_extend(dtype), TileKernel{}};
      break;
    default: break;
  }
}

// The byte-sized type whose kernel computes on the carriers of packed integers.
DType carrier_type(TileOp op, DType dtype) {
  switch (op) {
    case TileOp::population_count:
    case TileOp::count_leading_zeros:
    case TileOp::shift_right_logical: return DType::u8;
    case TileOp::shift_right_arithmetic: return DType::i8;
    default: return tensor::carrier_of(dtype);
  }
}

// `stored` is the dtype of the operands that are computed with, `result` that of the result.
std::optional<TileInstruction> computation(TileOp op, DType stored, DType result, std::size_t operands) {
  const bool is_packed = tensor::is_packed(stored);
  const DType computed = op == TileOp::select ? tensor::carrier_of(stored)  // select only moves values
                         : is_packed          ? carrier_type(op, stored)
                                              : computed_type(stored);
  TileInstruction instruction{.kernel = tile_kernel(op, computed),
                              .operand_count = static_cast<std::uint8_t>(operands)};
  if (!instruction.kernel) return std::nullopt;
  if (op == TileOp::select) return instruction;
  if (is_packed) {
    compute_packed(instruction, op, stored);
    if (result == stored) instruction.narrow = tile_wrap(stored);
  } else if (computed != stored) {
    for (std::size_t i = 0; i < operands; ++i) instruction.widen[i] = tile_conversion(stored, computed);
    if (result == stored) instruction.narrow = tile_conversion(computed, stored);
  }
  return instruction;
}

TileOp gelu_op(const graph::Attributes& attributes) {
  return std::get<graph::Gelu>(attributes).tanh_approximation ? TileOp::gelu_tanh : TileOp::gelu_erf;
}

}  // namespace

std::optional<TileInstruction> tile_instruction(const graph::Graph& graph, const graph::Node& node) {
  const auto type_of = [&](std::size_t operand) { return graph.shape(node.operands[operand]).dtype; };
  if (node.op == Op::convert) return conversion(type_of(0), node.results[0].dtype);
  const std::optional<TileOp> op = node.op == Op::gelu ? gelu_op(node.attributes) : tile_op(node.op);
  if (!op) return std::nullopt;
  return computation(*op, type_of(*op == TileOp::select ? 1 : 0), node.results[0].dtype, node.operands.size());
}

bool has_tile_instruction(Op op, DType dtype) {
  if (op == Op::convert) return conversion(dtype, DType::f32).has_value();
  const std::optional<TileOp> tile = op == Op::gelu ? TileOp::gelu_erf : tile_op(op);
  return tile && computation(*tile, dtype, dtype, 1).has_value();
}

}  // namespace alate::cpu
