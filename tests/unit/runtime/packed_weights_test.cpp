// Folders whose weights are unsigned integers of 4 or 8 bits with zero points, and invalid ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "alate/model.h"
#include "tests/unit/runtime/quantized_folder.h"

namespace alate {
namespace {

constexpr std::int64_t kWidth = 36, kGroup = 12, kGroups = kWidth / kGroup;

// The layer's weight is [36, 36] in 4 bits, with groups of 12 columns.
class PackedWeights : public QuantizedFolder {
 protected:
  void SetUp() override {
    QuantizedFolder::SetUp();
    replace_in_config(R"("bits": 8, "version": 1)", R"("bits": 4, "group_size": 12, "version": 4)");
    std::vector<std::uint8_t> bytes;
    for (std::int64_t i = 0; i < kWidth * kWidth; i += 2)
      bytes.push_back(static_cast<std::uint8_t>(number(i) | (number(i + 1) << 4)));
    weight() = Tensor::from<std::uint8_t>({kWidth, kWidth / 2}, bytes);
    std::vector<float> of_groups;
    for (std::int64_t i = 0; i < kWidth * kGroups; ++i) of_groups.push_back(scale(i));
    scales() = Tensor::from<float>({kWidth, kGroups}, of_groups);
  }

  static int number(std::int64_t i) { return static_cast<int>((i * 7 + i / kWidth * 3) % 16); }
  // Scales may be negative.
  static float scale(std::int64_t i) { return (i % 2 == 0 ? 0.01F : -0.02F) * static_cast<float>(1 + i % 5); }

  Tensor& weight() { return tensor(std::string(kLayer) + ".weight"); }
  Tensor& zero_points() { return tensor(std::string(kLayer) + ".weight_zero_point"); }

  // Of the model whose weight is these numbers in floats.
  std::vector<float> state_of_numbers(const std::vector<int>& zeros) {
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < kWidth * kWidth; ++i) {
      const std::int64_t group = i / kGroup;
      numbers.push_back(static_cast<float>(number(i) - zeros[static_cast<std::size_t>(group)]) * scale(group));
    }
    const std::vector<formats::NamedTensor> kept = tensors_;
    weight() = Tensor::from<float>({kWidth, kWidth}, numbers);
    std::erase_if(tensors_, [](const formats::NamedTensor& named) {
      return named.name.ends_with("weight_scale") || named.name.ends_with("weight_zero_point");
    });
    std::vector<float> state = hidden_state({.dtype = ComputeType::float32});
    tensors_ = kept;
    return state;
  }
};

const std::vector<int> kMiddle(static_cast<std::size_t>(kWidth* kGroups), 8);

TEST_F(PackedWeights, HoldTwoNumbersAByte) {
  EXPECT_EQ(hidden_state({.dtype = ComputeType::float32}), state_of_numbers(kMiddle));
}

TEST_F(PackedWeights, AreRoundedTo8BitsForProducts) {
  const std::vector<float> exact = state_of_numbers(kMiddle), found = hidden_state();
  double worst = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) worst = std::max(worst, std::abs(double{exact[i]} - double{found[i]}));
  EXPECT_GT(worst, 0);
  EXPECT_LT(worst, 0.05);
}

TEST_F(PackedWeights, MayHaveZeroPoints) {
  std::vector<std::uint8_t> zeros;
  for (std::int64_t i = 0; i < kWidth * kGroups; ++i) zeros.push_back(static_cast<std::uint8_t>(i % 16));
  zero_points() = Tensor::from<std::uint8_t>({kWidth, kGroups}, zeros);
  EXPECT_EQ(hidden_state({.dtype = ComputeType::float32}),
            state_of_numbers(std::vector<int>(zeros.begin(), zeros.end())));
  zeros.assign(zeros.size(), 8);
  zero_points() = Tensor::from<std::uint8_t>({kWidth, kGroups}, zeros);
  EXPECT_EQ(hidden_state({.dtype = ComputeType::float32}), state_of_numbers(kMiddle));
}

