#include <algorithm>
#include <limits>

#include "alate/error.h"
#include "alate/tensor.h"

namespace alate {

bool Shape::is_static() const {
  return std::ranges::all_of(dims, [](Dim dim) { return dim.is_number(); });
}

std::int64_t Shape::element_count() const {
  std::int64_t count = 1;
  bool has_zero = false;
  bool overflows = false;
  for (const Dim dim : dims) {
    if (!dim.is_number()) {
      throw make_error(ErrorCode::internal, "the elements of ", to_string(*this),
                       " cannot be counted before its dimensions are bound");
    }
    const std::int64_t extent = dim.number();
    has_zero = has_zero || extent == 0;
    // After an overflow only a later zero extent can still make the product valid.
    if (extent == 0 || overflows) continue;
    if (count > std::numeric_limits<std::int64_t>::max() / extent) {
      overflows = true;
    } else {
      count *= extent;
    }
  }
  if (has_zero) return 0;
  if (overflows) {
    throw make_error(ErrorCode::resource_exhausted, to_string(*this),
                     " has more elements than 63 bits can count; check the extents");
  }
  return count;
}

std::size_t Shape::byte_count() const { return bytes_for(dtype, element_count()); }

std::string to_string(const Shape& shape) {
  std::string text(to_string(shape.dtype));
  text += '[';
  for (std::size_t axis = 0; axis < shape.dims.size(); ++axis) {
    if (axis > 0) text += ',';
    const Dim dim = shape.dims[axis];
    if (dim.is_number()) {
      text += std::to_string(dim.number());
    } else {
      text += '?';
      text += std::to_string(dim.id());
    }
  }
  text += ']';
  return text;
}

namespace detail {

Shape shape_of(DType dtype, const std::vector<std::int64_t>& extents) {
  Shape shape{dtype, {}};
  shape.dims.reserve(extents.size());
  for (const std::int64_t extent : extents) {
    if (extent < 0) {
      throw make_error(ErrorCode::invalid_argument, "extent ", extent,
                       " is negative; a shape needs extents of 0 or more");
    }
    shape.dims.emplace_back(extent);
  }
  return shape;
}

}  // namespace detail
}  // namespace alate
