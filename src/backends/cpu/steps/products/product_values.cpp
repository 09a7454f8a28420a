#include "backends/cpu/steps/products/product_values.h"

#include <algorithm>

#include "backends/cpu/kernels/moving/transpose.h"
#include "backends/cpu/kernels/vectors/scratch.h"
#include "backends/cpu/steps/products/halves.h"
#include "backends/cpu/steps/steps.h"
#include "tensor/packed.h"

namespace alate::cpu {
namespace {

std::size_t carrier_bytes(DType dtype) { return bits_of(tensor::carrier_of(dtype)) / 8; }

bool is_converted(DType dtype) {
  // Signed integers of a computed width are used as unsigned ones.
  return !is_complex(dtype) && bits_of(product_dtype(dtype)) != bits_of(dtype);
}

// Axes of extent 1 may be anywhere.
bool is_in_order(const Shape& shape, const AxisOrder& order) {
  std::size_t next = 0;
  for (const std::size_t axis : order) {
    if (extent_of(shape, axis) == 1) continue;
    if (axis < next) return false;
    next = axis;
  }
  return true;
}

std::span<const std::byte> bytes_of(const std::byte* begin, std::size_t count) { return {begin, count}; }

// The dtype that conversions are looked up by: the carrier for packed elements.
DType carried(DType dtype) { return tensor::carrier_of(dtype); }

// Copies dense elements of `dims` with reordered axes.
void reorder(const Frame& frame, const std::byte* in, std::byte* out, const std::vector<std::size_t>& dims,
             const AxisOrder& order, std::size_t element_bytes) {
  std::vector<std::ptrdiff_t> dense(dims.size()), strides;
  std::ptrdiff_t next = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    dense[i] = next;
    next *= static_cast<std::ptrdiff_t>(dims[i]);
  }
  std::vector<std::size_t> ordered;
  for (const std::size_t axis : order) {
    strides.push_back(dense[axis]);
    ordered.push_back(dims[axis]);
  }
  copy_strided(in, strides, out, ordered, element_bytes, frame.pool, frame.max_workers);
}

}  // namespace

DType product_dtype(DType dtype) {
  if (is_complex(dtype)) return dtype == DType::c64 ? DType::f32 : DType::f64;
  if (dtype == DType::f64) return DType::f64;
  if (!is_integer(dtype)) return DType::f32;
  return bits_of(dtype) <= 16 ? DType::u16 : (bits_of(dtype) == 32 ? DType::u32 : DType::u64);
}

std::size_t product_parts(DType dtype) { return is_complex(dtype) ? 2 : 1; }
std::size_t product_bytes(DType dtype) { return bits_of(product_dtype(dtype)) / 8 * product_parts(dtype); }

std::byte* ScratchParts::take(std::size_t bytes) {
  std::byte* taken = next_ == nullptr ? nullptr : next_ + taken_;
  taken_ += scratch_aligned(bytes);
  return taken;
}

ProductOperand::ProductOperand(const Shape& shape, const AxisOrder& order, ScratchParts& scratch)
    : shape_(shape), order_(order) {
  const std::size_t n = count_of(shape);
  if (tensor::is_packed(shape.dtype)) unpacked_ = scratch.take(n);
  if (!is_in_order(shape, order)) ordered_ = scratch.take(n * carrier_bytes(shape.dtype));
  if (is_converted(shape.dtype)) converted_ = scratch.take(n * product_bytes(shape.dtype));
}

const std::byte* ProductOperand::load(const Frame& frame, const std::byte* in) const {
  const std::size_t n = count_of(shape_);
  if (n == 0) return in;
  if (unpacked_ != nullptr) {
    tensor::unpack(shape_.dtype, bytes_of(in, shape_.byte_count()), {unpacked_, n});
    in = unpacked_;
  }
  if (ordered_ != nullptr) {
    std::vector<std::size_t> dims;
    for (std::size_t i = 0; i < shape_.rank(); ++i) dims.push_back(extent_of(shape_, i));
    reorder(frame, in, ordered_, dims, order_, carrier_bytes(shape_.dtype));
    in = ordered_;
  }
  if (converted_ != nullptr) {
    convert_values(frame, carried(shape_.dtype), in, product_dtype(shape_.dtype), converted_, n);
    in = converted_;
  }
  return in;
}

ProductResult::ProductResult(const Shape& shape, const AxisOrder& order, ScratchParts& scratch)
    : shape_(shape), order_(order) {
  const std::size_t n = count_of(shape);
  const bool is_moved = !is_in_order(shape, order), is_changed = is_converted(shape.dtype);
  if (is_moved || is_changed) computed_ = scratch.take(n * product_bytes(shape.dtype));
  if (is_changed && (is_moved || tensor::is_packed(shape.dtype)))
    converted_ = scratch.take(n * carrier_bytes(shape.dtype));
  if (is_moved && tensor::is_packed(shape.dtype)) ordered_ = scratch.take(n);
}

void ProductResult::store(const Frame& frame, std::byte* out) const {
  const std::size_t n = count_of(shape_);
  if (computed_ == nullptr || n == 0) return;
  const bool is_packed = tensor::is_packed(shape_.dtype);
  const std::byte* from = computed_;
  if (is_converted(shape_.dtype)) {
    std::byte* to = converted_ != nullptr ? converted_ : out;
    convert_values(frame, product_dtype(shape_.dtype), from, carried(shape_.dtype), to, n);
    from = to;
  }
  if (!is_in_order(shape_, order_)) {
    // order_ says where the computed axes belong: axis i of the computed form is axis order_[i] of the result.
    std::vector<std::size_t> dims;
    AxisOrder back(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      dims.push_back(extent_of(shape_, order_[i]));
      back[order_[i]] = i;
    }
    std::byte* to = is_packed ? ordered_ : out;
    reorder(frame, from, to, dims, back, carrier_bytes(shape_.dtype));
    from = to;
  }
  if (is_packed) tensor::pack(shape_.dtype, bytes_of(from, n), {out, shape_.byte_count()});
}

}  // namespace alate::cpu
