#include <algorithm>

#include "graph/reference/call.h"
#include "graph/reference/strided.h"
#include "graph/reference/values.h"

namespace alate::graph {

// https://openxla.org/stablehlo/spec#gather: the result's axes are those of the indices (without the one of index
// vectors) and, at offset_dims, those of a slice (without the collapsed ones). The slice of each index vector is copied
// whole.
Tensor reference_gather(const ReferenceCall& call) {
  const Gather& gather = call.as<Gather>();
  const Tensor &x = call.operand(0), &indices = call.operand(1);
  Tensor result = Tensor::uninitialized(call.shape());
  if (result.element_count() == 0) return result;

  const std::size_t size = bits_of(x.dtype()) / 8;
  const Strides from_strides = row_major(extents_of(x.shape())), to_strides = row_major(extents_of(result.shape()));
  std::vector<std::int64_t> slice_sizes;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    slice_sizes.push_back(call.extent(gather.slice_sizes[i]));
    call.require(slice_sizes[i] <= x.extent(i), "a slice is larger than the operand that it is taken from");
  }

  // Where a slice's axes and the indices' axes are in the result; a collapsed axis has one element and no place.
  Strides slice_strides(x.rank(), 0), batch_strides;
  std::vector<std::int64_t> batch_extents;
  for (std::size_t i = 0, next = 0; i < x.rank(); ++i) {
    const auto& collapsed = gather.collapsed_slice_dims;
    if (std::find(collapsed.begin(), collapsed.end(), static_cast<std::int64_t>(i)) == collapsed.end())
      slice_strides[i] = to_strides[static_cast<std::size_t>(gather.offset_dims[next++])];
  }
  for (std::size_t i = 0; i < to_strides.size(); ++i) {
    const auto& offsets = gather.offset_dims;
    if (std::find(offsets.begin(), offsets.end(), static_cast<std::int64_t>(i)) != offsets.end()) continue;
    batch_strides.push_back(to_strides[i]);
    batch_extents.push_back(result.extent(i));
  }

  // The vectors' own axis goes last, so that each is a row of `places`.
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < indices.rank(); ++i) {
    if (static_cast<std::int64_t>(i) != gather.index_vector_dim) order.push_back(static_cast<std::int64_t>(i));
  }
  if (order.size() < indices.rank()) order.push_back(gather.index_vector_dim);
  const std::vector<std::int64_t> places = load_places(transposed(indices, order));

  const Strides batch_places = row_major(batch_extents);
  const std::size_t length = gather.start_index_map.size();
  for (std::int64_t batch = 0; batch < product(batch_extents); ++batch) {
    std::int64_t to = 0, from = 0;
    for (std::size_t i = 0; i < batch_extents.size(); ++i)
      to += batch / batch_places[i] % batch_extents[i] * batch_strides[i];
    for (std::size_t i = 0; i < length; ++i) {
      const auto axis = static_cast<std::size_t>(gather.start_index_map[i]);
      const std::int64_t place = places[static_cast<std::size_t>(batch) * length + i];
      from += std::clamp<std::int64_t>(place, 0, x.extent(axis) - slice_sizes[axis]) * from_strides[axis];
    }
    copy_strided(result.mutable_bytes().data() + static_cast<std::size_t>(to) * size, slice_strides,
                 x.bytes().data() + static_cast<std::size_t>(from) * size, from_strides, slice_sizes, size);
  }
  return result;
}

}  // namespace alate::graph
