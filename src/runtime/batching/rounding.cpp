#include "runtime/batching/rounding.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/host_buffers.h"

namespace alate::runtime {
namespace {

// Copies the box that two row-major tensors have in common, recursively by axis.
void copy_box(const std::byte* from, std::span<const std::int64_t> from_extents, std::byte* to,
              std::span<const std::int64_t> to_extents, std::size_t element) {
  if (from_extents.empty()) {
    std::memcpy(to, from, element);
    return;
  }
  const auto inner = [&](std::span<const std::int64_t> extents) {
    std::size_t bytes = element;
    for (const std::int64_t extent : extents.subspan(1)) bytes *= static_cast<std::size_t>(extent);
    return bytes;
  };
  const std::size_t from_stride = inner(from_extents), to_stride = inner(to_extents);
  const auto count = static_cast<std::size_t>(std::min(from_extents[0], to_extents[0]));
  if (std::ranges::equal(from_extents.subspan(1), to_extents.subspan(1))) {
    if (count * to_stride > 0) std::memcpy(to, from, count * to_stride);
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
    copy_box(from + i * from_stride, from_extents.subspan(1), to + i * to_stride, to_extents.subspan(1), element);
}

std::vector<std::int64_t> extents_of(const Tensor& tensor) {
  std::vector<std::int64_t> extents;
  for (std::size_t axis = 0; axis < tensor.rank(); ++axis) extents.push_back(tensor.extent(axis));
  return extents;
}

}  // namespace

std::int64_t bucket_of(std::int64_t extent, std::int64_t floor) {
  if (extent <= floor) return floor;
  const auto power = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(extent)));
  const std::int64_t three_quarters = power / 4 * 3;
  return extent <= three_quarters ? three_quarters : power;
}

Tensor resized(const Tensor& tensor, const std::vector<std::int64_t>& extents) {
  const std::vector<std::int64_t> had = extents_of(tensor);
  if (had == extents) return tensor;
  Tensor result = Tensor::zeros({tensor.dtype(), {extents.begin(), extents.end()}});
  const std::size_t element = bits_of(tensor.dtype()) / 8;
  if (result.byte_count() > 0 && tensor.byte_count() > 0)
    copy_box(tensor.bytes().data(), had, result.mutable_bytes().data(), extents, element);
  return result;
}

const RoundedDim* Rounding::find(Dim dim) const {
  if (dim.is_number()) return nullptr;
  const auto found = std::ranges::find(dims_, dim.id(), &RoundedDim::dim);
  return found == dims_.end() ? nullptr : &*found;
}

std::vector<backends::Buffer> Rounding::pad(std::span<const backends::Buffer> inputs,
                                            std::span<const backends::Port> ports) const {
  std::vector<backends::Buffer> padded;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = backends::host_tensor(inputs[i]);
    std::vector<std::int64_t> extents = extents_of(tensor);
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      if (const RoundedDim* dim = find(ports[i].shape.dims[axis])) extents[axis] = bucket_of(extents[axis], dim->floor);
    }
    padded.emplace_back(resized(tensor, extents));
  }
  return padded;
}

Tensor Rounding::cut(const Tensor& result, const backends::Port& port, std::span<const backends::Buffer> inputs,
                     std::span<const backends::Port> input_ports) const {
  std::vector<std::int64_t> extents = extents_of(result);
  const auto extent_of = [&](Dim dim) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<Dim>& dims = input_ports[i].shape.dims;
      const auto found = std::ranges::find(dims, dim);
      if (found != dims.end()) return inputs[i].shape().dims[static_cast<std::size_t>(found - dims.begin())].number();
    }
    return std::int64_t{-1};
  };
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const Dim dim = port.shape.dims[axis];
    if (find(dim) == nullptr) continue;
    if (const std::int64_t extent = extent_of(dim); extent >= 0) extents[axis] = extent;
  }
  return resized(result, extents);
}

}  // namespace alate::runtime
