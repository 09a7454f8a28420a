#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "alate/tensor.h"
#include "tests/unit/base/expect_error.h"

namespace alate {
namespace {

using base::error_of;

TEST(DType, NumbersAreThoseOfPjrt) {
  // PJRT_Buffer_Type in OpenXLA's pjrt_c_api.h counts in this order from INVALID = 0.
  const char* names[] = {
      "invalid",       "bool",       "i8",         "i16", "i32",  "i64",   "u8",   "u16",    "u32",
      "u64",           "f16",        "f32",        "f64", "bf16", "c64",   "c128", "f8e5m2", "f8e4m3fn",
      "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "i4",  "u4",   "token", "i2",   "u2",     "f8e4m3",
      "f8e3m4",        "f8e8m0fnu",  "f4e2m1fn",   "i1",  "u1"};
  for (int number = 0; number < 32; ++number) {
    EXPECT_EQ(to_string(static_cast<DType>(number)), names[number]) << number;
  }
  EXPECT_EQ(static_cast<int>(DType::string), 1000);
}

TEST(DType, NamesReadBack) {
  EXPECT_EQ(all_dtypes().size(), 32U);
  for (const DType dtype : all_dtypes()) EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
  for (const char* unknown : {"", "invalid", "F32", "f33", "boolean", "float32"})
    EXPECT_FALSE(parse_dtype(unknown)) << unknown;
}

TEST(DType, NumbersWithoutATypeAreInvalid) {
  for (const int number : {-1, 0, 32, 999, 1001, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    EXPECT_EQ(to_string(static_cast<DType>(number)), "invalid");
    EXPECT_EQ(bits_of(static_cast<DType>(number)), 0U);
  }
}

TEST(DType, EveryTypeIsOfOneKind) {
  std::map<std::string, int> kinds;
  for (const DType dtype : all_dtypes()) {
    const int count = is_float(dtype) + is_signed_integer(dtype) + is_unsigned_integer(dtype) + is_complex(dtype);
    const bool is_none = dtype == DType::boolean || dtype == DType::token || dtype == DType::string;
    EXPECT_EQ(count, is_none ? 0 : 1) << to_string(dtype);
    EXPECT_EQ(is_integer(dtype), is_signed_integer(dtype) || is_unsigned_integer(dtype));
    kinds["float"] += is_float(dtype);
    kinds["signed"] += is_signed_integer(dtype);
    kinds["unsigned"] += is_unsigned_integer(dtype);
    kinds["complex"] += is_complex(dtype);
  }
  EXPECT_EQ(kinds["float"], 13);
  EXPECT_EQ(kinds["signed"], 7);
  EXPECT_EQ(kinds["unsigned"], 7);
  EXPECT_EQ(kinds["complex"], 2);
}

TEST(BytesFor, WholeBytesForTypesBelowAByte) {
  EXPECT_EQ(bytes_for(DType::i4, 0), 0U);
  EXPECT_EQ(bytes_for(DType::i4, 1), 1U);
  EXPECT_EQ(bytes_for(DType::i4, 2), 1U);
  EXPECT_EQ(bytes_for(DType::i4, 3), 2U);
  EXPECT_EQ(bytes_for(DType::u2, 4), 1U);
  EXPECT_EQ(bytes_for(DType::u2, 5), 2U);
  EXPECT_EQ(bytes_for(DType::u1, 8), 1U);
  EXPECT_EQ(bytes_for(DType::i1, 9), 2U);
  EXPECT_EQ(bytes_for(DType::f4e2m1fn, 7), 4U);
  EXPECT_EQ(bytes_for(DType::i4, std::numeric_limits<std::int64_t>::max()), std::size_t{1} << 62);
}

TEST(BytesFor, ElementsOfWholeBytes) {
  EXPECT_EQ(bytes_for(DType::boolean, 3), 3U);
  EXPECT_EQ(bytes_for(DType::f8e4m3fn, 3), 3U);
  EXPECT_EQ(bytes_for(DType::bf16, 3), 6U);
  EXPECT_EQ(bytes_for(DType::f64, 3), 24U);
  EXPECT_EQ(bytes_for(DType::c128, 3), 48U);
  EXPECT_EQ(bytes_for(DType::token, 3), 0U);
}

TEST(BytesFor, OverflowIsRefused) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(bytes_for(DType::f32, kMost / 4), static_cast<std::size_t>(kMost / 4 * 4));
  EXPECT_EQ(error_of([] { bytes_for(DType::f32, kMost / 4 + 1); }).code(), ErrorCode::resource_exhausted);
  EXPECT_EQ(error_of([] { bytes_for(DType::c128, kMost); }).code(), ErrorCode::resource_exhausted);
  EXPECT_EQ(error_of([] { bytes_for(DType::f32, -1); }).code(), ErrorCode::internal);
}

}  // namespace
}  // namespace alate
