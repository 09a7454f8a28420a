// Products, reductions and cumulative reductions.
#include "exchange/stablehlo/ops.h"
#include "exchange/stablehlo/rules.h"
#include "exchange/stablehlo/types.h"
#include "tensor/packed.h"

namespace alate::exchange {
namespace {

using graph::Op;
using graph::Reduction;

Reduction reduction_of(Op op) {
  switch (op) {
    case Op::reduce_sum:
    case Op::cumulative_sum: return Reduction::sum;
    case Op::reduce_product:
    case Op::cumulative_product: return Reduction::product;
    case Op::reduce_max:
    case Op::cumulative_max: return Reduction::max;
    case Op::reduce_min:
    case Op::cumulative_min: return Reduction::min;
    case Op::reduce_and: return Reduction::logical_and;
    case Op::reduce_or: return Reduction::logical_or;
    case Op::reduce_xor: return Reduction::logical_xor;
    case Op::reduce_bitwise_and: return Reduction::bitwise_and;
    case Op::reduce_bitwise_or: return Reduction::bitwise_or;
    default: return Reduction::bitwise_xor;
  }
}

// Sums and products are widened, so that they are rounded once, at the end; sub-byte integers use bytes only for these,
// since other reductions would see the extra bits.
HloValue widened(HloWriter& w, Reduction reduction, const HloValue& x) {
  const bool is_ring = reduction == Reduction::sum || reduction == Reduction::product;
  return is_ring ? convert(w, x, computing_dtype(x.shape.dtype)) : x;
}

}  // namespace

// f16 and bf16 products are summed in f32, sub-byte integers in bytes, whose low bits are the same; for bool, an or of
// ands is whether the sum of 0 and 1 products is above 0.
HloValues write_dot_general(HloWriter& w, const HloCall& call) {
  const graph::DotGeneral& dot = call.as<graph::DotGeneral>();
  const DType dtype = call.shape().dtype;
  const bool is_bool = dtype == DType::boolean, is_packed = tensor::is_packed(dtype);
  const DType taken = is_bool ? DType::f32 : is_packed ? tensor::carrier_of(dtype) : dtype;
  const Shape given{is_bool ? DType::f32 : computing_dtype(dtype), call.shape().dims};
  const HloValue product =
      w.op("dot_general", {convert(w, call.operand(0), taken), convert(w, call.operand(1), taken)}, given,
           "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = " + list(dot.lhs_batch) +
               ", rhs_batching_dimensions = " + list(dot.rhs_batch) +
               ", lhs_contracting_dimensions = " + list(dot.lhs_contracting) +
               ", rhs_contracting_dimensions = " + list(dot.rhs_contracting) + ">, " + std::string(kFullPrecision));
  if (is_bool) return {compare(w, "NE", product, splat_like(w, product, 0))};
  return {convert(w, product, dtype)};
}

HloValues write_reduction(HloWriter& w, const HloCall& call) {
  const Reduction reduction = reduction_of(call.node.op);
  const HloValue x = widened(w, reduction, call.operand(0));
  return {convert(w, reduce(w, reduction, x, call.as<graph::Axes>().axes), call.shape().dtype)};
}

// Hillis and Steele 1986, "Data parallel algorithms": each element combines with the one 1, 2, 4, … before it.
HloValues write_cumulative(HloWriter& w, const HloCall& call) {
  const graph::Cumulative& attributes = call.as<graph::Cumulative>();
  const Reduction reduction = reduction_of(call.node.op);
  const auto axis = static_cast<std::size_t>(attributes.axis);
  HloValue x = widened(w, reduction, call.operand(0));
  const HloValue start = identity_of(w, reduction, {x.shape.dtype, {}});
  const auto shifted = [&](std::int64_t step) {
    Numbers low(x.shape.rank(), 0), high = low;
    low[axis] = attributes.reverse ? -step : step;
    high[axis] = -low[axis];
    return pad(w, x, start, low, high);
  };
  if (attributes.exclusive) x = shifted(1);
  const std::int64_t length = x.shape.dims[axis].number();
  for (std::int64_t step = 1; step < length; step *= 2)
    x = like_first(w, op_of(reduction, x.shape.dtype), {x, shifted(step)});
  return {convert(w, x, call.shape().dtype)};
}

}  // namespace alate::exchange
