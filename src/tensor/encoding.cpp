#include "tensor/encoding.h"

#include <algorithm>
#include <array>

#include "alate/error.h"
#include "tensor/element.h"
#include "tensor/ggml_blocks.h"
#include "tensor/normal_float.h"

namespace alate::tensor {
namespace {

[[noreturn]] void refuse(const Encoding& encoding, const Tensor& stored, std::string_view why) {
  throw make_error(ErrorCode::invalid_argument, "dequantize from ", to_string(encoding.kind), " of ",
                   alate::to_string(stored.shape()), ": ", why);
}

// Elements of a tensor; its bytes are found once.
struct Elements {
  explicit Elements(const Tensor& tensor)
      : dtype(tensor.dtype()), bits(bits_of(dtype)), bytes(tensor.empty() ? nullptr : tensor.bytes().data()) {}

  DType dtype;
  std::size_t bits;
  const std::byte* bytes;
};

// Element i, which may be smaller than a byte, low bits first; sign or zero extended.
std::int64_t load_integer(const Elements& elements, std::size_t i) {
  const std::size_t bits = elements.bits;
  std::uint64_t value = 0;
  if (bits < 8) {
    value = std::to_integer<std::uint64_t>(elements.bytes[i * bits / 8]) >> (i * bits % 8);
  } else {
    std::memcpy(&value, elements.bytes + i * bits / 8, bits / 8);
  }
  const auto unused = static_cast<int>(64 - bits);
  if (is_signed_integer(elements.dtype)) return static_cast<std::int64_t>(value << unused) >> unused;
  return static_cast<std::int64_t>(value << unused >> unused);
}

// Per axis, outermost first: its extent, the block size that shares a scale, and the number of scales.
struct ScaledAxis {
  std::size_t extent, block, scales;
};

std::vector<ScaledAxis> scaled_axes(const Encoding& encoding, const Tensor& stored, const Tensor& scales,
                                    const std::vector<Dim>& dims) {
  if (encoding.blocks.size() != dims.size()) refuse(encoding, stored, "blocks must have an entry for each axis");
  std::vector<ScaledAxis> axes;
  std::vector<Dim> expected;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (encoding.blocks[i] < 0) refuse(encoding, stored, "a block is negative");
    const auto extent = static_cast<std::size_t>(dims[i].number()),
               block = static_cast<std::size_t>(encoding.blocks[i]);
    const std::size_t count = block == 0 ? 1 : extent / block + (extent % block == 0 ? 0 : 1);
    axes.push_back({extent, block == 0 ? extent : block, count});
    expected.emplace_back(static_cast<std::int64_t>(count));
  }
  if (scales.empty() || scales.shape().dims != expected) refuse(encoding, stored, "scales must be one for each block");
  return axes;
}

// The index of the scale of element i.
std::size_t scale_index(const std::vector<ScaledAxis>& axes, std::size_t i) {
  std::size_t place = 0, step = 1;
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    place += i % axes[axis].extent / axes[axis].block * step;
    i /= axes[axis].extent;
    step *= axes[axis].scales;
  }
  return place;
}

double float_at(const Elements& elements, std::size_t i) {
  return load_double(elements.dtype, elements.bytes + i * (elements.bits / 8));
}

// f32 arithmetic, written so that no compiler can contract it to an FMA.
double product(double a, double b, bool is_wide) { return is_wide ? a * b : static_cast<float>(a * b); }

double scaled(const Encoding& encoding, const Elements& stored, const Elements& zero_points, std::size_t i,
              std::size_t place, double scale, bool is_wide) {
  if (encoding.kind == EncodingKind::nf4) {
    const auto byte = std::to_integer<std::uint8_t>(stored.bytes[i / 2]);
    return product(kNormalFloat4[nibble(byte, i % 2 == 0 ? 1 : 0)], scale, is_wide);
  }
  if (is_float(stored.dtype)) {
    const double zero = zero_points.bytes == nullptr ? 0 : float_at(zero_points, place);
    return product(static_cast<float>(float_at(stored, i) - zero), scale, is_wide);
  }
  const std::int64_t zero = zero_points.bytes == nullptr ? 0 : load_integer(zero_points, place);
  const auto difference = static_cast<double>(load_integer(stored, i) - zero);
  return product(is_wide ? difference : static_cast<float>(difference), scale, is_wide);
}

Tensor dequantize_scaled(const Encoding& encoding, const Tensor& stored, const Tensor& scales,
                         const Tensor& zero_points, const Shape& shape) {
  if (encoding.kind == EncodingKind::linear && !can_be_linear(stored.dtype()))
    refuse(encoding, stored, "must be integers of up to 32 bits or small floats");
  const std::vector<ScaledAxis> axes = scaled_axes(encoding, stored, scales, shape.dims);
  if (!zero_points.empty() && zero_points.shape() != Shape{stored.dtype(), scales.shape().dims})
    refuse(encoding, stored, "zero points must have its dtype and the scales' dims");
  const bool is_wide = scales.dtype() == DType::f64;
  Tensor result = Tensor::uninitialized(shape);
  const std::size_t size = bits_of(shape.dtype) / 8, count = static_cast<std::size_t>(shape.element_count());
  const Elements stored_elements(stored), scale_elements(scales), zero_elements(zero_points);
  std::byte* const to = result.mutable_bytes().data();
  // Along the last axis, elements of a block share a scale.
  const std::size_t width = axes.empty() ? 1 : axes.back().extent, block = axes.empty() ? 1 : axes.back().block;
  for (std::size_t i = 0; i < count;) {
    const std::size_t place = scale_index(axes, i), column = i % width;
    const std::size_t end = i + std::min(block - column % block, width - column);
    const double scale = float_at(scale_elements, place);
    for (; i < end; ++i)
      store_double(shape.dtype, scaled(encoding, stored_elements, zero_elements, i, place, scale, is_wide),
                   to + i * size);
  }
  return result;
}

