#include "graph/reference/strided.h"

#include <algorithm>
#include <cstring>

#include "graph/reference/call.h"

namespace alate::graph {

Strides row_major(std::span<const std::int64_t> extents) {
  Strides strides(extents.size());
  std::int64_t step = 1;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= extents[axis];
  }
  return strides;
}

void copy_strided(std::byte* to, std::span<const std::int64_t> to_strides, const std::byte* from,
                  std::span<const std::int64_t> from_strides, std::span<const std::int64_t> extents,
                  std::size_t element_size) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return;
  std::size_t outer = extents.size();  // the axes before this one are iterated, the others are contiguous
  std::int64_t run = 1;
  while (outer > 0 && (extents[outer - 1] == 1 || (to_strides[outer - 1] == run && from_strides[outer - 1] == run)))
    run *= extents[--outer];
  const auto bytes = static_cast<std::size_t>(run) * element_size;

  std::vector<std::int64_t> index(outer);
  std::int64_t to_place = 0, from_place = 0;
  while (true) {
    std::memcpy(to + static_cast<std::size_t>(to_place) * element_size,
                from + static_cast<std::size_t>(from_place) * element_size, bytes);
    std::size_t axis = outer;
    while (axis > 0 && ++index[axis - 1] == extents[axis - 1]) {
      --axis;
      index[axis] = 0;
      to_place -= (extents[axis] - 1) * to_strides[axis];
      from_place -= (extents[axis] - 1) * from_strides[axis];
    }
    if (axis == 0) return;
    to_place += to_strides[axis - 1];
    from_place += from_strides[axis - 1];
  }
}

Tensor picked(const Shape& shape, const Tensor& x, std::int64_t first, const Strides& from_strides) {
  const std::size_t size = bits_of(x.dtype()) / 8;
  const std::vector<std::int64_t> extents = extents_of(shape);
  Tensor result = Tensor::uninitialized(shape);
  if (result.element_count() == 0) return result;
  copy_strided(result.mutable_bytes().data(), row_major(extents),
               x.bytes().data() + static_cast<std::size_t>(first) * size, from_strides, extents, size);
  return result;
}

Tensor transposed(const Tensor& x, std::span<const std::int64_t> order) {
  const Strides strides = row_major(extents_of(x.shape()));
  Shape shape{x.dtype(), {}};
  Strides from_strides;
  for (const std::int64_t axis : order) {
    shape.dims.push_back(x.shape().dims[static_cast<std::size_t>(axis)]);
    from_strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  const std::vector<std::int64_t> extents = extents_of(shape);
  Tensor result = Tensor::uninitialized(shape);
  copy_strided(result.mutable_bytes().data(), row_major(extents), x.bytes().data(), from_strides, extents,
               bits_of(x.dtype()) / 8);
  return result;
}

}  // namespace alate::graph
