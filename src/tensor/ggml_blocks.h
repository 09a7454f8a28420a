// Dequantization of single elements of ggml blocks. Layouts: ggml/src/ggml-common.h and dequantize_row_* in
// ggml-quants.c of https://github.com/ggml-org/ggml; offsets below are in bytes of a block.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "tensor/encoding.h"
#include "tensor/half.h"

namespace alate::tensor {

/// The values of iq4_nl and iq4_xs.
inline constexpr std::int8_t kNonlinear4[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                1,    13,   25,  38,  53,  69,  89,  113};
/// Twice the values of e2m1, the elements of mxfp4.
inline constexpr std::int8_t kTwiceE2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

inline std::uint16_t half_word(const std::uint8_t* at) { return static_cast<std::uint16_t>(at[0] | at[1] << 8); }
inline float half_at(const std::uint8_t* at) { return f16_to_float(half_word(at)); }
/// The low four bits of the byte, or (place 1) the high ones.
inline int nibble(std::uint8_t byte, int place) { return byte >> (4 * place) & 15; }
inline int signed_byte(std::uint8_t byte) { return static_cast<std::int8_t>(byte); }

/// Elements 0 to 15 of 32 are the low halves of the bytes, 16 to 31 the high ones.
inline int split_nibble(const std::uint8_t* bytes, int element) { return nibble(bytes[element % 16], element / 16); }

inline float q4_0(const std::uint8_t* block, int i) {
  return half_at(block) * static_cast<float>(split_nibble(block + 2, i) - 8);
}
inline float q4_1(const std::uint8_t* block, int i) {
  return half_at(block) * static_cast<float>(split_nibble(block + 4, i)) + half_at(block + 2);
}
/// The fifth bits of 32 elements, in order in 4 bytes.
inline int fifth_bit(const std::uint8_t* bits, int i) { return (bits[i / 8] >> (i % 8) & 1) << 4; }
inline float q5_0(const std::uint8_t* block, int i) {
  return half_at(block) * static_cast<float>((split_nibble(block + 6, i) | fifth_bit(block + 2, i)) - 16);
}
inline float q5_1(const std::uint8_t* block, int i) {
  return half_at(block) * static_cast<float>(split_nibble(block + 8, i) | fifth_bit(block + 4, i)) + half_at(block + 2);
}
inline float q8_0(const std::uint8_t* block, int i) {
  return half_at(block) * static_cast<float>(signed_byte(block[2 + i]));
}
inline float iq4_nl(const std::uint8_t* block, int i) {
  return half_at(block) * static_cast<float>(kNonlinear4[split_nibble(block + 2, i)]);
}
/// The scale is half of the e8m0 power of two, since the table holds twice the elements' values.
inline float mxfp4(const std::uint8_t* block, int i) {
  const std::uint32_t exponent = block[0];
  const std::uint32_t bits = exponent < 2 ? std::uint32_t{0x00200000} << exponent : (exponent - 1) << 23;
  return std::bit_cast<float>(bits) * static_cast<float>(kTwiceE2m1[split_nibble(block + 1, i)]);
}

// Super-blocks of 256. 32 bytes hold two bits each of 128 elements: element i at shift 2 · (i % 128 / 32).
inline int two_bits(const std::uint8_t* bytes, int i) { return bytes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3; }
/// 32 bytes hold four bits each of 64 elements, the first 32 elements in the low halves.
inline int four_bits(const std::uint8_t* bytes, int i) { return nibble(bytes[i / 64 * 32 + i % 32], i % 64 / 32); }
/// One bit of element i is bit i / 32 of byte i % 32.
inline int one_bit(const std::uint8_t* bytes, int i) { return bytes[i % 32] >> (i / 32) & 1; }

/// scales [16] (low half scale, high half minimum), two bits [64], d, dmin.
inline float q2_k(const std::uint8_t* block, int i) {
  const float scale = half_at(block + 80) * static_cast<float>(nibble(block[i / 16], 0));
  const float minimum = half_at(block + 82) * static_cast<float>(nibble(block[i / 16], 1));
  return scale * static_cast<float>(two_bits(block + 16, i)) - minimum;
}
/// high bits [32], two bits [64], scales of 6 bits [12], d. A cleared high bit subtracts 4.
inline float q3_k(const std::uint8_t* block, int i) {
  const std::uint8_t* const scales = block + 96;
  const int group = i / 16;
  const int low = nibble(scales[group % 8], group / 8), high = scales[8 + group % 4] >> (group / 4 * 2) & 3;
  const float scale = half_at(block + 108) * static_cast<float>((low | high << 4) - 32);
  return scale * static_cast<float>(two_bits(block + 32, i) - (one_bit(block, i) != 0 ? 0 : 4));
}
/// Scale and minimum of one of 8 groups, 6 bits each in 12 bytes.
struct ScaleAndMinimum {
  int scale, minimum;
};
inline ScaleAndMinimum scale_and_minimum(const std::uint8_t* packed, int group) {
  if (group < 4) return {packed[group] & 63, packed[group + 4] & 63};
  const std::uint8_t both = packed[group + 4];
  return {nibble(both, 0) | packed[group - 4] >> 6 << 4, nibble(both, 1) | packed[group] >> 6 << 4};
}
/// Applies the header of q4_k and q5_k to a value: d, dmin, scales and minima [12].
inline float scaled_k(const std::uint8_t* block, int i, int value) {
  const ScaleAndMinimum group = scale_and_minimum(block + 4, i / 32);
  const float scale = half_at(block) * static_cast<float>(group.scale);
  const float minimum = half_at(block + 2) * static_cast<float>(group.minimum);
  return scale * static_cast<float>(value) - minimum;
}
inline float q4_k(const std::uint8_t* block, int i) { return scaled_k(block, i, four_bits(block + 16, i)); }
/// fifth bits [32], four bits [128]
inline float q5_k(const std::uint8_t* block, int i) {
  return scaled_k(block, i, four_bits(block + 48, i) | one_bit(block + 16, i) << 4);
}
/// four bits [128] (64 bytes hold 128 elements here), two bits [64], scales (signed bytes) [16], d
inline float q6_k(const std::uint8_t* block, int i) {
  const int low = nibble(block[i / 128 * 64 + i % 64], i % 128 / 64), high = two_bits(block + 128, i);
  const float scale = half_at(block + 208) * static_cast<float>(signed_byte(block[192 + i / 16]));
  return scale * static_cast<float>((low | high << 4) - 32);
}
/// d, two high bits of 8 scales, their four low bits [4], indices into kNonlinear4 [128]
inline float iq4_xs(const std::uint8_t* block, int i) {
  const int group = i / 32;
  const int low = nibble(block[4 + group / 2], group % 2), high = half_word(block + 2) >> (group * 2) & 3;
  const float scale = half_at(block) * static_cast<float>((low | high << 4) - 32);
  return scale * static_cast<float>(kNonlinear4[split_nibble(block + 8 + group * 16, i % 32)]);
}

// Ternary types: -1, 0 and 1, stored one higher.

/// One of five digits of base 3 in a byte, which holds them as a fraction of 256, rounded up.
inline int ternary_digit(std::uint8_t byte, int place) {
  constexpr int kPowers[5] = {1, 3, 9, 27, 81};
  return (byte * kPowers[place] & 255) * 3 >> 8;
}
/// digits [48]: 32 bytes hold 160 elements, the first 32 as their first digits, and 16 bytes 80; then digits [4] of
/// four elements each; d.
inline int tq1_0_digit(const std::uint8_t* block, int i) {
  if (i < 160) return ternary_digit(block[i % 32], i / 32);
  if (i < 240) return ternary_digit(block[32 + (i - 160) % 16], (i - 160) / 16);
  return ternary_digit(block[48 + (i - 240) % 4], (i - 240) / 4);
}
inline float tq1_0(const std::uint8_t* block, int i) {
  return half_at(block + 52) * static_cast<float>(tq1_0_digit(block, i) - 1);
}
/// two bits [64], d
inline float tq2_0(const std::uint8_t* block, int i) {
  return half_at(block + 64) * static_cast<float>(two_bits(block, i) - 1);
}

}  // namespace alate::tensor
