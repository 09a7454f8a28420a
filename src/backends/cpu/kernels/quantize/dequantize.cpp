#include "backends/cpu/kernels/quantize/dequantize.h"

#include <algorithm>
#include <cstring>

#include "alate/error.h"
#include "backends/cpu/kernels/elementwise/tile.h"
#include "tensor/element.h"
#include "tensor/ggml_blocks.h"
#include "tensor/normal_float.h"

namespace alate::cpu {
namespace {

using tensor::EncodingKind;

// Reads an element of less than a byte, low bits first, sign- or zero-extended.
std::int32_t packed_integer(const std::byte* stored, DType dtype, std::size_t i) {
  const std::size_t bits = bits_of(dtype);
  const auto value = std::to_integer<std::uint32_t>(stored[i * bits / 8]) >> (i * bits % 8);
  const auto unused = static_cast<int>(32 - bits);
  if (is_signed_integer(dtype)) return static_cast<std::int32_t>(value << unused) >> unused;
  return static_cast<std::int32_t>(value << unused >> unused);
}

// The dtypes of stored values; zero points have the same dtype.
template <typename Visit>
void with_integers(DType dtype, const std::byte* stored, const Visit& visit) {
  const auto typed = [&]<typename T>(const T* values) { visit([=](std::size_t i) { return values[i]; }); };
  switch (dtype) {
    case DType::i8: return typed(reinterpret_cast<const std::int8_t*>(stored));
    case DType::u8: return typed(reinterpret_cast<const std::uint8_t*>(stored));
    case DType::i16: return typed(reinterpret_cast<const std::int16_t*>(stored));
    case DType::u16: return typed(reinterpret_cast<const std::uint16_t*>(stored));
    case DType::i32: return typed(reinterpret_cast<const std::int32_t*>(stored));
    case DType::u32: return typed(reinterpret_cast<const std::uint32_t*>(stored));
    default: return visit([=](std::size_t i) { return packed_integer(stored, dtype, i); });
  }
}

// The index of a row's first scale.
std::size_t first_scale(const QuantizedRows& rows, std::size_t row) {
  std::size_t place = 0, step = rows.row.scales;
  for (std::size_t axis = rows.rank; axis-- > 0;) {
    place += row % rows.axes[axis].extent / rows.axes[axis].block * step;
    row /= rows.axes[axis].extent;
    step *= rows.axes[axis].scales;
  }
  return place;
}

double float_at(DType dtype, const std::byte* values, std::size_t i) {
  return tensor::load_double(dtype, values + i * (bits_of(dtype) / 8));
}

// Differences of wide integers need more bits than an int has.
template <typename Stored>
using Difference = std::conditional_t<sizeof(Stored) < 4, std::int32_t, std::int64_t>;

// Calls visit(first, end, index of the scale) for each run of numbers with one scale.
template <typename Visit>
void for_each_scale(const QuantizedRows& rows, std::size_t row, std::size_t begin, std::size_t end,
                    const Visit& visit) {
  const std::size_t first = first_scale(rows, row), block = rows.row.block;
  for (std::size_t i = begin; i < end;) {
    const std::size_t next = std::min(end, (i / block + 1) * block);
    visit(i, next, first + i / block);
    i = next;
  }
}

// T is float, or double where the scales are f64. `out` starts with number `begin`.
template <typename T>
void decode_scaled(const QuantizedRows& rows, std::size_t row, std::size_t begin, std::size_t end, T* out) {
  const std::size_t offset = row * rows.row.extent;
  const auto scale_at = [&](std::size_t place) {
    return static_cast<T>(float_at(rows.scale_dtype, rows.scales, place));
  };
  if (rows.kind == EncodingKind::nf4) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(rows.stored);
    return for_each_scale(rows, row, begin, end, [&](std::size_t from, std::size_t to, std::size_t place) {
      const T scale = scale_at(place);
      for (std::size_t i = from; i < to; ++i) {
        const std::size_t at = offset + i;
        out[i - begin] =
            static_cast<T>(tensor::kNormalFloat4[tensor::nibble(bytes[at / 2], at % 2 == 0 ? 1 : 0)]) * scale;
      }
    });
  }
  if (is_float(rows.stored_dtype)) {
    return for_each_scale(rows, row, begin, end, [&](std::size_t from, std::size_t to, std::size_t place) {
      const T scale = scale_at(place);
      const double zero = rows.zero_points == nullptr ? 0 : float_at(rows.stored_dtype, rows.zero_points, place);
      for (std::size_t i = from; i < to; ++i) {
        const double value = float_at(rows.stored_dtype, rows.stored, offset + i) - zero;
        out[i - begin] = static_cast<T>(static_cast<float>(value)) * scale;
      }
    });
  }
  with_integers(rows.stored_dtype, rows.stored, [&](auto stored) {
    using Wide = Difference<decltype(stored(0))>;
    for_each_scale(rows, row, begin, end, [&](std::size_t from, std::size_t to, std::size_t place) {
      const T scale = scale_at(place);
      Wide zero = 0;
      if (rows.zero_points != nullptr)
        with_integers(rows.stored_dtype, rows.zero_points, [&](auto zeros) {
          zero = static_cast<Wide>(zeros(place));  // NOLINT(bugprone-signed-char-misuse): signs are extended
        });
      // Local copies, so that the compiler knows that stores do not change them, and vectorizes.
      T* __restrict made = out + (from - begin);
      const std::size_t at = offset + from, count = to - from;
      for (std::size_t i = 0; i < count; ++i)
        made[i] = static_cast<T>(static_cast<Wide>(stored(at + i)) - zero) * scale;
    });
  });
}

template <float (*element)(const std::uint8_t*, int)>
void decode(const std::uint8_t* from, tensor::BlockSize block, std::size_t n, float* out) {
  const auto elements = static_cast<std::size_t>(block.elements);
  for (std::size_t i = 0; i < n; i += elements, from += block.bytes) {
    const std::size_t count = std::min(elements, n - i);
    for (std::size_t j = 0; j < count; ++j) out[i + j] = element(from, static_cast<int>(j));
  }
}

void decode_blocks(const QuantizedRows& rows, std::size_t row, std::size_t begin, std::size_t end, float* out) {
  const tensor::BlockSize block = tensor::block_size(rows.kind);
  const std::size_t place = (row * rows.row.extent + begin) / static_cast<std::size_t>(block.elements);
  const auto* from = reinterpret_cast<const std::uint8_t*>(rows.stored) + place * static_cast<std::size_t>(block.bytes);
  const std::size_t n = end - begin;
  switch (rows.kind) {
    case EncodingKind::linear:
    case EncodingKind::nf4: break;
    case EncodingKind::q4_0: return decode<tensor::q4_0>(from, block, n, out);
    case EncodingKind::q4_1: return decode<tensor::q4_1>(from, block, n, out);
    case EncodingKind::q5_0: return decode<tensor::q5_0>(from, block, n, out);
    case EncodingKind::q5_1: return decode<tensor::q5_1>(from, block, n, out);
    case EncodingKind::q8_0: return decode<tensor::q8_0>(from, block, n, out);
    case EncodingKind::q2_k: return decode<tensor::q2_k>(from, block, n, out);
    case EncodingKind::q3_k: return decode<tensor::q3_k>(from, block, n, out);
    case EncodingKind::q4_k: return decode<tensor::q4_k>(from, block, n, out);
    case EncodingKind::q5_k: return decode<tensor::q5_k>(from, block, n, out);
    case EncodingKind::q6_k: return decode<tensor::q6_k>(from, block, n, out);
    case EncodingKind::iq4_nl: return decode<tensor::iq4_nl>(from, block, n, out);
    case EncodingKind::iq4_xs: return decode<tensor::iq4_xs>(from, block, n, out);
    case EncodingKind::mxfp4: return decode<tensor::mxfp4>(from, block, n, out);
    case EncodingKind::tq1_0: return decode<tensor::tq1_0>(from, block, n, out);
    case EncodingKind::tq2_0: return decode<tensor::tq2_0>(from, block, n, out);
  }
  throw make_error(ErrorCode::internal, tensor::to_string(rows.kind), " has no blocks of its own");
}

bool has_scales(EncodingKind kind) { return kind == EncodingKind::linear || kind == EncodingKind::nf4; }

// Decodes through a buffer of T where the result has another type.
template <typename T, typename Decode>
void convert_runs(DType made, std::size_t begin, std::size_t end, DType dtype, std::byte* out, const Decode& decode) {
  if (dtype == made) return decode(begin, end, reinterpret_cast<T*>(out));
  const TileKernel convert = tile_conversion(made, dtype);
  const std::size_t bytes = bits_of(dtype) / 8;
  T values[kQuantizedRun];
  for (std::size_t i = begin; i < end; i += kQuantizedRun) {
    const std::size_t next = std::min(end, i + kQuantizedRun);
    decode(i, next, values);
    const void* from = values;
    convert(&from, out + (i - begin) * bytes, next - i);
  }
}

ScaledAxis scaled_axis(std::size_t extent, std::int64_t block) {
  const std::size_t shared = block == 0 ? std::max<std::size_t>(extent, 1) : static_cast<std::size_t>(block);
  return {extent, shared, block == 0 ? 1 : extent / shared + (extent % shared == 0 ? 0 : 1)};
}

}  // namespace

