// Ops that compare. Complex numbers are compared by their parts, because runtimes order them differently.
#include "exchange/stablehlo/ops.h"
#include "exchange/stablehlo/rules.h"
#include "exchange/stablehlo/types.h"
#include "tensor/packed.h"

namespace alate::exchange {
namespace {

using graph::Op;

struct Parts {
  HloValue real, imaginary;
};

Parts parts_of(HloWriter& w, const HloValue& z) {
  const Shape part{z.shape.dtype == DType::c64 ? DType::f32 : DType::f64, z.shape.dims};
  return {w.op("real", {z}, part), w.op("imag", {z}, part)};
}

bool is_equality(std::string_view direction) { return direction == "EQ" || direction == "NE"; }

// Complex numbers compare by imaginary parts where the real ones are equal.
HloValue compare_values(HloWriter& w, std::string_view direction, const HloValue& x, const HloValue& y) {
  if (!is_complex(x.shape.dtype) || is_equality(direction)) return compare(w, direction, x, y);
  const Parts a = parts_of(w, x), b = parts_of(w, y);
  return select(w, compare(w, "EQ", a.real, b.real), compare(w, direction, a.imaginary, b.imaginary),
                compare(w, direction, a.real, b.real));
}

HloValue is_nan(HloWriter& w, const HloValue& x) { return compare(w, "NE", x, x); }
HloValue is_not(HloWriter& w, const HloValue& x) { return like_first(w, "not", {x}); }

// For complex numbers, the first with a NaN part; else the later (earlier) one in order.
HloValue larger_or_smaller(HloWriter& w, bool is_larger, const HloValue& x, const HloValue& y) {
  if (x.shape.dtype == DType::boolean) return like_first(w, is_larger ? "or" : "and", {x, y});
  if (!is_complex(x.shape.dtype)) return like_first(w, is_larger ? "maximum" : "minimum", {x, y});
  const HloValue beats = compare_values(w, is_larger ? "GT" : "LT", y, x);
  const HloValue takes_y = like_first(w, "and", {is_not(w, is_nan(w, x)), like_first(w, "or", {is_nan(w, y), beats})});
  return select(w, takes_y, y, x);
}

std::string_view direction_of(Op op) {
  switch (op) {
    case Op::equal:
    case Op::equal_total_order: return "EQ";
    case Op::not_equal:
    case Op::not_equal_total_order: return "NE";
    case Op::less:
    case Op::less_total_order: return "LT";
    case Op::less_or_equal:
    case Op::less_or_equal_total_order: return "LE";
    case Op::greater:
    case Op::greater_total_order: return "GT";
    default: return "GE";
  }
}

bool is_total_order(Op op) {
  constexpr std::string_view kEnd = "_total_order";
  return to_string(op).ends_with(kEnd);
}

}  // namespace

HloValues write_comparison(HloWriter& w, const HloCall& call) {
  const Op op = call.node.op;
  if (is_total_order(op)) return {compare(w, direction_of(op), call.operand(0), call.operand(1), true)};
  return {compare_values(w, direction_of(op), call.operand(0), call.operand(1))};
}

HloValues write_larger_or_smaller(HloWriter& w, const HloCall& call) {
  return {larger_or_smaller(w, call.node.op == Op::max, call.operand(0), call.operand(1))};
}

// By maximum and minimum, which support all dtypes and specify NaN.
HloValues write_clamp(HloWriter& w, const HloCall& call) {
  const HloValue& x = call.operand(1);
  const auto bound = [&](std::size_t place) {
    const HloValue& value = call.operand(place);
    return value.shape == x.shape ? value : broadcast(w, value, extents_of(x.shape), {});
  };
  return {larger_or_smaller(w, false, larger_or_smaller(w, true, x, bound(0)), bound(2))};
}

HloValues write_top_k(HloWriter& w, const HloCall& call) {
  const HloValue& x = call.operand(0);
  const DType carrier = tensor::carrier_of(x.shape.dtype);
  const HloValues found = w.ops("chlo.top_k", {convert(w, x, carrier)}, {{carrier, call.shape().dims}, call.shapes[1]},
                                "k = " + std::to_string(call.as<graph::TopK>().k) + " : i64");
  return {convert(w, found[0], x.shape.dtype), found[1]};
}

// Runtimes cannot sort sub-byte integers: they are sorted as bytes, and compared in their own dtype.
HloValues write_sort(HloWriter& w, const HloCall& call) {
  HloValues sorted;
  std::vector<Shape> shapes, pairs;
  for (const HloValue& x : call.operands) {
    // Sub-byte elements as wider numbers, which XLA can sort.
    const DType dtype = x.shape.dtype;
    sorted.push_back(convert(w, x, dtype == DType::f4e2m1fn ? DType::f32 : tensor::carrier_of(dtype)));
    shapes.push_back(sorted.back().shape);
    pairs.insert(pairs.end(), 2, Shape{shapes.back().dtype, {}});
  }
  const graph::Graph& comes_before = *call.node.regions[0];
  const std::string region = w.region(pairs, [&](HloValues pair) {
    for (std::size_t i = 0; i < pair.size(); ++i) pair[i] = convert(w, pair[i], call.operand(i / 2).shape.dtype);
    return write_nodes(w, comes_before, call.dims, pair);
  });
  const auto& [axis, is_stable] = call.as<graph::Sort>();
  if (call.shape().rank() == 0) return call.operands;
  sorted =
      w.ops("sort", sorted, shapes,
            "dimension = " + std::to_string(axis) + " : i64, is_stable = " + (is_stable ? "true" : "false"), {region});
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = convert(w, sorted[i], call.operand(i).shape.dtype);
  return sorted;
}

// Reduces (value, index) pairs in any order: a NaN is more extreme than any number, and the first of equal values wins.
HloValues write_arg_min_max(HloWriter& w, const HloCall& call) {
  const graph::ArgMinMax& attributes = call.as<graph::ArgMinMax>();
  const auto axis = static_cast<std::size_t>(attributes.axis);
  if (call.operand(0).shape.dims[axis] == Dim(0)) return {splat(w, call.shape(), 0)};
  const HloValue x = convert(w, call.operand(0), tensor::carrier_of(call.operand(0).shape.dtype));
  const bool is_small = x.shape.dims[axis].number() <= INT32_MAX;
  const Shape value{x.shape.dtype, {}}, place{is_small ? DType::i32 : DType::i64, {}};
  const std::string region = w.region({value, place, value, place}, [&](const HloValues& v) {
    const HloValue a_is_nan = is_nan(w, v[0]), b_is_nan = is_nan(w, v[2]);
    const HloValue beats = compare(w, attributes.is_min ? "LT" : "GT", v[0], v[2]);
    const HloValue wins = like_first(w, "or", {beats, like_first(w, "and", {a_is_nan, is_not(w, b_is_nan)})});
    const HloValue ties =
        like_first(w, "or", {compare(w, "EQ", v[0], v[2]), like_first(w, "and", {a_is_nan, b_is_nan})});
    return HloValues{select(w, wins, v[0], v[2]),
                     select(w, ties, like_first(w, "minimum", {v[1], v[3]}), select(w, wins, v[1], v[3]))};
  });
  const HloValue start = value.dtype == DType::boolean
                             ? splat(w, value, attributes.is_min ? 1 : 0)
                             : identity_of(w, attributes.is_min ? graph::Reduction::min : graph::Reduction::max, value);
  const HloValue last = identity_of(w, graph::Reduction::min, place);  // no index is after it
  const HloValue places = iota(w, {place.dtype, x.shape.dims}, attributes.axis);
  const HloValues found =
      w.ops("reduce", {x, places, start, last}, {{value.dtype, call.shape().dims}, {place.dtype, call.shape().dims}},
            "dimensions = " + array_attribute(Numbers{attributes.axis}), {region});
  return {convert(w, found[1], call.shape().dtype)};
}

}  // namespace alate::exchange