template <float (*element)(const std::uint8_t*, int)>
void decode(const Tensor& stored, BlockSize block, DType dtype, std::byte* to) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(stored.bytes().data());
  const std::size_t size = bits_of(dtype) / 8;
  for (const auto* const end = from + stored.byte_count(); from != end; from += block.bytes) {
    for (int i = 0; i < block.elements; ++i, to += size) store_double(dtype, element(from, i), to);
  }
}

void decode_blocks(EncodingKind kind, const Tensor& stored, DType dtype, std::byte* to) {
  const BlockSize block = block_size(kind);
  switch (kind) {
    case EncodingKind::linear:
    case EncodingKind::nf4: break;
    case EncodingKind::q4_0: return decode<q4_0>(stored, block, dtype, to);
    case EncodingKind::q4_1: return decode<q4_1>(stored, block, dtype, to);
    case EncodingKind::q5_0: return decode<q5_0>(stored, block, dtype, to);
    case EncodingKind::q5_1: return decode<q5_1>(stored, block, dtype, to);
    case EncodingKind::q8_0: return decode<q8_0>(stored, block, dtype, to);
    case EncodingKind::q2_k: return decode<q2_k>(stored, block, dtype, to);
    case EncodingKind::q3_k: return decode<q3_k>(stored, block, dtype, to);
    case EncodingKind::q4_k: return decode<q4_k>(stored, block, dtype, to);
    case EncodingKind::q5_k: return decode<q5_k>(stored, block, dtype, to);
    case EncodingKind::q6_k: return decode<q6_k>(stored, block, dtype, to);
    case EncodingKind::iq4_nl: return decode<iq4_nl>(stored, block, dtype, to);
    case EncodingKind::iq4_xs: return decode<iq4_xs>(stored, block, dtype, to);
    case EncodingKind::mxfp4: return decode<mxfp4>(stored, block, dtype, to);
    case EncodingKind::tq1_0: return decode<tq1_0>(stored, block, dtype, to);
    case EncodingKind::tq2_0: return decode<tq2_0>(stored, block, dtype, to);
  }
  throw make_error(ErrorCode::internal, to_string(kind), " has no blocks of its own");
}

}  // namespace

std::string_view to_string(EncodingKind kind) {
  static constexpr std::array<std::string_view, 17> kNames = {"linear", "nf4",    "q4_0",  "q4_1",  "q5_0", "q5_1",
                                                              "q8_0",   "q2_k",   "q3_k",  "q4_k",  "q5_k", "q6_k",
                                                              "iq4_nl", "iq4_xs", "mxfp4", "tq1_0", "tq2_0"};
  return kNames.at(static_cast<std::size_t>(kind));
}

BlockSize block_size(EncodingKind kind) {
  switch (kind) {
    case EncodingKind::linear: break;
    case EncodingKind::nf4: return {2, 1};
    case EncodingKind::q4_0:
    case EncodingKind::iq4_nl: return {32, 18};
    case EncodingKind::q4_1: return {32, 20};
    case EncodingKind::q5_0: return {32, 22};
    case EncodingKind::q5_1: return {32, 24};
    case EncodingKind::q8_0: return {32, 34};
    case EncodingKind::mxfp4: return {32, 17};
    case EncodingKind::q2_k: return {256, 84};
    case EncodingKind::q3_k: return {256, 110};
    case EncodingKind::q4_k: return {256, 144};
    case EncodingKind::q5_k: return {256, 176};
    case EncodingKind::q6_k: return {256, 210};
    case EncodingKind::iq4_xs: return {256, 136};
    case EncodingKind::tq1_0: return {256, 54};
    case EncodingKind::tq2_0: return {256, 66};
  }
  throw make_error(ErrorCode::internal, to_string(kind), " has no blocks of bytes");
}

bool can_be_linear(DType dtype) {
  if (is_integer(dtype)) return bits_of(dtype) <= 32;
  return is_float(dtype) && bits_of(dtype) == 8;
}

Tensor dequantize(const Encoding& encoding, const Tensor& stored, const Tensor& scales, const Tensor& zero_points,
                  DType dtype) {
  Shape shape{dtype, stored.shape().dims};
  if (encoding.kind != EncodingKind::linear) {
    const BlockSize block = block_size(encoding.kind);
    if (stored.dtype() != DType::u8 || stored.rank() == 0 || shape.dims.back().number() % block.bytes != 0)
      refuse(encoding, stored, "must be bytes (u8) with whole blocks in the last axis");
    shape.dims.back() = shape.dims.back().number() / block.bytes * block.elements;
  }
  if (encoding.kind == EncodingKind::linear || encoding.kind == EncodingKind::nf4)
    return dequantize_scaled(encoding, stored, scales, zero_points, shape);
  Tensor result = Tensor::uninitialized(shape);
  decode_blocks(encoding.kind, stored, dtype, result.mutable_bytes().data());
  return result;
}

}  // namespace alate::tensor
