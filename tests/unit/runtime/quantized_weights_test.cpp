// Folders whose weights are stored in 8 bits, and invalid ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "alate/error.h"
#include "alate/model.h"
#include "formats/tensor_file.h"
#include "tensor/encoding.h"
#include "tensor/rotation.h"
#include "tensor/row_rounding.h"
#include "tests/unit/runtime/quantized_folder.h"

namespace alate {
namespace {

using QuantizedWeights = QuantizedFolder;

TEST_F(QuantizedWeights, LoadBesideOthersOfFloats) { EXPECT_EQ(failure(), "none"); }

TEST_F(QuantizedWeights, NeedTheirScales) {
  std::erase_if(tensors_, [](const formats::NamedTensor& named) { return named.name.ends_with("weight_scale"); });
  expect_failure("corrupt: weight 'encoder.layer.0.attention.self.query.weight'", "query.weight_scale', are missing");
}

TEST_F(QuantizedWeights, NeedAScaleForEachRow) {
  scales() = Tensor::zeros({DType::f32, {36}});
  expect_failure("corrupt: 'encoder.layer.0.attention.self.query.weight_scale' is f32[36]", "for each row");
  scales() = Tensor::zeros({DType::f32, {35, 1}});
  expect_failure("corrupt: 'encoder.layer.0.attention.self.query.weight_scale' is f32[35,1]", "for each row");
  scales() = Tensor::zeros({DType::i8, {36, 1}});
  expect_failure("corrupt: 'encoder.layer.0.attention.self.query.weight_scale' is i8[36,1]", "f32");
}

TEST_F(QuantizedWeights, MayHaveAScaleForEachRun) {
  const std::vector<float> whole = hidden_state({.dtype = ComputeType::float32});
  const Tensor numbers = round_in_groups(4);
  const std::vector<float> in_integers = hidden_state(), decoded = hidden_state({.dtype = ComputeType::float32});
  EXPECT_NE(decoded, whole);
  double worst = 0;
  for (std::size_t i = 0; i < decoded.size(); ++i)
    worst = std::max(worst, std::abs(double{in_integers[i]} - double{decoded[i]}));
  EXPECT_GT(worst, 0);
  EXPECT_LT(worst, 0.05);
  // As floats in a file they give the same bits.
  tensor(std::string(kLayer) + ".weight") = numbers;
  std::erase_if(tensors_, [](const formats::NamedTensor& named) { return named.name.ends_with("weight_scale"); });
  EXPECT_EQ(hidden_state({.dtype = ComputeType::float32}), decoded);
}

TEST_F(QuantizedWeights, MayHaveAScaleForEachRowWhereActivationsHaveGroups) {
  name_groups(4);
  EXPECT_EQ(failure(), "none");
}

TEST_F(QuantizedWeights, OfVersionsBefore3CallTheGroupsRuns) {
  round_in_groups(4);
  const std::vector<float> now = hidden_state();
  replace_in_config("{\"activation_groups\": 4}", "{\"activation_runs\": 4}");
  replace_in_config("\"version\": 1", "\"version\": 2");
  EXPECT_EQ(hidden_state(), now);
  replace_in_config("{\"activation_runs\": 4}", "{\"activation_runs\": 5}");
  expect_failure("corrupt: config.json: activation_groups of 'encoder.layer.0.attention.self.query' is 5", "36");
}

TEST_F(QuantizedWeights, NeedAsManyScalesAsGroups) {
  round_in_groups(4);
  scales() = Tensor::zeros({DType::f32, {36, 3}});
  expect_failure(
      "corrupt: 'encoder.layer.0.attention.self.query.weight_scale' is f32[36,3] beside a weight of i8[36,36]",
      "must be f32[36,1], a number for each row, or f32[36,4], one for each of a row's activation_groups");
  replace_in_config("{\"activation_groups\": 4}", "{\"activation_groups\": 5}");
  scales() = Tensor::zeros({DType::f32, {36, 5}});
  try {
    (void)hidden_state({.dtype = ComputeType::float32});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("activation_groups of 'encoder.layer.0.attention.self.query' is 5"),
              std::string::npos)
        << error.message();
  }
}

TEST_F(QuantizedWeights, NeedScalesThatAreNumbers) {
  scales() = Tensor::from<float>({36, 1}, std::vector<float>(36, NAN));
  expect_failure("corrupt: 'encoder.layer.0.attention.self.query.weight_scale'", "not finite");
}

TEST_F(QuantizedWeights, NeedSmoothingOfEachChannel) {
  tensor(std::string(kLayer) + ".smoothing") = Tensor::from<float>({35}, std::vector<float>(35, 1));
  expect_failure("corrupt: 'encoder.layer.0.attention.self.query.smoothing' is f32[35]", "f32[36]");
}

TEST_F(QuantizedWeights, MayBeOfRotatedInputs) {
  const std::vector<float> whole = hidden_state({.dtype = ComputeType::float32});
  const Tensor& stored = tensor(std::string(kLayer) + ".weight");
  const Tensor weight = tensor::dequantize({tensor::EncodingKind::linear, {1, 0}}, stored, scales(), {}, DType::f32);
  tensor::ScaledRows rows = tensor::round_rows(tensor::rotated_rows(weight, 4, 0.25F));
  tensor(std::string(kLayer) + ".weight") = std::move(rows.stored);
  scales() = std::move(rows.scales);
  const std::vector<float> taken_as_they_are = hidden_state({.dtype = ComputeType::float32});
  replace_in_config("\"bits\": 8", "\"bits\": 8, \"modules\": {\"" + std::string(kLayer) + "\": {\"rotation\": 4}}");
  const auto worst = [&](const std::vector<float>& found) {
    double most = 0;
    for (std::size_t i = 0; i < found.size(); ++i) most = std::max(most, std::abs(double{found[i]} - double{whole[i]}));
    return most;
  };
  EXPECT_GT(worst(taken_as_they_are), 0.1);
  EXPECT_LT(worst(hidden_state({.dtype = ComputeType::float32})), 0.05);
  EXPECT_LT(worst(hidden_state()), 0.05);
}

TEST_F(QuantizedWeights, NeedRotationsThatDivideAGroup) {
  replace_in_config("\"bits\": 8", "\"bits\": 8, \"rotation\": 8");
  expect_failure("corrupt: config.json: rotation of 'encoder.layer.0.attention.self.query' is 8", "36 channels");
  replace_in_config("\"rotation\": 8", "\"rotation\": 6");
  expect_failure("corrupt: config.json: rotation of", "power of two");
  replace_in_config("\"rotation\": 6", "\"rotation\": -4");
  expect_failure("corrupt: config.json: rotation of", "power of two");
}

TEST_F(QuantizedWeights, NeedGroupsThatDivideTheChannels) {
  replace_in_config("\"bits\": 8", "\"bits\": 8, \"activation_groups\": 5");
  expect_failure("corrupt: config.json: activation_groups of 'encoder.layer.0.attention.self.query' is 5", "36");
  replace_in_config("\"activation_groups\": 5", "\"activation_groups\": 0");
  expect_failure("corrupt: config.json: activation_groups", "1 or more");
}

TEST_F(QuantizedWeights, OfAnotherShapeThanTheConfigSaysAreRefused) {
  tensor(std::string(kLayer) + ".weight") = Tensor::zeros({DType::i8, {36, 35}});
  expect_failure("corrupt: weight 'encoder.layer.0.attention.self.query.weight' has shape [36,35]", "[36,36]");
}

TEST_F(QuantizedWeights, OfALaterVersionOrOtherToolsAreRefused) {
  replace_in_config("\"version\": 1", "\"version\": 5");
  expect_failure("unsupported: config.json: quantization_config is of version 5", "newer");
  replace_in_config("\"alate\"", "\"gptq\"");
  expect_failure("unsupported: weight 'encoder.layer.0.attention.self.query.weight' is stored as i8", "");
}

}  // namespace
}  // namespace alate
