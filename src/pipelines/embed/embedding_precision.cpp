#include "alate/embedding_precision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "alate/error.h"
#include "pipelines/embed/vector_precision.h"

namespace alate {
namespace {

// In the order of the enum.
constexpr std::array<std::string_view, 5> kPrecisions = {"float32", "int8", "uint8", "binary", "ubinary"};

// From the unsigned to the signed form of a byte: less 128.
constexpr std::uint8_t kSignBit = 0x80;

void require_vectors(const Tensor& vectors, std::string_view what) {
  if (vectors.dtype() != DType::f32 || vectors.shape().dims.size() != 2)
    throw make_error(ErrorCode::invalid_argument, what, " are ", to_string(vectors.shape()),
                     "; they must be f32 [vectors, dimensions]");
}

}  // namespace

std::string_view to_string(Precision precision) { return kPrecisions.at(static_cast<std::size_t>(precision)); }

std::optional<Precision> parse_precision(std::string_view name) {
  const auto* found = std::ranges::find(kPrecisions, name);
  return found == kPrecisions.end() ? std::nullopt : std::optional(static_cast<Precision>(found - kPrecisions.begin()));
}

std::uint8_t pipelines::step_of(float x, float lowest, float highest) {
  float step = (highest - lowest) / 255.0F;
  if (step == 0) step = 1;
  const float steps = std::floor((x - lowest) / step);
  if (!(steps > 0)) return 0;
  return steps >= 255 ? 255 : static_cast<std::uint8_t>(steps);
}

void pipelines::pack_signs(std::span<const float> vector, std::span<std::uint8_t> bits) {
  std::ranges::fill(bits, std::uint8_t{0});
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (vector[i] > 0) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (kSignBit >> (i % 8)));
  }
}

std::vector<int> pipelines::quantized_numbers(std::span<const float> vector, Precision precision) {
  const bool is_bits = precision == Precision::binary || precision == Precision::ubinary;
  std::vector<std::uint8_t> bytes(is_bits ? (vector.size() + 7) / 8 : vector.size());
  if (is_bits)
    pack_signs(vector, bytes);
  else
    std::ranges::transform(vector, bytes.begin(), [](float x) { return step_of(x, kLowest, kHighest); });
  const bool is_signed = precision == Precision::int8 || precision == Precision::binary;
  std::vector<int> numbers;
  for (const std::uint8_t byte : bytes) numbers.push_back(is_signed ? byte - kSignBit : byte);
  return numbers;
}

Tensor embedding_ranges(const Tensor& vectors) {
  require_vectors(vectors, "the vectors of a calibration");
  const std::int64_t rows = vectors.extent(0), width = vectors.extent(1);
  if (rows == 0) throw Error(ErrorCode::invalid_argument, "a calibration needs at least one vector");
  Tensor ranges = Tensor::uninitialized({DType::f32, {2, width}});
  const std::span<const float> values = vectors.values<float>();
  const std::span<float> found = ranges.mutable_values<float>();
  const auto count = static_cast<std::size_t>(width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      throw Error(ErrorCode::invalid_argument, "the vectors of a calibration have numbers that are not finite");
    float &lowest = found[i % count], &highest = found[count + i % count];
    lowest = i < count ? values[i] : std::min(lowest, values[i]);
    highest = i < count ? values[i] : std::max(highest, values[i]);
  }
  return ranges;
}

Tensor quantize_embeddings(const Tensor& vectors, Precision precision, const std::optional<Tensor>& ranges) {
  require_vectors(vectors, "the vectors");
  if (precision == Precision::float32) return vectors;
  const std::int64_t rows = vectors.extent(0), width = vectors.extent(1);
  const bool is_signed = precision == Precision::int8 || precision == Precision::binary;
  const bool is_bits = precision == Precision::binary || precision == Precision::ubinary;
  if (ranges && (ranges->dtype() != DType::f32 || ranges->shape().dims.size() != 2 || ranges->extent(0) != 2 ||
                 ranges->extent(1) != width))
    throw make_error(ErrorCode::invalid_argument, "the ranges are ", to_string(ranges->shape()),
                     "; for these vectors they must be f32 [2, ", width, "]");
  Tensor result = Tensor::uninitialized({is_signed ? DType::i8 : DType::u8, {rows, is_bits ? (width + 7) / 8 : width}});
  const std::span<const float> values = vectors.values<float>();
  const std::span<std::byte> raw = result.mutable_bytes();
  const std::span<std::uint8_t> bytes(reinterpret_cast<std::uint8_t*>(raw.data()), raw.size());
  const auto count = static_cast<std::size_t>(width);
  if (is_bits) {
    const std::size_t packed = (count + 7) / 8;
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
      pipelines::pack_signs(values.subspan(row * count, count), bytes.subspan(row * packed, packed));
  } else {
    const std::span<const float> bounds = ranges ? ranges->values<float>() : std::span<const float>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float lowest = ranges ? bounds[i % count] : pipelines::kLowest;
      bytes[i] = pipelines::step_of(values[i], lowest, ranges ? bounds[count + i % count] : pipelines::kHighest);
    }
  }
  if (is_signed) {
    for (std::uint8_t& byte : bytes) byte ^= kSignBit;
  }
  return result;
}

}  // namespace alate
