// The header of NumPy's .npy format: type, order and extents, as a Python dict of three literals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"

namespace alate::formats {

struct NpyHeader {
  Shape shape;
  bool fortran_order = false;  // the first axis varies fastest
  std::size_t byte_count = 0;  // of the header: the offset of the elements
};

/// Parses the header of formats 1.0, 2.0 and 3.0 without evaluating Python. Throws corrupt, or unsupported for a type
/// that Alate lacks or that is big-endian, with `what` (the file's name).
NpyHeader parse_npy_header(std::span<const std::byte> file, std::string_view what);

/// The header that NumPy writes for this shape in row-major order. Throws unsupported for a type that NumPy lacks, with
/// `what` (the tensor's name).
std::string npy_header_text(const Shape& shape, std::string_view what);

}  // namespace alate::formats
