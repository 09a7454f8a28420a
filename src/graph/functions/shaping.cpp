#include <algorithm>

#include "graph/builder_functions.h"
#include "graph/functions/arguments.h"

namespace alate::graph {

std::vector<Value> split(Builder& b, Value x, const Numbers& sizes, std::int64_t axis) {
  const Arguments arguments{b, "split", {&x, 1}};
  const Shape shape = b.shape(x);
  const std::size_t at = arguments.axis(axis, shape.rank());
  arguments.require(shape.dims[at].is_number(), "the axis must have a number as extent");
  std::int64_t left = shape.dims[at].number();
  for (const std::int64_t size : sizes) {
    arguments.require(size >= 0 && size <= left, "the pieces must be as long as the axis together");
    left -= size;
  }
  arguments.require(left == 0, "the pieces must be as long as the axis together");
  Slice slice{Dims(shape.rank(), 0), shape.dims, {}};
  std::vector<Value> pieces;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    slice.starts[at] = start;
    slice.limits[at] = start += size;
    pieces.push_back(b.slice({x}, slice));
  }
  return pieces;
}

std::vector<Value> split_evenly(Builder& b, Value x, std::int64_t count, std::int64_t axis) {
  const Arguments arguments{b, "split_evenly", {&x, 1}};
  const Dim extent = b.shape(x).dims[arguments.axis(axis, b.shape(x).rank())];
  arguments.require(count > 0 && extent.is_number() && extent.number() % count == 0,
                    std::to_string(count) + " pieces must divide the axis, whose extent is a number");
  constexpr std::int64_t kMostPieces = 1 << 16;
  arguments.require(count <= kMostPieces, "more pieces than a graph may have");
  return split(b, x, Numbers(static_cast<std::size_t>(count), extent.number() / count), axis);
}

Value stack(Builder& b, const std::vector<Value>& values, std::int64_t axis) {
  const Arguments arguments{b, "stack", values};
  arguments.require(!values.empty(), "needs at least one value");
  const Shape shape = b.shape(values.front());
  const std::size_t at = arguments.axis(axis, shape.rank() + 1);
  std::vector<Value> rows;
  for (const Value value : values) {
    arguments.require(b.shape(value) == shape, "values must have one dtype and the same dims");
    rows.push_back(expand_dims(b, value, {static_cast<std::int64_t>(at)}));
  }
  return b.concatenate(std::move(rows), {.axis = static_cast<std::int64_t>(at)});
}

Value column(Builder& b, Value matrix, std::int64_t index) {
  const Arguments arguments{b, "column", {&matrix, 1}};
  const Dims dims = b.shape(matrix).dims;
  arguments.require(dims.size() == 2, "the value is not a matrix");
  const Value one = b.slice({matrix}, {.starts = {0, index}, .limits = {dims[0], index + 1}, .strides = {}});
  return b.reshape({one}, {.dims = {dims[0]}});
}

Value squeeze(Builder& b, Value x, const std::optional<Numbers>& axes) {
  const Arguments arguments{b, "squeeze", {&x, 1}};
  const Dims dims = b.shape(x).dims;
  const std::vector<bool> named = arguments.named_axes(axes.value_or(Numbers()), dims.size());
  Dims kept;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool is_one = dims[i] == Dim(1);
    arguments.require(!named[i] || is_one, "axis " + std::to_string(i) + " does not have the extent 1");
    if (axes ? !named[i] : !is_one) kept.push_back(dims[i]);
  }
  return kept.size() == dims.size() ? x : b.reshape({x}, {.dims = std::move(kept)});
}

Value expand_dims(Builder& b, Value x, const Numbers& axes) {
  const Arguments arguments{b, "expand_dims", {&x, 1}};
  Dims left = b.shape(x).dims, dims;
  const std::vector<bool> is_new = arguments.named_axes(axes, left.size() + axes.size());
  std::size_t next = 0;
  for (const bool one : is_new) dims.push_back(one ? Dim(1) : left[next++]);
  return axes.empty() ? x : b.reshape({x}, {.dims = std::move(dims)});
}