QuantizedRows quantized_rows(EncodingKind kind, std::span<const std::int64_t> blocks, const Shape& stored) {
  QuantizedRows rows;
  rows.kind = kind;
  rows.stored_dtype = stored.dtype;
  if (stored.rank() == 0) return rows;
  const auto block = [&](std::size_t axis) { return has_scales(kind) ? blocks[axis] : 0; };
  const std::size_t last = stored.rank() - 1;
  for (std::size_t axis = 0; axis < last; ++axis) {
    const auto extent = static_cast<std::size_t>(stored.dims[axis].number());
    rows.axes[rows.rank++] = scaled_axis(extent, block(axis));
    rows.rows *= extent;
  }
  auto width = static_cast<std::size_t>(stored.dims[last].number());
  if (kind != EncodingKind::linear) {
    const tensor::BlockSize size = tensor::block_size(kind);
    width = width / static_cast<std::size_t>(size.bytes) * static_cast<std::size_t>(size.elements);
  }
  rows.row = scaled_axis(width, block(last));
  return rows;
}

void fetch_row(const QuantizedRows& rows, std::size_t row) {
  if (rows.kind != EncodingKind::linear) return;
  constexpr std::size_t kLine = 64;
  const std::size_t bits = bits_of(rows.stored_dtype), begin = row * rows.row.extent * bits / 8,
                    end = (row + 1) * rows.row.extent * bits / 8;
  for (std::size_t at = begin; at < end; at += kLine) __builtin_prefetch(rows.stored + at);
  __builtin_prefetch(rows.scales + first_scale(rows, row) * (bits_of(rows.scale_dtype) / 8));
}

void dequantize_part(const QuantizedRows& rows, std::size_t row, std::size_t begin, std::size_t end, DType dtype,
                     std::byte* out) {
  if (begin >= end) return;
  if (has_scales(rows.kind) && rows.scale_dtype == DType::f64) {
    return convert_runs<double>(
        DType::f64, begin, end, dtype, out,
        [&](std::size_t from, std::size_t to, double* values) { decode_scaled(rows, row, from, to, values); });
  }
  convert_runs<float>(DType::f32, begin, end, dtype, out, [&](std::size_t from, std::size_t to, float* values) {
    if (has_scales(rows.kind))
      decode_scaled(rows, row, from, to, values);
    else
      decode_blocks(rows, row, from, to, values);
  });
}

}  // namespace alate::cpu
