// A tiny BERT's folder with one weight in 8 bits, which tests change.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/model.h"
#include "base/files/mapped_file.h"
#include "formats/tensor_file.h"
#include "tensor/encoding.h"
#include "tensor/row_rounding.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {

inline constexpr const char* kLayer = "encoder.layer.0.attention.self.query";

class QuantizedFolder : public testing::Test {
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

  std::vector<float> hidden_state(const LoadOptions& options = {}) {
    folder_.write("config.json", config_);
    formats::write_tensors(folder_.path() / "model.safetensors", tensors_);
    const Model model = Model::load(folder_.path(), options);
    const NamedTensors results = model.forward({{"input_ids", Tensor::from<std::int64_t>({1, 2}, {1, 5})}});
    const std::span<const float> values = results.at("last_hidden_state").values<float>();
    return {values.begin(), values.end()};
  }

  // Rounds the layer's weight in groups, which the config then names. The numbers that it means, f32.
  Tensor round_in_groups(std::int64_t groups) {
    const std::filesystem::path source = source_folder() / "tests/golden/models/odd_sizes/model.safetensors";
    const std::string weight = std::string(kLayer) + ".weight";
    Tensor floats;
    for (formats::NamedTensor& named : formats::read_tensors(source)) {
      if (named.name == weight) floats = named.tensor;
    }
    tensor::ScaledRows rows = tensor::round_rows(floats, groups);
    const Tensor numbers = tensor::dequantize({tensor::EncodingKind::linear, {1, rows.group_size()}}, rows.stored,
                                              rows.scales, {}, DType::f32);
    tensor(weight) = std::move(rows.stored);
    scales() = std::move(rows.scales);
    name_groups(groups);
    return numbers;
  }
  void name_groups(std::int64_t groups) {
    replace_in_config("\"bits\": 8", "\"bits\": 8, \"modules\": {\"" + std::string(kLayer) +
                                         "\": {\"activation_groups\": " + std::to_string(groups) + "}}");
  }

  std::string failure() {
    try {
      (void)hidden_state();
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

}  // namespace alate
