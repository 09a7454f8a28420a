#include "tensor/block_rounding.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "alate/error.h"
#include "tensor/half.h"

namespace alate::tensor {
namespace {

constexpr std::size_t kBlock = 32;
constexpr float kGreatestHalf = 65504;

void put_half(float value, std::uint8_t* to) {
  const std::uint16_t half = float_to_f16(value);
  std::memcpy(to, &half, sizeof half);
}

// Integers of 4 or 5 bits: the fifth bits in order, then halves of bytes.
void put_integers(const std::uint8_t (&integers)[kBlock], bool has_fifth, std::uint8_t* to) {
  if (has_fifth) {
    std::uint32_t fifth = 0;
    for (std::size_t i = 0; i < kBlock; ++i) fifth |= std::uint32_t{integers[i] >> 4U & 1U} << i;
    std::memcpy(to, &fifth, sizeof fifth);
    to += sizeof fifth;
  }
  for (std::size_t i = 0; i < kBlock / 2; ++i)
    to[i] = static_cast<std::uint8_t>((integers[i] & 15) | (integers[i + kBlock / 2] & 15) << 4);
}

float inverse_of(float scale) { return scale == 0 ? 0 : 1 / scale; }

// The number of the largest magnitude becomes the integer 0, 0 the middle one.
void round_around_zero(const float* x, int bits, std::uint8_t* to) {
  float extreme = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    if (std::abs(x[i]) > std::abs(extreme)) extreme = x[i];
  }
  const int middle = 1 << (bits - 1);
  const float scale = extreme / static_cast<float>(-middle), inverse = inverse_of(scale);
  std::uint8_t integers[kBlock];
  for (std::size_t i = 0; i < kBlock; ++i) {
    const float place = x[i] * inverse + (static_cast<float>(middle) + 0.5F);
    integers[i] = static_cast<std::uint8_t>(std::min(static_cast<int>(place), 2 * middle - 1));
  }
  put_half(scale, to);
  put_integers(integers, bits == 5, to + 2);
}

void round_range(const float* x, int bits, std::uint8_t* to) {
  const auto [least, greatest] = std::minmax_element(x, x + kBlock);
  const float scale = (*greatest - *least) / static_cast<float>((1 << bits) - 1), inverse = inverse_of(scale);
  std::uint8_t integers[kBlock];
  for (std::size_t i = 0; i < kBlock; ++i) {
    const float place = std::floor((x[i] - *least) * inverse + 0.5F);
    integers[i] = static_cast<std::uint8_t>(std::min(static_cast<int>(place), (1 << bits) - 1));
  }
  put_half(scale, to);
  put_half(*least, to + 2);
  put_integers(integers, bits == 5, to + 4);
}

void round_to_bytes(const float* x, std::uint8_t* to) {
  float most = 0;
  for (std::size_t i = 0; i < kBlock; ++i) most = std::max(most, std::abs(x[i]));
  const float scale = most / 127, inverse = inverse_of(scale);
  put_half(scale, to);
  for (std::size_t i = 0; i < kBlock; ++i)
    to[2 + i] = static_cast<std::uint8_t>(static_cast<std::int8_t>(std::round(x[i] * inverse)));
}

void round_block(EncodingKind kind, const float* x, std::uint8_t* to) {
  switch (kind) {
    case EncodingKind::q4_0: return round_around_zero(x, 4, to);
    case EncodingKind::q5_0: return round_around_zero(x, 5, to);
    case EncodingKind::q4_1: return round_range(x, 4, to);
    case EncodingKind::q5_1: return round_range(x, 5, to);
    default: return round_to_bytes(x, to);
  }
}

}  // namespace

bool can_round_to(EncodingKind kind) {
  return kind == EncodingKind::q4_0 || kind == EncodingKind::q4_1 || kind == EncodingKind::q5_0 ||
         kind == EncodingKind::q5_1 || kind == EncodingKind::q8_0;
}

Tensor round_to_blocks(const Tensor& matrix, EncodingKind kind) {
  const Shape& shape = matrix.shape();
  if (!can_round_to(kind) || shape.dtype != DType::f32 || shape.rank() != 2 ||
      matrix.extent(1) % static_cast<std::int64_t>(kBlock) != 0)
    throw make_error(ErrorCode::invalid_argument, "only matrices of f32 with a multiple of 32 columns are rounded to ",
                     to_string(kind), ", not ", to_string(shape));
  const std::span<const float> values = matrix.values<float>();
  if (!std::ranges::all_of(values, [](float value) { return std::abs(value) <= kGreatestHalf; }))
    throw make_error(ErrorCode::invalid_argument, "numbers beyond ", kGreatestHalf, " cannot be rounded to ",
                     to_string(kind));
  const auto bytes = static_cast<std::size_t>(block_size(kind).bytes);
  Tensor rounded = Tensor::uninitialized(
      {DType::u8, {matrix.extent(0), matrix.extent(1) / static_cast<std::int64_t>(kBlock) * block_size(kind).bytes}});
  auto* to = reinterpret_cast<std::uint8_t*>(rounded.mutable_bytes().data());
  for (std::size_t first = 0; first < values.size(); first += kBlock, to += bytes)
    round_block(kind, values.data() + first, to);
  return rounded;
}

}  // namespace alate::tensor
