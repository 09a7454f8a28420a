#include "tensor/packed.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensor/element.h"

namespace alate::tensor {
namespace {

std::vector<int> bytes_of(const Tensor& tensor) {
  std::vector<int> bytes;
  for (const std::byte byte : tensor.bytes()) bytes.push_back(std::to_integer<int>(byte));
  return bytes;
}

TEST(Packed, HasTheFirstElementInTheLowBits) {
  const Tensor carriers = Tensor::from<std::int8_t>({3}, {1, -8, 7});
  const Tensor tensor = packed(carriers, DType::i4);
  EXPECT_EQ(bytes_of(tensor), (std::vector<int>{0x81, 0x07}));
  EXPECT_EQ(bytes_of(unpacked(tensor)), bytes_of(carriers));
  EXPECT_EQ(unpacked(tensor).dtype(), DType::i8);
}

TEST(Packed, RoundTripsEveryPatternOfEveryPackedDtype) {
  for (const DType dtype : {DType::i1, DType::u1, DType::i2, DType::u2, DType::i4, DType::u4, DType::f4e2m1fn}) {
    Tensor tensor = Tensor::zeros({dtype, {8, 256}});
    int next = 0;
    for (std::byte& byte : tensor.mutable_bytes()) byte = static_cast<std::byte>(next++);
    const Tensor carriers = unpacked(tensor);
    EXPECT_EQ(bytes_of(packed(carriers, dtype)), bytes_of(tensor)) << to_string(dtype);
    for (const std::byte& byte : carriers.bytes()) {
      const double value = load_double(dtype, &byte);
      std::byte back{};
      store_double(dtype, value, &back);
      ASSERT_EQ(back, byte) << to_string(dtype) << ' ' << value;
    }
  }
}

TEST(Packed, StoresNarrowIntegersSaturated) {
  const auto stored = [](DType dtype, double value) {
    std::byte byte{};
    store_double(dtype, value, &byte);
    return load_double(dtype, &byte);
  };
  EXPECT_EQ(stored(DType::i4, -9), -8);
  EXPECT_EQ(stored(DType::i4, 7.9), 7);
  EXPECT_EQ(stored(DType::u4, 99), 15);
  EXPECT_EQ(stored(DType::u4, -1), 0);
  EXPECT_EQ(stored(DType::i1, 3), 0);
  EXPECT_EQ(stored(DType::i2, std::nan("")), 0);
}

TEST(Packed, LeavesWholeBytesAlone) {
  const Tensor tensor = Tensor::from<float>({2}, {1, 2});
  EXPECT_TRUE(unpacked(tensor).shares_storage_with(tensor));
  EXPECT_EQ(carrier_of(DType::c64), DType::c64);
}

TEST(Packed, MakesScalarsOfEveryDtype) {
  EXPECT_EQ(bytes_of(scalar_of(DType::i4, -1)), std::vector<int>{0x0f});
  EXPECT_EQ(bytes_of(scalar_of(DType::c64, 1)), (std::vector<int>{0, 0, 0x80, 0x3f, 0, 0, 0, 0}));
  EXPECT_EQ(scalar_of(DType::f32, 2).values<float>()[0], 2);
}

}  // namespace
}  // namespace alate::tensor
