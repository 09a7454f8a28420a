#include "alate/tensor.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "alate/error.h"
#include "base/hardware/cpu_facts.h"
#include "base/os/large_pages.h"

namespace alate {
namespace {

constexpr std::align_val_t kAlignment{64};
// Larger requests are first compared with the machine's memory: the system would grant them and kill the process later.
constexpr std::size_t kLargeBytes = std::size_t{1} << 30;

[[noreturn]] void refuse(const Shape& shape, std::size_t bytes) {
  throw make_error(ErrorCode::resource_exhausted, "no memory for ", to_string(shape), ", which takes ", bytes,
                   " bytes; use smaller inputs or a smaller model");
}

std::shared_ptr<std::byte> allocate(const Shape& shape, std::size_t bytes) {
  if (bytes >= kLargeBytes) {
    const base::MemoryFacts memory = base::memory_facts();
    const std::size_t most = memory.limit_bytes != 0 ? memory.limit_bytes : memory.total_bytes;
    if (most != 0 && bytes > most) refuse(shape, bytes);
  }
  const bool in_large_pages = bytes >= 2 * base::kLargePageBytes;
  const std::align_val_t alignment = in_large_pages ? std::align_val_t{base::kLargePageBytes} : kAlignment;
  // At least one byte, so that empty tensors have distinct addresses.
  auto* data = static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), alignment, std::nothrow));
  if (data == nullptr) refuse(shape, bytes);
  if (in_large_pages) base::prefer_large_pages(data, bytes);
  return {data, [alignment](std::byte* owned) { ::operator delete(owned, alignment); }};
}

std::size_t checked_byte_count(const Shape& shape) {
  if (bits_of(shape.dtype) == 0) {
    throw make_error(ErrorCode::internal, "a tensor of dtype ", to_string(shape.dtype),
                     " was asked for, which has no size");
  }
  return shape.byte_count();
}

// Alignment of an element's C++ type; complex numbers are pairs.
std::size_t alignment_of(DType dtype) { return std::clamp<std::size_t>(bits_of(dtype) / 8, 1, 8); }

}  // namespace

Tensor Tensor::uninitialized(Shape shape) {
  const std::size_t bytes = checked_byte_count(shape);
  std::shared_ptr<std::byte> storage = allocate(shape, bytes);
  Tensor tensor;
  tensor.shape_ = std::move(shape);
  tensor.data_ = storage.get();
  tensor.writable_ = true;
  tensor.owner_ = std::move(storage);
  return tensor;
}

Tensor Tensor::zeros(Shape shape) {
  Tensor tensor = uninitialized(std::move(shape));
  std::ranges::fill(tensor.mutable_bytes(), std::byte{0});
  return tensor;
}

Tensor Tensor::borrow(Shape shape, const std::byte* data, std::shared_ptr<const void> owner) {
  const std::size_t bytes = checked_byte_count(shape);
  if (bytes > 0 && data == nullptr) {
    throw make_error(ErrorCode::internal, "storage for ", to_string(shape), " was borrowed from a null pointer");
  }
  if (reinterpret_cast<std::uintptr_t>(data) % alignment_of(shape.dtype) != 0) {
    return detail::copy_of(std::move(shape), {data, bytes});
  }
  Tensor tensor;
  tensor.shape_ = std::move(shape);
  tensor.data_ = data;
  tensor.owner_ = std::move(owner);
  return tensor;
}

std::span<const std::byte> Tensor::bytes() const { return {data_, byte_count()}; }

std::span<std::byte> Tensor::mutable_bytes() {
  if (!writable_ && !empty()) {
    throw make_error(ErrorCode::internal, "a borrowed tensor ", to_string(shape_), " was to be written; copy it first");
  }
  return {const_cast<std::byte*>(data_), byte_count()};
}

Tensor Tensor::reshaped(const std::vector<std::int64_t>& extents) const {
  Shape shape = detail::shape_of(dtype(), extents);
  if (shape.element_count() != element_count()) {
    throw make_error(ErrorCode::invalid_argument, to_string(shape_), " cannot be reshaped to ", to_string(shape),
                     ": the element counts differ");
  }
  Tensor tensor = *this;
  tensor.shape_ = std::move(shape);
  return tensor;
}

namespace detail {

void require_dtype(DType wanted, DType found) {
  if (wanted != found) {
    throw make_error(ErrorCode::internal, "a tensor of ", to_string(found), " was read as ", to_string(wanted));
  }
}

Tensor copy_of(Shape shape, std::span<const std::byte> bytes) {
  if (const std::size_t wanted = checked_byte_count(shape); bytes.size() != wanted) {
    throw make_error(ErrorCode::invalid_argument, to_string(shape), " takes ", wanted, " bytes of values, but ",
                     bytes.size(), " were given");
  }
  Tensor tensor = Tensor::uninitialized(std::move(shape));
  if (!bytes.empty()) std::memcpy(tensor.mutable_bytes().data(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace detail
}  // namespace alate
