#include "formats/npy/npy.h"

#include <cstring>
#include <utility>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/npy/bool_bytes.h"
#include "formats/npy/npy_header.h"

namespace alate::formats {
namespace {

// Converts elements from column-major (first axis fastest) to row-major order.
Tensor from_fortran_order(const Shape& shape, std::span<const std::byte> bytes) {
  const std::size_t size = bits_of(shape.dtype) / 8;
  const std::size_t rank = shape.rank();
  std::vector<std::size_t> extents(rank), strides(rank), index(rank, 0);
  std::size_t stride = size;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    extents[axis] = static_cast<std::size_t>(shape.dims[axis].number());
    strides[axis] = stride;
    stride *= extents[axis];
  }
  Tensor tensor = Tensor::uninitialized(shape);
  std::byte* out = tensor.mutable_bytes().data();
  const std::byte* in = bytes.data();
  for (std::size_t done = 0; done < bytes.size(); done += size) {
    std::memcpy(out + done, in, size);
    for (std::size_t axis = rank; axis-- > 0;) {
      in += strides[axis];
      if (++index[axis] < extents[axis]) break;
      in -= strides[axis] * extents[axis];
      index[axis] = 0;
    }
  }
  return tensor;
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> file, std::shared_ptr<const void> owner, std::string_view what) {
  const NpyHeader header = parse_npy_header(file, what);
  const std::span<const std::byte> elements = file.subspan(header.byte_count);
  std::size_t wanted = 0;
  try {
    wanted = header.shape.byte_count();
  } catch (const Error& error) {
    throw make_error(ErrorCode::corrupt, what, ": its shape has more bytes than can be counted").with_cause(error);
  }
  if (elements.size() != wanted) {
    throw make_error(ErrorCode::corrupt, what, ": ", to_string(header.shape), " takes ", wanted, " bytes, but ",
                     elements.size(), " follow the header");
  }
  if (header.fortran_order && header.shape.rank() > 1 && wanted > 0) {
    return with_proper_bools(from_fortran_order(header.shape, elements));
  }
  return with_proper_bools(Tensor::borrow(header.shape, elements.data(), std::move(owner)));
}

Tensor read_npy(const std::filesystem::path& path) {
  auto file = base::MappedFile::open(path, base::MappedFile::Mode::read);
  return parse_npy(file->bytes(), file, path.string());
}

std::vector<std::byte> npy_bytes(const Tensor& tensor, std::string_view what) {
  if (tensor.empty()) {
    throw make_error(ErrorCode::invalid_argument, "tensor ", quoted_name(what), " has no value to write");
  }
  const std::string header = npy_header_text(tensor.shape(), what);
  std::vector<std::byte> out;
  out.reserve(header.size() + tensor.byte_count());
  const auto append = [&](std::span<const std::byte> bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
  append(std::as_bytes(std::span(header)));
  append(tensor.bytes());
  return out;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  base::write_file_atomically(path, npy_bytes(tensor, path.stem().string()));
}

}  // namespace alate::formats
