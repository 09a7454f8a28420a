// Against tests/golden/block_rounding.txt, which record_block_rounding.py wrote with gguf-py.
#include "tensor/block_rounding.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"

namespace alate::tensor {
namespace {

std::vector<std::uint8_t> from_hexadecimal(const std::string& text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

TEST(BlockRounding, GivesTheBlocksOfTheReference) {
  std::ifstream file(source_folder() / "tests/golden/block_rounding.txt");
  std::string line;
  file >> line;
  const std::vector<std::uint8_t> bytes = from_hexadecimal(line);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  const Tensor matrix = Tensor::from<float>({4, 64}, std::span<const float>(values));
  std::string name, blocks;
  int kinds = 0;
  while (file >> name >> blocks) {
    for (const EncodingKind kind :
         {EncodingKind::q4_0, EncodingKind::q4_1, EncodingKind::q5_0, EncodingKind::q5_1, EncodingKind::q8_0}) {
      if (to_string(kind) != name) continue;
      ++kinds;
      const Tensor rounded = round_to_blocks(matrix, kind);
      const std::vector<std::uint8_t> expected = from_hexadecimal(blocks);
      ASSERT_EQ(rounded.byte_count(), expected.size()) << name;
      EXPECT_EQ(std::memcmp(rounded.bytes().data(), expected.data(), expected.size()), 0) << name;
    }
  }
  EXPECT_EQ(kinds, 5);
}

TEST(BlockRounding, RefusesWhatBlocksDoNotHold) {
  using base::error_of;
  EXPECT_EQ(error_of([] {
              round_to_blocks(Tensor::zeros({DType::f32, {2, 40}}), EncodingKind::q8_0);
            }).code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([] {
              round_to_blocks(Tensor::zeros({DType::f32, {1, 256}}), EncodingKind::q4_k);
            }).code(),
            ErrorCode::invalid_argument);
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 1e5F}) {
    std::vector<float> values(32);
    values[3] = bad;
    const Tensor matrix = Tensor::from<float>({1, 32}, std::span<const float>(values));
    EXPECT_EQ(error_of([&] { round_to_blocks(matrix, EncodingKind::q4_0); }).code(), ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace alate::tensor
