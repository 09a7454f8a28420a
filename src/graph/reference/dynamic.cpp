#include <algorithm>
#include <cstring>
#include <limits>

#include "graph/padded_axis.h"
#include "graph/reference/call.h"
#include "graph/reference/index.h"
#include "graph/reference/strided.h"
#include "graph/reference/values.h"

namespace alate::graph {
namespace {

std::size_t element_size(const Tensor& x) { return bits_of(x.dtype()) / 8; }

// The start of a slice of `sizes` in operand 0: the scalars from operand `first` on, clamped so that the slice is in
// bounds.
std::int64_t clamped_start(const ReferenceCall& call, std::size_t first, std::span<const std::int64_t> sizes) {
  const Tensor& x = call.operand(0);
  const Strides strides = row_major(extents_of(x.shape()));
  std::int64_t start = 0;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    call.require(sizes[i] <= x.extent(i), "the slice is larger than operand 0");
    const std::int64_t place = load_indices(call.operand(first + i)).front();
    start += std::clamp<std::int64_t>(place, 0, x.extent(i) - sizes[i]) * strides[i];
  }
  return start;
}

}  // namespace

// https://openxla.org/stablehlo/spec#pad: element i goes to low + i · (interior + 1), unless that is out of bounds.
Tensor reference_pad(const ReferenceCall& call) {
  const Tensor &x = call.operand(0), &value = call.operand(1);
  const auto& [low, high, interior] = call.as<Pad>();
  const std::size_t size = element_size(x);
  Tensor result = Tensor::uninitialized(call.shape());
  const std::span<std::byte> bytes = result.mutable_bytes();
  for (std::size_t i = 0; i < bytes.size(); i += size) std::memcpy(bytes.data() + i, value.bytes().data(), size);

  const Strides from_strides = row_major(extents_of(x.shape())), strides = row_major(extents_of(call.shape()));
  Strides to_strides, counts;
  std::int64_t from = 0, to = 0;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    // With at most one element, the interior padding does not matter and could overflow.
    const std::int64_t step = x.extent(i) > 1 && !interior.empty() ? interior[i] + 1 : 1;
    const KeptElements axis = kept_elements(x.extent(i), low[i], step, result.extent(i));
    if (axis.count == 0) return result;
    from += axis.first * from_strides[i];
    to += axis.to * strides[i];
    counts.push_back(axis.count);
    to_strides.push_back(axis.count > 1 ? step * strides[i] : 0);
  }
  copy_strided(bytes.data() + static_cast<std::size_t>(to) * size, to_strides,
               x.bytes().data() + static_cast<std::size_t>(from) * size, from_strides, counts, size);
  return result;
}

Tensor reference_reverse(const ReferenceCall& call) {
  const Tensor& x = call.operand(0);
  const Numbers& axes = call.as<Axes>().axes;
  const std::vector<std::int64_t> extents = extents_of(x.shape());
  const Strides strides = row_major(extents);
  const std::size_t size = element_size(x);
  Tensor result = Tensor::uninitialized(call.shape());
  std::byte* to = result.mutable_bytes().data();
  for_each_index(extents, [&](const std::vector<std::int64_t>& index) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      const bool is_reversed = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
      from += (is_reversed ? extents[i] - 1 - index[i] : index[i]) * strides[i];
    }
    std::memcpy(to, x.bytes().data() + static_cast<std::size_t>(from) * size, size);
    to += size;
  });
  return result;
}

Tensor reference_dynamic_slice(const ReferenceCall& call) {
  const Tensor& x = call.operand(0);
  const std::int64_t start = clamped_start(call, 1, extents_of(call.shape()));
  return picked(call.shape(), x, start, row_major(extents_of(x.shape())));
}

Tensor reference_dynamic_update_slice(const ReferenceCall& call) {
  const Tensor &x = call.operand(0), &update = call.operand(1);
  const std::vector<std::int64_t> sizes = extents_of(update.shape());
  const std::int64_t start = clamped_start(call, 2, sizes);
  const Strides strides = row_major(extents_of(x.shape()));
  Tensor result = picked(call.shape(), x, 0, strides);
  if (update.element_count() == 0) return result;
  copy_strided(result.mutable_bytes().data() + static_cast<std::size_t>(start) * element_size(x), strides,
               update.bytes().data(), row_major(sizes), sizes, element_size(x));
  return result;
}

Tensor reference_dimension_size(const ReferenceCall& call) {
  const std::int64_t extent = call.operand(0).extent(static_cast<std::size_t>(call.as<Axis>().axis));
  call.require(extent <= std::numeric_limits<std::int32_t>::max(), "the extent is past the largest i32");
  return Tensor::scalar(static_cast<std::int32_t>(extent));
}

Tensor reference_dynamic_reshape(const ReferenceCall& call) {
  const std::vector<std::int64_t> extents = extents_of(call.shape());
  call.require(load_indices(call.operand(1)) == extents,
               "operand 1 does not have the extents of dims: " + alate::to_string(call.shape()));
  return call.operand(0).reshaped(extents);
}

}  // namespace alate::graph