// [a, b] repeated [m, n] times is [m·a, n·b] over the broadcast [m, a, n, b].
Value tile(Builder& b, Value x, const Numbers& repeats) {
  const Arguments arguments{b, "tile", {&x, 1}};
  Dims dims = b.shape(x).dims;
  Numbers counts = repeats;
  if (dims.size() < counts.size()) dims.insert(dims.begin(), counts.size() - dims.size(), 1);
  if (counts.size() < dims.size()) counts.insert(counts.begin(), dims.size() - counts.size(), 1);
  Dims apart, result;
  Numbers mapping;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::string axis = "axis " + std::to_string(i) + ": ";
    arguments.require(counts[i] >= 0, axis + "cannot repeat a negative number of times");
    if (counts[i] != 1) {
      arguments.require(dims[i].is_number(), axis + "only an extent that is a number can repeat");
      const std::int64_t extent = dims[i].number();
      arguments.require(extent == 0 || counts[i] <= INT64_MAX / extent, axis + "the extent would overflow");
      apart.push_back(counts[i]);
      result.push_back(counts[i] * extent);
    } else {
      result.push_back(dims[i]);
    }
    mapping.push_back(static_cast<std::int64_t>(apart.size()));
    apart.push_back(dims[i]);
  }
  const Value whole = dims == b.shape(x).dims ? x : b.reshape({x}, {.dims = dims});
  if (apart.size() == dims.size()) return whole;
  return b.reshape({b.broadcast_in_dim({whole}, {.dims = std::move(apart), .mapping = std::move(mapping)})},
                   {.dims = std::move(result)});
}

Value one_hot(Builder& b, Value indices, Dim depth, DType dtype, std::int64_t axis, double on, double off) {
  const Arguments arguments{b, "one_hot", {&indices, 1}};
  Dims dims = b.shape(indices).dims;
  arguments.require(contains(kInts, b.shape(indices).dtype), "indices must be integers");
  arguments.require(contains(kAll, dtype), "cannot make values of dtype " + std::string(to_string(dtype)));
  const auto at = static_cast<std::int64_t>(arguments.axis(axis, dims.size() + 1));
  Numbers mapping;
  for (std::int64_t i = 0; i <= static_cast<std::int64_t>(dims.size()); ++i) {
    if (i != at) mapping.push_back(i);
  }
  dims.insert(dims.begin() + at, depth);
  // In i64, since a narrow index dtype might not hold all positions; u64 beyond it becomes negative and matches none.
  const Value wide = b.shape(indices).dtype == DType::i64 ? indices : b.convert({indices}, {.dtype = DType::i64});
  const Value places = b.broadcast_in_dim({wide}, {.dims = dims, .mapping = std::move(mapping)});
  const Value is_on = b.equal({places, b.iota({}, {.dtype = DType::i64, .dims = dims, .axis = at})});
  return b.select({is_on, broadcast_to(b, b.scalar(dtype, on), dims), broadcast_to(b, b.scalar(dtype, off), dims)});
}

Dims broadcast_dims(const Builder& b, std::string_view function, std::span<const Value> values) {
  const Arguments arguments{b, function, values};
  Dims together;
  for (const Value value : values) {
    Dims dims = b.shape(value).dims;
    if (together.size() < dims.size()) together.insert(together.begin(), dims.size() - together.size(), 1);
    dims.insert(dims.begin(), together.size() - dims.size(), 1);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      arguments.require(dims[i] == together[i] || dims[i] == Dim(1) || together[i] == Dim(1),
                        "extents do not broadcast, which must be the same or 1, counted from the last axis");
      if (together[i] == Dim(1)) together[i] = dims[i];
    }
  }
  return together;
}

}  // namespace alate::graph
