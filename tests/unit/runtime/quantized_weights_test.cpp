// Folders whose weights are stored in 8 bits, and such folders that are not what they say.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "alate/error.h"
#include "alate/model.h"
#include "base/mapped_file.h"
#include "formats/tensor_file.h"
#include "tensor/row_rounding.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

constexpr const char* kLayer = "encoder.layer.0.attention.self.query";

class QuantizedWeights : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path source = source_folder() / "tests/golden/models/odd_sizes";
    tensors_ = formats::read_tensors(source / "model.safetensors");
    config_ = base::read_text_file(source / "config.json");
    config_.insert(config_.find('{') + 1,
                   R"("quantization_config": {"quant_method": "alate", "bits": 8, "version": 1},)");
    const std::string weight = std::string(kLayer) + ".weight";
    tensor::ScaledRows rows = tensor::round_rows(tensor(weight));
    tensor(weight) = std::move(rows.stored);
    tensors_.push_back({weight + "_scale", std::move(rows.scales)});
  }

  Tensor& tensor(const std::string& name) {
    for (formats::NamedTensor& named : tensors_) {
      if (named.name == name) return named.tensor;
    }
    return tensors_.emplace_back(formats::NamedTensor{name, Tensor()}).tensor;
  }
  Tensor& scales() { return tensor(std::string(kLayer) + ".weight_scale"); }

  void replace_in_config(const std::string& from, const std::string& to) {
    const std::size_t at = config_.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    config_.replace(at, from.size(), to);
  }

  std::string failure() {
    folder_.write("config.json", config_);
    formats::write_tensors(folder_.path() / "model.safetensors", tensors_);
    try {
      const Model model = Model::load(folder_.path());
      (void)model.forward({{"input_ids", Tensor::from<std::int64_t>({1, 2}, {1, 5})}});
    } catch (const Error& error) {
      return std::string(to_string(error.code())) + ": " + error.message();
    }
    return "none";
  }

  void expect_failure(const std::string& start, const std::string& part) {
    const std::string found = failure();
    EXPECT_TRUE(found.starts_with(start)) << found;
    EXPECT_NE(found.find(part), std::string::npos) << found;
  }

  base::TemporaryFolder folder_;
  std::vector<formats::NamedTensor> tensors_;
  std::string config_;
};

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

TEST_F(QuantizedWeights, NeedScalesThatAreNumbers) {
  scales() = Tensor::from<float>({36, 1}, std::vector<float>(36, NAN));
  expect_failure("corrupt: 'encoder.layer.0.attention.self.query.weight_scale'", "not finite");
}

TEST_F(QuantizedWeights, NeedSmoothingOfEachChannel) {
  tensor(std::string(kLayer) + ".smoothing") = Tensor::from<float>({35}, std::vector<float>(35, 1));
  expect_failure("corrupt: 'encoder.layer.0.attention.self.query.smoothing' is f32[35]", "f32[36]");
}

TEST_F(QuantizedWeights, NeedRunsThatDivideTheChannels) {
  replace_in_config("\"bits\": 8", "\"bits\": 8, \"activation_runs\": 5");
  expect_failure("corrupt: config.json: activation_runs of 'encoder.layer.0.attention.self.query' is 5", "36");
  replace_in_config("\"activation_runs\": 5", "\"activation_runs\": 0");
  expect_failure("corrupt: config.json: activation_runs", "1 or more");
}

TEST_F(QuantizedWeights, OfAnotherShapeThanTheConfigSaysAreRefused) {
  tensor(std::string(kLayer) + ".weight") = Tensor::zeros({DType::i8, {36, 35}});
  expect_failure("corrupt: weight 'encoder.layer.0.attention.self.query.weight' has shape [36,35]", "[36,36]");
}

TEST_F(QuantizedWeights, OfALaterVersionOrOtherToolsAreRefused) {
  replace_in_config("\"version\": 1", "\"version\": 2");
  expect_failure("unsupported: config.json: quantization_config is of version 2", "newer");
  replace_in_config("\"alate\"", "\"gptq\"");
  expect_failure("unsupported: weight 'encoder.layer.0.attention.self.query.weight' is stored as i8", "");
}

}  // namespace
}  // namespace alate
