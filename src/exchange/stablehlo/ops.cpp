#include "exchange/stablehlo/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "alate/error.h"
#include "exchange/stablehlo/types.h"
#include "graph/reference/values.h"
#include "tensor/packed.h"

namespace alate::exchange {

using graph::Reduction;

HloValue like_first(HloWriter& w, std::string_view name, const HloValues& operands) {
  return w.op(name, operands, operands[0].shape);
}

HloValue compare(HloWriter& w, std::string_view direction, const HloValue& x, const HloValue& y, bool is_total_order) {
  std::string_view type = is_signed_integer(x.shape.dtype) ? "SIGNED" : "UNSIGNED";
  if (is_float(x.shape.dtype) || is_complex(x.shape.dtype)) type = is_total_order ? "TOTALORDER" : "FLOAT";
  return w.op("compare", {x, y}, {DType::boolean, x.shape.dims},
              "comparison_direction = #stablehlo<comparison_direction " + std::string(direction) +
                  ">, compare_type = #stablehlo<comparison_type " + std::string(type) + ">");
}

HloValue select(HloWriter& w, const HloValue& condition, const HloValue& on_true, const HloValue& on_false) {
  return w.op("select", {condition, on_true, on_false}, on_true.shape);
}

HloValue convert(HloWriter& w, const HloValue& x, DType dtype) {
  return x.shape.dtype == dtype ? x : w.op("convert", {x}, {dtype, x.shape.dims});
}

HloValue reshape(HloWriter& w, const HloValue& x, const Numbers& extents) {
  const Shape shape = shape_of(x.shape.dtype, extents);
  return x.shape == shape ? x : w.op("reshape", {x}, shape);
}

HloValue transpose(HloWriter& w, const HloValue& x, const Numbers& permutation) {
  Shape shape{x.shape.dtype, {}};
  for (const std::int64_t axis : permutation) shape.dims.push_back(x.shape.dims[static_cast<std::size_t>(axis)]);
  return w.op("transpose", {x}, shape, "permutation = " + array_attribute(permutation));
}

HloValue broadcast(HloWriter& w, const HloValue& x, const Numbers& extents, const Numbers& mapping) {
  return w.op("broadcast_in_dim", {x}, shape_of(x.shape.dtype, extents),
              "broadcast_dimensions = " + array_attribute(mapping));
}

HloValue slice(HloWriter& w, const HloValue& x, std::size_t axis, std::int64_t first, std::int64_t limit) {
  Numbers starts(x.shape.rank(), 0), limits = extents_of(x.shape);
  if (first == 0 && limit == limits[axis]) return x;
  starts[axis] = first;
  limits[axis] = limit;
  Shape shape = x.shape;
  shape.dims[axis] = limit - first;
  return w.op("slice", {x}, shape,
              "start_indices = " + array_attribute(starts) + ", limit_indices = " + array_attribute(limits) +
                  ", strides = " + array_attribute(Numbers(x.shape.rank(), 1)));
}

HloValue pad(HloWriter& w, const HloValue& x, const HloValue& value, const Numbers& low, const Numbers& high) {
  Shape shape = x.shape;
  for (std::size_t i = 0; i < low.size(); ++i) shape.dims[i] = shape.dims[i].number() + low[i] + high[i];
  return w.op("pad", {x, value}, shape,
              "edge_padding_low = " + array_attribute(low) + ", edge_padding_high = " + array_attribute(high) +
                  ", interior_padding = " + array_attribute(Numbers(low.size(), 0)));
}

HloValue concatenate(HloWriter& w, const HloValues& values, std::int64_t axis) {
  Shape shape = values[0].shape;
  std::int64_t extent = 0;
  for (const HloValue& value : values) extent += value.shape.dims[static_cast<std::size_t>(axis)].number();
  shape.dims[static_cast<std::size_t>(axis)] = extent;
  return w.op("concatenate", values, shape, "dimension = " + std::to_string(axis) + " : i64");
}

HloValue iota(HloWriter& w, const Shape& shape, std::int64_t axis) {
  return w.op("iota", {}, shape, "iota_dimension = " + std::to_string(axis) + " : i64");
}

HloValue splat(HloWriter& w, const Shape& shape, double value) {
  const HloValue scalar = w.constant(tensor::scalar_of(shape.dtype, value));
  return shape.rank() == 0 ? scalar : broadcast(w, scalar, extents_of(shape), {});
}

HloValue identity_of(HloWriter& w, Reduction reduction, const Shape& shape) {
  const DType dtype = shape.dtype;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto word = [&](std::uint64_t bits) {
    const HloValue scalar = w.constant(graph::store_words({dtype, {}}, std::vector{bits}));
    return shape.rank() == 0 ? scalar : broadcast(w, scalar, extents_of(shape), {});
  };
  const std::uint64_t sign =
      dtype == DType::boolean || !is_signed_integer(dtype) ? 0 : std::uint64_t{1} << (bits_of(dtype) - 1);
  switch (reduction) {
    case Reduction::sum:
    case Reduction::logical_or:
    case Reduction::logical_xor:
    case Reduction::bitwise_or:
    case Reduction::bitwise_xor: return splat(w, shape, 0);
    case Reduction::product:
    case Reduction::logical_and: return splat(w, shape, 1);
    case Reduction::bitwise_and: return word(~std::uint64_t{0});
    case Reduction::max: return is_float(dtype) ? splat(w, shape, -kInfinity) : word(sign);
    case Reduction::min: return is_float(dtype) ? splat(w, shape, kInfinity) : word(~sign);
  }
  throw make_error(ErrorCode::internal, "a reduction without an identity");
}

std::string_view op_of(Reduction reduction, DType dtype) {
  const bool is_logical = dtype == DType::boolean;
  switch (reduction) {
    case Reduction::sum: return is_logical ? "or" : "add";
    case Reduction::product: return is_logical ? "and" : "multiply";
    case Reduction::max: return "maximum";
    case Reduction::min: return "minimum";
    case Reduction::logical_and:
    case Reduction::bitwise_and: return "and";
    case Reduction::logical_or:
    case Reduction::bitwise_or: return "or";
    case Reduction::logical_xor:
    case Reduction::bitwise_xor: return "xor";
  }
  return {};
}

std::string combining_region(HloWriter& w, Reduction reduction, DType dtype) {
  const Shape scalar{dtype, {}};
  return w.region({scalar, scalar},
                  [&](const HloValues& pair) { return HloValues{like_first(w, op_of(reduction, dtype), pair)}; });
}

HloValue reduce(HloWriter& w, Reduction reduction, const HloValue& x, const Numbers& axes) {
  const HloValue start = identity_of(w, reduction, {x.shape.dtype, {}});
  Shape shape{x.shape.dtype, {}};
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    if (!names(axes, i)) shape.dims.push_back(x.shape.dims[i]);
  }
  return w.ops("reduce", {x, start}, {shape}, "dimensions = " + array_attribute(axes),
               {combining_region(w, reduction, x.shape.dtype)})[0];
}

DType computing_dtype(DType dtype) {
  if (dtype == DType::f16 || dtype == DType::bf16) return DType::f32;
  return tensor::carrier_of(dtype);
}

HloValue as_indices(HloWriter& w, const HloValue& indices) {
  const DType dtype = indices.shape.dtype;
  if (dtype == DType::i32 || dtype == DType::i64) return indices;
  if (dtype != DType::u64) return convert(w, indices, dtype == DType::u32 ? DType::i64 : DType::i32);
  const HloValue highest = w.constant(graph::store_words({dtype, {}}, std::vector{~std::uint64_t{0} >> 1}));
  return convert(w, like_first(w, "minimum", {indices, broadcast(w, highest, extents_of(indices.shape), {})}),
                 DType::i64);
}

Numbers counted(std::size_t count) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

bool names(const Numbers& axes, std::size_t axis) {
  return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
}

}  // namespace alate::exchange