TEST_F(PackedWeights, MayBeTablesIn8Bits) {
  replace_in_config(R"("version": 4)", R"("version": 4, "modules": {"embeddings.word_embeddings": {"bits": 8}})");
  const Tensor table = tensor("embeddings.word_embeddings.weight");
  std::vector<std::uint8_t> stored;
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < table.element_count(); ++i) {
    stored.push_back(static_cast<std::uint8_t>(i * 11 % 256));
    numbers.push_back(static_cast<float>(stored.back() - 87) * 0.25F);
  }
  tensor("embeddings.word_embeddings.weight") = Tensor::from<float>({table.extent(0), table.extent(1)}, numbers);
  const std::vector<float> wanted = hidden_state({.dtype = ComputeType::float32}), in_integers = hidden_state();
  tensor("embeddings.word_embeddings.weight") = Tensor::from<std::uint8_t>({table.extent(0), table.extent(1)}, stored);
  tensor("embeddings.word_embeddings.weight_scale") = Tensor::from<float>({1, 1}, {0.25F});
  tensor("embeddings.word_embeddings.weight_zero_point") = Tensor::from<std::uint8_t>({1, 1}, {87});
  EXPECT_EQ(hidden_state({.dtype = ComputeType::float32}), wanted);
  EXPECT_EQ(hidden_state(), in_integers);
}

TEST_F(PackedWeights, NeedScalesOfTheirGroups) {
  scales() = Tensor::zeros({DType::f32, {kWidth, 4}});
  expect_failure(
      "corrupt: 'encoder.layer.0.attention.self.query.weight_scale' is f32[36,4] beside a weight of u4[36,36]",
      "f32[1,1], f32[36,1] or, of groups of 12 columns, f32[36,3]");
  scales() = Tensor::zeros({DType::f16, {kWidth, kGroups}});
  expect_failure("corrupt: 'encoder.layer.0.attention.self.query.weight_scale' is f16[36,3]", "f32[36,3]");
  scales() = Tensor::from<float>({1, 1}, {INFINITY});
  expect_failure("corrupt: 'encoder.layer.0.attention.self.query.weight_scale'", "not finite");
  std::erase_if(tensors_, [](const formats::NamedTensor& named) { return named.name.ends_with("weight_scale"); });
  expect_failure("corrupt: weight 'encoder.layer.0.attention.self.query.weight' is stored in 4 bits",
                 "weight_scale', are missing");
}

TEST_F(PackedWeights, NeedZeroPointsOfTheirRange) {
  zero_points() = Tensor::zeros({DType::u8, {kWidth, 1}});
  expect_failure("corrupt: 'encoder.layer.0.attention.self.query.weight_zero_point' is u8[36,1]", "not u8[36,3]");
  zero_points() = Tensor::zeros({DType::i8, {kWidth, kGroups}});
  expect_failure("corrupt: 'encoder.layer.0.attention.self.query.weight_zero_point' is i8[36,3]", "not u8[36,3]");
  std::vector<std::uint8_t> zeros(static_cast<std::size_t>(kWidth * kGroups), 15);
  zeros.back() = 16;
  zero_points() = Tensor::from<std::uint8_t>({kWidth, kGroups}, zeros);
  expect_failure("corrupt: 'encoder.layer.0.attention.self.query.weight_zero_point' has zero points above 15",
                 "4 bits");
}

TEST_F(PackedWeights, NeedGroupsThatDivideTheColumns) {
  replace_in_config(R"("group_size": 12)", R"("group_size": 16)");
  expect_failure("corrupt: config.json: group_size of 'encoder.layer.0.attention.self.query' is 16", "36 columns");
  replace_in_config(R"("group_size": 16)", R"("group_size": -1)");
  expect_failure("corrupt: config.json: group_size of", "number of columns");
  replace_in_config(R"("bits": 4, "group_size": -1)", R"("bits": 3)");
  expect_failure("unsupported: config.json: quantization_config has 3 bits", "not 4 or 8");
}

TEST_F(PackedWeights, OfAnotherShapeThanTheConfigSaysAreRefused) {
  weight() = Tensor::zeros({DType::u8, {kWidth, kWidth}});
  expect_failure("corrupt: weight 'encoder.layer.0.attention.self.query.weight' has shape [36,72]", "[36,36]");
  weight() = Tensor::zeros({DType::u8, {kWidth * kWidth / 2}});
  expect_failure("corrupt: weight 'encoder.layer.0.attention.self.query.weight' has shape [648]", "[36,36]");
  // A program that reads bytes as numbers of 8 bits finds another shape.
  replace_in_config(R"("bits": 4, "group_size": 12)", R"("bits": 8)");
  weight() = Tensor::zeros({DType::u8, {kWidth, kWidth / 2}});
  expect_failure("corrupt: weight 'encoder.layer.0.attention.self.query.weight' has shape [36,18]", "[36,36]");
}

}  // namespace
}  // namespace alate
