// Against tests/golden/encodings.txt, which record_encodings.py wrote with gguf-py; linear and nf4 by hand.
#include "tensor/encoding.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>

#include "tensor/half.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"

namespace alate::tensor {
namespace {

std::vector<std::uint8_t> bytes_of(const std::string& hexadecimal) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < hexadecimal.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16)));
  return bytes;
}

Tensor stored_bytes(const std::vector<std::uint8_t>& bytes, std::int64_t rows) {
  return Tensor::from<std::uint8_t>({rows, static_cast<std::int64_t>(bytes.size()) / rows},
                                    std::span<const std::uint8_t>(bytes));
}

std::vector<float> floats(const Tensor& tensor) {
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

TEST(Encoding, DequantizesGgmlBlocksToTheBit) {
  std::ifstream file(source_folder() / "tests/golden/encodings.txt");
  std::string name, blocks, values;
  int kinds = 0;
  while (file >> name >> blocks >> values) {
    ++kinds;
    for (int number = static_cast<int>(EncodingKind::q4_0); number <= static_cast<int>(kLastEncoding); ++number) {
      const auto kind = static_cast<EncodingKind>(number);
      if (to_string(kind) != name) continue;
      const Tensor found = dequantize({kind, {}}, stored_bytes(bytes_of(blocks), 2), {}, {}, DType::f32);
      const std::vector<std::uint8_t> expected = bytes_of(values);
      EXPECT_EQ(found.extent(0), 2);
      ASSERT_EQ(found.byte_count(), expected.size()) << name;
      EXPECT_EQ(std::memcmp(found.bytes().data(), expected.data(), expected.size()), 0) << name;
      values.clear();
    }
    EXPECT_TRUE(values.empty()) << name << " is not known";
  }
  EXPECT_EQ(kinds, 15);
}

TEST(Encoding, RoundsToTheResultsDtypeLast) {
  const std::vector<std::uint8_t> block = [] {
    std::vector<std::uint8_t> bytes(34, 0);
    const std::uint16_t scale = float_to_f16(1.25F);
    std::memcpy(bytes.data(), &scale, sizeof scale);
    bytes[2] = 127;                              // 158.75
    bytes[3] = static_cast<std::uint8_t>(-128);  // -160
    return bytes;
  }();
  const Tensor found = dequantize({EncodingKind::q8_0, {}}, stored_bytes(block, 1), {}, {}, DType::bf16);
  std::uint16_t values[2];
  std::memcpy(values, found.bytes().data(), sizeof values);
  EXPECT_EQ(bf16_to_float(values[0]), 159);  // bf16 has 8 bits: 158.75 lies between 158 and 159
  EXPECT_EQ(bf16_to_float(values[1]), -160);
}

TEST(Encoding, LinearSharesScalesByBlock) {
  const Tensor stored = Tensor::from<std::int8_t>({2, 3}, {1, -2, 3, 127, -128, 0});
  const auto linear = [&](std::vector<std::int64_t> blocks, const Tensor& scales) {
    return floats(dequantize({EncodingKind::linear, std::move(blocks)}, stored, scales, {}, DType::f32));
  };
  EXPECT_EQ(linear({0, 0}, Tensor::from<float>({1, 1}, {0.5F})), (std::vector<float>{0.5, -1, 1.5, 63.5, -64, 0}));
  EXPECT_EQ(linear({1, 0}, Tensor::from<float>({2, 1}, {1, 2})), (std::vector<float>{1, -2, 3, 254, -256, 0}));
  EXPECT_EQ(linear({0, 1}, Tensor::from<float>({1, 3}, {1, 2, 3})), (std::vector<float>{1, -4, 9, 127, -256, 0}));
  EXPECT_EQ(linear({1, 2}, Tensor::from<float>({2, 2}, {1, 2, 3, 4})), (std::vector<float>{1, -2, 6, 381, -384, 0}));
  EXPECT_EQ(linear({2, 2}, Tensor::from<float>({1, 2}, {1, 10})), (std::vector<float>{1, -2, 30, 127, -128, 0}));
}

// (stored - zero point) · scale, the difference without overflow.
TEST(Encoding, LinearTakesZeroPointsOff) {
  const Tensor stored = Tensor::from<std::uint8_t>({4}, {0, 128, 200, 255}),
               scales = Tensor::from<float>({2}, {2, 0.5F});
  const Tensor zero_points = Tensor::from<std::uint8_t>({2}, {128, 255});
  EXPECT_EQ(floats(dequantize({EncodingKind::linear, {2}}, stored, scales, zero_points, DType::f32)),
            (std::vector<float>{-256, 0, -27.5, 0}));
  const Tensor wide = Tensor::from<std::int32_t>({2}, {INT32_MIN, 5}),
               top = Tensor::from<std::int32_t>({1}, {INT32_MAX});
  EXPECT_EQ(floats(dequantize({EncodingKind::linear, {0}}, wide, Tensor::from<float>({1}, {1}), top, DType::f32)),
            (std::vector<float>{-4294967296.0F, -2147483648.0F}));
}

TEST(Encoding, LinearUnpacksSmallIntegersLowBitsFirst) {
  Tensor stored = Tensor::zeros({DType::i4, {3}});
  stored.mutable_bytes()[0] = std::byte{0x8f};  // -1, then -8
  stored.mutable_bytes()[1] = std::byte{0x07};
  const Tensor one = Tensor::from<float>({1}, {1});
  EXPECT_EQ(floats(dequantize({EncodingKind::linear, {0}}, stored, one, {}, DType::f32)),
            (std::vector<float>{-1, -8, 7}));
  Tensor pairs = Tensor::zeros({DType::u2, {4}});
  pairs.mutable_bytes()[0] = std::byte{0b11'00'10'01};
  EXPECT_EQ(floats(dequantize({EncodingKind::linear, {0}}, pairs, one, {}, DType::f32)),
            (std::vector<float>{1, 2, 0, 3}));
}

TEST(Encoding, LinearTakesSmallFloats) {
  Tensor stored = Tensor::zeros({DType::f8e4m3fn, {2}});
  stored.mutable_bytes()[0] = std::byte{0x7e};  // 448
  stored.mutable_bytes()[1] = std::byte{0x81};  // -2^-9
  EXPECT_EQ(floats(dequantize({EncodingKind::linear, {0}}, stored, Tensor::from<float>({1}, {2}), {}, DType::f32)),
            (std::vector<float>{896, -0x1p-8F}));
  Tensor other = Tensor::zeros({DType::f8e4m3fnuz, {1}});
  other.mutable_bytes()[0] = std::byte{0x7f};  // 240
  EXPECT_EQ(floats(dequantize({EncodingKind::linear, {0}}, other, Tensor::from<float>({1}, {2}), {}, DType::f32)),
            (std::vector<float>{480}));
}

TEST(Encoding, ScalesOfF64AreComputedInF64) {
  const Tensor found = dequantize({EncodingKind::linear, {0}}, Tensor::from<std::int8_t>({1}, {3}),
                                  Tensor::from<double>({1}, {0.1}), {}, DType::f64);
  EXPECT_EQ(found.values<double>()[0], 3 * 0.1);
}

// The first number is in the high bits; 16 table entries, two blocks of 16 numbers a row.
TEST(Encoding, NormalFloatIsBitsandbytes) {
  const Tensor stored = Tensor::from<std::uint8_t>({1, 9}, {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xf0});
  const std::vector<float> found =
      floats(dequantize({EncodingKind::nf4, {1, 16}}, stored, Tensor::from<float>({1, 2}, {0.3F, 2}), {}, DType::f32));
  ASSERT_EQ(found.size(), 18U);
  EXPECT_EQ(found[0], -0.3F);
  EXPECT_EQ(found[1], -0.6961928009986877F * 0.3F);
  EXPECT_EQ(found[7], 0);
  EXPECT_EQ(found[12], 0.44070982933044434F * 0.3F);
  EXPECT_EQ(found[15], 0.3F);
  EXPECT_EQ(found[16], 2);
  EXPECT_EQ(found[17], -2);
}

TEST(Encoding, TakesScalarsAndNothing) {
  EXPECT_EQ(floats(dequantize({EncodingKind::linear, {}}, Tensor::scalar<std::int8_t>(7), Tensor::scalar(2.0F), {},
                              DType::f32)),
            (std::vector<float>{14}));
  const Tensor none = Tensor::zeros({DType::u8, {0, 144}});
  EXPECT_EQ(to_string(dequantize({EncodingKind::q4_k, {}}, none, {}, {}, DType::f16).shape()), "f16[0,256]");
  const Tensor empty = Tensor::zeros({DType::i8, {2, 0}}), scales = Tensor::zeros({DType::f32, {2, 0}});
  EXPECT_EQ(dequantize({EncodingKind::linear, {1, 4}}, empty, scales, {}, DType::f32).element_count(), 0);
}

std::string refusal(const Encoding& encoding, const Tensor& stored, const Tensor& scales, const Tensor& zero_points) {
  return base::error_of([&] { dequantize(encoding, stored, scales, zero_points, DType::f32); }).message();
}

TEST(Encoding, RefusesWhatDoesNotFit) {
  const Tensor bytes = Tensor::zeros({DType::u8, {2, 17}}), integers = Tensor::zeros({DType::i8, {2, 3}});
  const Tensor one = Tensor::zeros({DType::f32, {1, 1}});
  EXPECT_EQ(refusal({EncodingKind::q4_0, {}}, bytes, {}, {}),
            "dequantize from q4_0 of u8[2,17]: must be bytes (u8) with whole blocks in the last axis");
  EXPECT_EQ(refusal({EncodingKind::linear, {1, 0}}, integers, one, {}),
            "dequantize from linear of i8[2,3]: scales must be one for each block");
  EXPECT_EQ(refusal({EncodingKind::linear, {0}}, integers, one, {}),
            "dequantize from linear of i8[2,3]: blocks must have an entry for each axis");
  EXPECT_EQ(refusal({EncodingKind::linear, {0, 0}}, integers, one, one),
            "dequantize from linear of i8[2,3]: zero points must have its dtype and the scales' dims");
  EXPECT_EQ(refusal({EncodingKind::linear, {0, 0}}, Tensor::zeros({DType::i64, {1, 1}}), one, {}),
            "dequantize from linear of i64[1,1]: must be integers of up to 32 bits or small floats");
}

}  // namespace
}  // namespace alate::tensor
