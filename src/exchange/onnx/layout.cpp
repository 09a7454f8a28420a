#include "exchange/onnx/layout.h"

#include <algorithm>

#include "exchange/onnx/emitter.h"

namespace alate::exchange::onnx {
namespace {

Term over_axes(std::string_view op, const Term& x, const Numbers& axes) {
  return axes.empty() ? x : x.emitter->node(op, x.dtype, {x, x.emitter->integers(axes)});
}

}  // namespace

Term reshape(const Term& x, const Dims& dims) { return reshape_to(x, x.emitter->extents(dims)); }

Term reshape_to(const Term& x, const Term& shape) {
  return x.emitter->node("Reshape", x.dtype, {x, shape}, {attribute("allowzero", 1)});
}

Term flatten(const Term& x) {
  return x.emitter->node("Reshape", x.dtype, {x, x.emitter->integers({-1})}, {attribute("allowzero", 0)});
}

Term transpose(const Term& x, const Numbers& permutation) {
  if (std::ranges::is_sorted(permutation)) return x;
  return x.emitter->node("Transpose", x.dtype, {x}, {attribute("perm", permutation)});
}

Term inverse_transpose(const Term& x, const Numbers& permutation) {
  Numbers inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  return transpose(x, inverse);
}

Term unsqueeze(const Term& x, const Numbers& axes) { return over_axes("Unsqueeze", x, axes); }
Term squeeze(const Term& x, const Numbers& axes) { return over_axes("Squeeze", x, axes); }

Term expand(const Term& x, const Dims& dims) {
  // The runtime keeps an extent of 1 that should become 0.
  if (std::ranges::find(dims, Dim(0)) != dims.end()) {
    const Term none = x.emitter->integers({0});
    return reshape(slice(flatten(x), {0}, none, none, {1}), dims);
  }
  return x.emitter->node("Expand", x.dtype, {x, x.emitter->extents(dims)});
}

Term concatenate(const Terms& parts, std::int64_t axis) {
  if (parts.size() == 1) return parts[0];
  return parts[0].emitter->node("Concat", parts[0].dtype, parts, {attribute("axis", axis)});
}

Term slice(const Term& x, const Numbers& axes, const Term& starts, const Term& limits, const Numbers& steps) {
  Emitter& e = *x.emitter;
  if (axes.empty()) return x;
  return e.node("Slice", x.dtype, {x, starts, limits, e.integers(axes), e.integers(steps)});
}

Term reverse(const Term& x, const Numbers& axes) {
  Emitter& e = *x.emitter;
  const std::size_t n = axes.size();
  return slice(x, axes, e.integers(Numbers(n, -1)), e.integers(Numbers(n, INT64_MIN)), Numbers(n, -1));
}

Term pad_axis(const Term& x, const Dims& dims, std::size_t axis, const Term& value, std::int64_t low, std::int64_t high,
              std::int64_t interior) {
  Emitter& e = *x.emitter;
  const auto at = static_cast<std::int64_t>(axis);
  const bool is_single = dims[axis].is_number() && dims[axis].number() <= 1;
  const auto cut = [&](const Term& y, std::int64_t start, std::int64_t limit) {
    return slice(y, {at}, e.integers({start}), e.integers({limit}), {1});
  };
  // `count` values along the axis, with the other extents unchanged.
  const auto filling = [&](std::int64_t count) {
    const Term shape = shape_of(x);
    const Term other = e.node("ScatterElements", DType::i64, {shape, e.integers({at}), e.integers({count})});
    return e.node("Expand", x.dtype, {value, other});
  };
  Term result = x;
  if (interior > 0 && !is_single) {
    const Term shape = shape_of(x);
    const auto rank = static_cast<std::int64_t>(dims.size());
    const Term before = slice(shape, {0}, e.integers({0}), e.integers({at + 1}), {1});
    const Term after = slice(shape, {0}, e.integers({at + 1}), e.integers({rank}), {1});
    const Term holes = e.node("Expand", x.dtype, {value, concatenate({before, e.integers({interior}), after}, 0)});
    const Term spread = concatenate({unsqueeze(x, {at + 1}), holes}, at + 1);
    const Term factor = e.integers({interior + 1});
    const Term extent = slice(shape, {0}, e.integers({at}), e.integers({at + 1}), {1}) * factor;
    const Term front = slice(shape, {0}, e.integers({0}), e.integers({at}), {1});
    result = cut(reshape_to(spread, concatenate({front, extent, after}, 0)), 0, -interior);
  }
  Terms parts;
  if (low > 0) parts.push_back(filling(low));
  parts.push_back(result);
  if (high > 0) parts.push_back(filling(high));
  result = concatenate(parts, at);
  if (low >= 0 && high >= 0) return result;
  return cut(result, low < 0 ? -low : 0, high < 0 ? high : INT64_MAX);
}

Term count_to(const Term& extent) {
  Emitter& e = *extent.emitter;
  return e.node("Range", DType::i64, {e.integer(DType::i64, 0), squeeze(extent, {0}), e.integer(DType::i64, 1)});
}

Term along_axis(const Term& x, std::size_t rank, std::size_t axis) {
  Numbers axes;
  for (std::size_t i = 0; i < rank; ++i) {
    if (i != axis) axes.push_back(static_cast<std::int64_t>(i));
  }
  return unsqueeze(x, axes);
}

Dims picked(const Dims& dims, const Numbers& axes) {
  Dims result;
  for (const std::int64_t axis : axes) result.push_back(dims[static_cast<std::size_t>(axis)]);
  return result;
}

Numbers other_axes(std::size_t rank, const Numbers& axes) {
  Numbers result;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(rank); ++axis) {
    if (std::ranges::find(axes, axis) == axes.end()) result.push_back(axis);
  }
  return result;
}

Term product_of(Emitter& e, const Dims& dims) {
  std::int64_t known = 1;
  for (const Dim dim : dims) known *= dim.is_number() ? dim.number() : 1;
  Term product = e.integers({known});
  for (const Dim dim : dims) {
    if (!dim.is_number()) product = product * e.extent(dim);
  }
  return product;
}

Term scalar_product_of(Emitter& e, const Dims& dims) { return squeeze(product_of(e, dims), {0}); }

Term as_indices(const Term& x) {
  const Term places = to(x, DType::i64);
  if (x.dtype != DType::u64) return places;
  return where(places < 0, x.emitter->integer(DType::i64, INT64_MAX), places);
}

Term entry(const Term& x, const Term& place, std::int64_t axis) {
  return x.emitter->node("Gather", x.dtype, {x, place}, {attribute("axis", axis)});
}

Term shape_of(const Term& x) { return x.emitter->node("Shape", DType::i64, {x}); }

Term filled(Emitter& e, DType dtype, double value, const Dims& dims) { return expand(e.scalar(dtype, value), dims); }

}  // namespace alate::exchange::onnx
