// Reductions and cumulative ops.
#include <limits>

#include "exchange/onnx/folds.h"
#include "exchange/onnx/spelling.h"

namespace alate::exchange::onnx {
namespace {

using graph::kBool;
using graph::Op;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const Numbers& axes_of(const Call& c) { return c.as<graph::Axes>().axes; }

Term reduced(std::string_view op, const Term& x, const Numbers& axes) {
  if (axes.empty()) return x;
  return x.emitter->node(op, x.dtype, {x, x.emitter->integers(axes)}, {attribute("keepdims", 0)});
}

template <int kOperator>
Terms reduce(const Call& c) {
  constexpr std::string_view kOperators[] = {"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin"};
  return {reduced(kOperators[kOperator], c[0], axes_of(c))};
}

// ReduceSum and, for i64, ReduceMax and ReduceMin compute in floats; a matrix product with ones is exact.
Terms sum_of_integers(const Call& c) {
  const Dims& dims = c.shape().dims;
  const Numbers kept = other_axes(dims.size(), axes_of(c));
  Numbers order = kept;
  order.insert(order.end(), axes_of(c).begin(), axes_of(c).end());
  const Term count = product_of(c.e, picked(dims, axes_of(c)));
  const Term rows = reshape_to(transpose(c[0], order), concatenate({product_of(c.e, picked(dims, kept)), count}, 0));
  const Term ones =
      c.e.node("Expand", c[0].dtype, {c.e.scalar(c[0].dtype, 1), concatenate({count, c.e.integers({1})}, 0)});
  return {reshape(c.e.node("MatMul", c[0].dtype, {rows, ones}), c.result().dims)};
}

// The runtime's comparisons lose NaN.
template <int kOperator>
Terms reduce_with_nan(const Call& c) {
  const Term has_nan = reduced("ReduceMax", to(is_nan(c[0]), DType::i32), axes_of(c)) > 0;
  return {where(has_nan, std::numeric_limits<double>::quiet_NaN(), reduce<kOperator>(c)[0])};
}

// On 0 and 1 as i32; an empty reduction gives an extreme of i32, which the comparison maps to the right bool.
Terms reduce_and(const Call& c) { return {reduced("ReduceMin", to(c[0], DType::i32), axes_of(c)) > 0}; }
Terms reduce_or(const Call& c) { return {reduced("ReduceMax", to(c[0], DType::i32), axes_of(c)) > 0}; }
Terms reduce_xor(const Call& c) {
  const Term count = reduced("ReduceSum", to(c[0], DType::i64), axes_of(c));
  return {(count & c.e.integer(DType::i64, 1)) == 1};
}

template <Term (*kCombine)(const Term&, const Term&), int kFirst>
Terms fold_bits(const Call& c) {
  const Term first = c.e.integer(c[0].dtype, kFirst);
  return fold({c[0]}, c.shape().dims, axes_of(c), {first},
              [](const Terms& in) { return Terms{kCombine(in[0], in[1])}; });
}

Term sum_of_numbers(const Call& c, const Term& x) {
  const auto& cumulative = c.as<graph::Cumulative>();
  return c.e.node(
      "CumSum", x.dtype, {x, c.e.integer(DType::i64, cumulative.axis)},
      {attribute("exclusive", cumulative.exclusive ? 1 : 0), attribute("reverse", cumulative.reverse ? 1 : 0)});
}
Terms cumulative_sum(const Call& c) { return {sum_of_numbers(c, c[0])}; }
Terms cumulative_or(const Call& c) { return {sum_of_numbers(c, to(c[0], DType::i64)) > 0}; }

Term times(const Term& a, const Term& b) { return a * b; }

// The lowest (highest) value.
Term extreme_of(Emitter& e, DType dtype, bool is_highest) {
  if (is_float(dtype)) return e.scalar(dtype, is_highest ? kInfinity : -kInfinity);
  const auto above = 64 - bits_of(dtype);
  return e.integer(dtype, is_highest ? INT64_MAX >> above : INT64_MIN >> above);
}

Terms scanned(const Call& c, const Term& first, Term (*combine)(const Term&, const Term&)) {
  return {scan(c[0], c.shape().dims, c.as<graph::Cumulative>(), first, combine)};
}
Terms cumulative_product(const Call& c) { return scanned(c, c.e.scalar(c[0].dtype, 1), times); }
Terms cumulative_max(const Call& c) { return scanned(c, extreme_of(c.e, c[0].dtype, false), exact_larger); }
Terms cumulative_min(const Call& c) { return scanned(c, extreme_of(c.e, c[0].dtype, true), exact_smaller); }
Terms cumulative_and(const Call& c) {
  const Term left = sum_of_numbers(c, to(!c[0], DType::i64));
  return {left == 0};
}

// The first NaN wins, if there is one.
Terms arg_min_max(const Call& c) {
  const auto& [axis, dtype, is_min] = c.as<graph::ArgMinMax>();
  const Dim extent = c.shape().dims[static_cast<std::size_t>(axis)];
  if (extent == Dim(0)) return {expand(c.e.integer(dtype, 0), c.result().dims)};
  const Attributes attributes{attribute("axis", axis), attribute("keepdims", 0)};
  const Term x = c[0].dtype == DType::boolean ? to(c[0], DType::i32) : c[0];
  const Term place = c.e.node(is_min ? "ArgMin" : "ArgMax", DType::i64, {x}, attributes);
  if (!is_float(x.dtype)) return {to(place, dtype)};
  const Term nans = to(is_nan(x), DType::i32);
  const Term first_nan = c.e.node("ArgMax", DType::i64, {nans}, attributes);
  return {to(where(reduced("ReduceMax", nans, {axis}) > 0, first_nan, place), dtype)};
}

template <bool kMin>
Terms fold_extreme(const Call& c) {
  return fold({c[0]}, c.shape().dims, axes_of(c), {extreme_of(c.e, c[0].dtype, kMin)},
              [](const Terms& in) { return Terms{kMin ? smaller(in[0], in[1]) : larger(in[0], in[1])}; });
}

constexpr graph::DTypeSet kI32 = graph::set_of(DType::i32), kI64 = graph::set_of(DType::i64);

Terms fold_product(const Call& c) {
  const Term first = c.e.scalar(c[0].dtype, 1);
  return fold({c[0]}, c.shape().dims, axes_of(c), {first}, [](const Terms& in) { return Terms{in[0] * in[1]}; });
}

constexpr Spelling kReductionRows[] = {
    {Op::reduce_sum, kFloats, "ReduceSum", reduce<0>},
    {Op::reduce_sum, kIntegers, "MatMul", sum_of_integers},
    {Op::reduce_sum, kBool, "ReduceMax", reduce_or},
    {Op::reduce_product, kFloats, "ReduceProd", reduce<1>},
    {Op::reduce_product, kIntegers, "Loop, Mul", fold_product},  // ReduceProd does not wrap
    {Op::reduce_product, kBool, "ReduceMin", reduce_and},
    {Op::reduce_max, kI32, "ReduceMax", reduce<2>},
    {Op::reduce_max, kI64, "Loop, Less, Where", fold_extreme<false>},
    {Op::reduce_max, kFloats, "ReduceMax, Where", reduce_with_nan<2>},
    {Op::reduce_min, kI32, "ReduceMin", reduce<3>},
    {Op::reduce_min, kI64, "Loop, Less, Where", fold_extreme<true>},
    {Op::reduce_min, kFloats, "ReduceMin, Where", reduce_with_nan<3>},
    {Op::reduce_and, kBool, "ReduceMin", reduce_and},
    {Op::reduce_or, kBool, "ReduceMax", reduce_or},
    {Op::reduce_xor, kBool, "ReduceSum", reduce_xor},
    {Op::reduce_bitwise_and, kIntegers, "Loop, BitwiseAnd", fold_bits<operator&, -1>},
    {Op::reduce_bitwise_or, kIntegers, "Loop, BitwiseOr", fold_bits<operator|, 0>},
    {Op::reduce_bitwise_xor, kIntegers, "Loop, BitwiseXor", fold_bits<operator^, 0>},
    {Op::cumulative_sum, kNumbers, "CumSum", cumulative_sum},
    {Op::cumulative_sum, kBool, "CumSum", cumulative_or},
    {Op::cumulative_product, kNumbers, "Loop, Mul", cumulative_product},
    {Op::cumulative_product, kBool, "CumSum", cumulative_and},
    {Op::cumulative_max, kNumbers, "Loop, Max", cumulative_max},
    {Op::cumulative_min, kNumbers, "Loop, Min", cumulative_min},
    {Op::arg_min_max, kMain, "ArgMin, ArgMax", arg_min_max},
};

}  // namespace

std::span<const Spelling> reduction_spellings() { return kReductionRows; }

}  // namespace alate::exchange::onnx
