#include <algorithm>

#include "graph/shapes/axes.h"
#include "graph/shapes/rules.h"

// https://openxla.org/stablehlo/spec#gather and #scatter. Both address slices of operand 0 by index vectors in operand
// 1.
namespace alate::graph {
namespace {

// How index vectors address operand 0, with the names of the op's attributes.
struct Indexing {
  const Numbers &operand_axes, &operand_batching, &indices_batching;
  std::int64_t vector_dim;
  std::string_view operand_axes_name, operand_batching_name, indices_batching_name;
};

Numbers joined(Numbers a, const Numbers& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void require_operand(const InferenceInput& input) {
  input.require(contains(op_info(input.op).dtypes, input.operands[0].dtype),
                "operand 0 has a dtype that this op does not take");
  input.require(contains(kInts, input.operands[1].dtype), "operand 1 must be integers");
}

// Checks the index vectors; returns the dims of operand 1 without their axis.
Dims batch_dims(const InferenceInput& input, const Indexing& indexing) {
  const Shape &x = input.operands[0], &indices = input.operands[1];
  input.require(indexing.vector_dim >= 0 && static_cast<std::uint64_t>(indexing.vector_dim) <= indices.rank(),
                "index_vector_dim is outside the rank of operand 1");
  const auto vector_dim = static_cast<std::size_t>(indexing.vector_dim);
  const Dim length = vector_dim == indices.rank() ? Dim(1) : indices.dims[vector_dim];
  input.require(length == Dim(static_cast<std::int64_t>(indexing.operand_axes.size())), [&] {
    return std::string(indexing.operand_axes_name) + " has " + std::to_string(indexing.operand_axes.size()) +
           " entries, but an index vector of operand 1 has " + input.dims.to_string(length);
  });
  input.require(are_distinct_axes(joined(indexing.operand_axes, indexing.operand_batching), x.rank()), [&] {
    return std::string(indexing.operand_axes_name) + " and " + std::string(indexing.operand_batching_name) +
           " must name different axes of operand 0";
  });
  input.require(are_distinct_axes(indexing.indices_batching, indices.rank()) &&
                    !names(indexing.indices_batching, vector_dim) &&
                    indexing.indices_batching.size() == indexing.operand_batching.size(),
                [&] {
                  return std::string(indexing.indices_batching_name) +
                         " must name a different axis of operand 1, not index_vector_dim, for each of " +
                         std::string(indexing.operand_batching_name);
                });
  for (std::size_t i = 0; i < indexing.operand_batching.size(); ++i) {
    const auto at = static_cast<std::size_t>(indexing.operand_batching[i]),
               other = static_cast<std::size_t>(indexing.indices_batching[i]);
    input.require(x.dims[at] == indices.dims[other], [&] {
      return "batching axis " + std::to_string(at) + " of operand 0 is " + input.dims.to_string(x.dims[at]) +
             " but axis " + std::to_string(other) + " of operand 1 is " + input.dims.to_string(indices.dims[other]);
    });
  }
  Dims dims;
  for (std::size_t i = 0; i < indices.rank(); ++i) {
    if (i != vector_dim) dims.push_back(indices.dims[i]);
  }
  return dims;
}

// Checks the axes of operand 0 that are dropped from slices.
void require_dropped(const InferenceInput& input, const Numbers& dropped, std::string_view name,
                     const Indexing& indexing) {
  input.require(are_sorted(dropped) && are_sorted(indexing.operand_batching) &&
                    are_distinct_axes(joined(dropped, indexing.operand_batching), input.operands[0].rank()),
                [&] {
                  return std::string(name) + " and " + std::string(indexing.operand_batching_name) +
                         " must be different axes of operand 0, each in order";
                });
}

}  // namespace

std::vector<Shape> infer_gather(const InferenceInput& input) {
  const Gather& gather = input.as<Gather>();
  const Indexing indexing{.operand_axes = gather.start_index_map,
                          .operand_batching = gather.operand_batching_dims,
                          .indices_batching = gather.start_indices_batching_dims,
                          .vector_dim = gather.index_vector_dim,
                          .operand_axes_name = "start_index_map",
                          .operand_batching_name = "operand_batching_dims",
                          .indices_batching_name = "start_indices_batching_dims"};
  const Shape& x = input.operands[0];
  require_operand(input);
  const Dims batch = batch_dims(input, indexing);
  require_dropped(input, gather.collapsed_slice_dims, "collapsed_slice_dims", indexing);
  input.require(gather.slice_sizes.size() == x.rank(), "slice_sizes must have an entry for each axis of operand 0");
  require_dims(input, gather.slice_sizes, "slice_sizes");
  Dims offsets;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const Dim size = gather.slice_sizes[i];
    const bool dropped = names(gather.collapsed_slice_dims, i) || names(gather.operand_batching_dims, i);
    input.require(!dropped || size == Dim(1) || (size == Dim(0) && x.dims[i] == Dim(0)), [&] {
      return "slice_sizes[" + std::to_string(i) +
             "] must be 1 (or 0, where the axis is), because the axis is collapsed"
             " or batching";
    });
    const bool fits =
        size == x.dims[i] || (size.is_number() && (!x.dims[i].is_number() || size.number() <= x.dims[i].number()));
    input.require(fits, [&] { return "slice_sizes[" + std::to_string(i) + "] is larger than the axis"; });
    if (!dropped) offsets.push_back(size);
  }
  const std::size_t rank = batch.size() + offsets.size();
  input.require(gather.offset_dims.size() == offsets.size() && are_distinct_axes(gather.offset_dims, rank) &&
                    are_sorted(gather.offset_dims),
                "offset_dims must name one axis of the result for each axis of a slice, in order");
  Shape result{x.dtype, {}};
  auto next_offset = offsets.cbegin(), next_batch = batch.cbegin();
  for (std::size_t i = 0; i < rank; ++i)
    result.dims.push_back(names(gather.offset_dims, i) ? *next_offset++ : *next_batch++);
  return {result};
}

std::vector<Shape> infer_scatter(const InferenceInput& input) {
  const Scatter& scatter = input.as<Scatter>();
  const Indexing indexing{.operand_axes = scatter.scatter_dims_to_operand_dims,
                          .operand_batching = scatter.input_batching_dims,
                          .indices_batching = scatter.scatter_indices_batching_dims,
                          .vector_dim = scatter.index_vector_dim,
                          .operand_axes_name = "scatter_dims_to_operand_dims",
                          .operand_batching_name = "input_batching_dims",
                          .indices_batching_name = "scatter_indices_batching_dims"};
  const Shape &x = input.operands[0], &updates = input.operands[2];
  require_operand(input);
  input.require(updates.dtype == x.dtype, "operand 2 must have the dtype of operand 0");
  const Dims batch = batch_dims(input, indexing);
  require_dropped(input, scatter.inserted_window_dims, "inserted_window_dims", indexing);
  input.require(are_distinct_axes(scatter.update_window_dims, updates.rank()) && are_sorted(scatter.update_window_dims),
                "update_window_dims must be different axes of operand 2, in order");
  Dims found;
  for (std::size_t i = 0; i < updates.rank(); ++i) {
    if (!names(scatter.update_window_dims, i)) found.push_back(updates.dims[i]);
  }
  input.require(found == batch, [&] {
    return "operand 2 without update_window_dims is " + input.dims.to_string(Shape{updates.dtype, found}) +
           ", but operand 1 has index vectors " + input.dims.to_string(Shape{input.operands[1].dtype, batch});
  });
  std::size_t next = 0;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (names(scatter.inserted_window_dims, i) || names(scatter.input_batching_dims, i)) continue;
    input.require(
        next < scatter.update_window_dims.size(),
        "update_window_dims must have an entry for each axis of operand 0 that is neither inserted nor batching");
    const auto axis = static_cast<std::size_t>(scatter.update_window_dims[next++]);
    require_fits(input, updates.dims[axis], 0, i, "axis " + std::to_string(axis) + " of operand 2");
  }
  input.require(
      next == scatter.update_window_dims.size(),
      "update_window_dims must have an entry for each axis of operand 0 that is neither inserted nor batching");
  return {x};
}

}  // namespace alate::graph
