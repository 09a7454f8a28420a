#include <algorithm>

#include "graph/reference/call.h"
#include "graph/reference/index.h"
#include "graph/reference/index_vectors.h"
#include "graph/reference/strided.h"
#include "graph/reference/values.h"

namespace alate::graph {

std::vector<std::int64_t> index_vectors(const Tensor& indices, std::int64_t vector_dim) {
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < indices.rank(); ++i) {
    if (static_cast<std::int64_t>(i) != vector_dim) order.push_back(static_cast<std::int64_t>(i));
  }
  if (order.size() < indices.rank()) order.push_back(vector_dim);
  return load_indices(transposed(indices, order));
}

// https://openxla.org/stablehlo/spec#gather: the result's axes are the indices' axes (without the index vectors') and,
// at offset_dims, a slice's axes (without collapsed and batching ones). Each index vector's slice is copied whole.
Tensor reference_gather(const ReferenceCall& call) {
  const Gather& gather = call.as<Gather>();
  const Tensor &x = call.operand(0), &indices = call.operand(1);
  Tensor result = Tensor::uninitialized(call.shape());
  if (result.element_count() == 0) return result;
  call.require(x.element_count() > 0, "there are places to take, but operand 0 has no elements");

  const std::size_t size = bits_of(x.dtype()) / 8;
  const Strides from_strides = row_major(extents_of(x.shape())), to_strides = row_major(extents_of(result.shape()));
  std::vector<std::int64_t> slice_sizes;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    slice_sizes.push_back(call.extent(gather.slice_sizes[i]));
    call.require(slice_sizes[i] <= x.extent(i), "a slice is larger than the operand that it is taken from");
  }

  // Result strides of a slice's axes and of the indices' axes; an axis that a slice lacks has one element and no
  // stride.
  Strides slice_strides(x.rank(), 0), batch_strides;
  std::vector<std::int64_t> batch_extents;
  for (std::size_t i = 0, next = 0; i < x.rank(); ++i) {
    if (!has_axis(gather.collapsed_slice_dims, i) && !has_axis(gather.operand_batching_dims, i))
      slice_strides[i] = to_strides[static_cast<std::size_t>(gather.offset_dims[next++])];
  }
  for (std::size_t i = 0; i < to_strides.size(); ++i) {
    if (has_axis(gather.offset_dims, i)) continue;
    batch_strides.push_back(to_strides[i]);
    batch_extents.push_back(result.extent(i));
  }

  const std::vector<std::int64_t> places = index_vectors(indices, gather.index_vector_dim);
  const std::size_t length = gather.start_index_map.size();
  std::size_t next = 0;
  for_each_index(batch_extents, [&](const std::vector<std::int64_t>& batch) {
    std::int64_t to = 0, from = 0;
    for (std::size_t i = 0; i < batch.size(); ++i) to += batch[i] * batch_strides[i];
    for (std::size_t i = 0; i < length; ++i) {
      const auto axis = static_cast<std::size_t>(gather.start_index_map[i]);
      from += std::clamp<std::int64_t>(places[next++], 0, x.extent(axis) - slice_sizes[axis]) * from_strides[axis];
    }
    for (std::size_t i = 0; i < gather.operand_batching_dims.size(); ++i) {
      const std::size_t axis = batch_place(gather.start_indices_batching_dims[i], gather.index_vector_dim);
      from += batch[axis] * from_strides[static_cast<std::size_t>(gather.operand_batching_dims[i])];
    }
    copy_strided(result.mutable_bytes().data() + static_cast<std::size_t>(to) * size, slice_strides,
                 x.bytes().data() + static_cast<std::size_t>(from) * size, from_strides, slice_sizes, size);
  });
  return result;
}

}  // namespace alate::graph
