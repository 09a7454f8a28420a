#include <algorithm>
#include <cstring>
#include <optional>

#include "graph/reference/call.h"
#include "graph/reference/computed.h"
#include "graph/reference/extremes.h"
#include "graph/reference/index.h"
#include "graph/reference/index_vectors.h"
#include "graph/reference/strided.h"

// https://openxla.org/stablehlo/spec#scatter
namespace alate::graph {
namespace {

// For each update element, in row-major order, the element of operand 0 where it lands, if any.
std::vector<std::optional<std::size_t>> landing_places(const ReferenceCall& call) {
  const Scatter& scatter = call.as<Scatter>();
  const Tensor &x = call.operand(0), &indices = call.operand(1), &updates = call.operand(2);
  const std::vector<std::int64_t> vectors = index_vectors(indices, scatter.index_vector_dim);
  const std::size_t vector_length = scatter.scatter_dims_to_operand_dims.size();
  const std::vector<std::int64_t> extents = extents_of(updates.shape());
  const Strides strides = row_major(extents_of(x.shape()));

  // The axes of the updates that enumerate index vectors, and the updates' window axis for each axis of operand 0 in a
  // window.
  std::vector<std::size_t> batch_axes, window_axes(x.rank(), updates.rank());
  for (std::size_t i = 0; i < updates.rank(); ++i) {
    if (!has_axis(scatter.update_window_dims, i)) batch_axes.push_back(i);
  }
  for (std::size_t i = 0, next = 0; i < x.rank(); ++i) {
    if (has_axis(scatter.inserted_window_dims, i) || has_axis(scatter.input_batching_dims, i)) continue;
    window_axes[i] = static_cast<std::size_t>(scatter.update_window_dims[next++]);
    call.require(extents[window_axes[i]] <= x.extent(i), "a window of operand 2 is larger than operand 0");
  }

  std::vector<std::optional<std::size_t>> places;
  for_each_index(extents, [&](const std::vector<std::int64_t>& index) {
    std::size_t number = 0;  // of the index vector
    for (const std::size_t axis : batch_axes)
      number = number * static_cast<std::size_t>(extents[axis]) + static_cast<std::size_t>(index[axis]);
    std::vector<std::int64_t> start(x.rank(), 0);
    for (std::size_t i = 0; i < vector_length; ++i)
      start[static_cast<std::size_t>(scatter.scatter_dims_to_operand_dims[i])] = vectors[number * vector_length + i];
    for (std::size_t i = 0; i < scatter.input_batching_dims.size(); ++i) {
      const std::size_t axis = batch_place(scatter.scatter_indices_batching_dims[i], scatter.index_vector_dim);
      start[static_cast<std::size_t>(scatter.input_batching_dims[i])] = index[batch_axes[axis]];
    }
    std::int64_t place = 0;
    bool is_inside = true;
    for (std::size_t i = 0; i < x.rank(); ++i) {
      const std::int64_t within = window_axes[i] < updates.rank() ? index[window_axes[i]] : 0;
      // within + start is an index of the axis, added only once it is known not to overflow.
      is_inside = is_inside && start[i] >= -within && start[i] < x.extent(i) - within;
      if (is_inside) place += (start[i] + within) * strides[i];
    }
    places.push_back(is_inside ? std::optional(static_cast<std::size_t>(place)) : std::nullopt);
  });
  return places;
}

// A function of the elements of operands 0 and 2 that combines the second into the first.
template <typename Combine>
auto scattering(const ReferenceCall& call, Combine combine) {
  return [places = landing_places(call), combine](auto elements, const auto& updates) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i]) elements[*places[i]] = combine(elements[*places[i]], updates[i]);
    }
    return elements;
  };
}

}  // namespace

Tensor reference_scatter_set(const ReferenceCall& call) {
  const Tensor &x = call.operand(0), &updates = call.operand(2);
  const std::size_t size = bits_of(x.dtype()) / 8;
  Tensor result = picked(call.shape(), x, 0, row_major(extents_of(x.shape())));
  const std::vector<std::optional<std::size_t>> places = landing_places(call);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i])
      std::memcpy(result.mutable_bytes().data() + *places[i] * size, updates.bytes().data() + i * size, size);
  }
  return result;
}

Tensor reference_scatter_sum(const ReferenceCall& call) {
  return computed_in_ring(call.shape(), scattering(call, [](auto a, auto b) { return a + b; }), call.operand(0),
                          call.operand(2));
}

Tensor reference_scatter_max(const ReferenceCall& call) {
  return computed_in_order(call.shape(), scattering(call, [](auto a, auto b) { return larger(a, b); }), call.operand(0),
                           call.operand(2));
}

Tensor reference_scatter_min(const ReferenceCall& call) {
  return computed_in_order(call.shape(), scattering(call, [](auto a, auto b) { return smaller(a, b); }),
                           call.operand(0), call.operand(2));
}

}  // namespace alate::graph
