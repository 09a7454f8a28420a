// Adapters in hostile folders; what they compute is in tests/unit/pipelines/module_chains_test.cpp.
#include "models/weights/adapters.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "formats/folder_weights.h"
#include "formats/json.h"
#include "formats/named_tensor.h"
#include "formats/safetensors/safetensors_writer.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::models {
namespace {

using formats::NamedTensor;

constexpr const char* kSettings = R"({"peft_type": "LORA", "r": 2, "lora_alpha": 4})";

Tensor ones(std::vector<std::int64_t> extents) {
  std::size_t count = 1;
  for (const std::int64_t extent : extents) count *= static_cast<std::size_t>(extent);
  return Tensor::from<float>(extents, std::vector<float>(count, 1));
}

// A model with one layer [3, 5], and one adapter for it.
class AdaptersTest : public testing::Test {
 protected:
  AdaptersTest() {
    const std::vector<NamedTensor> weights = {{"model.layer.weight", ones({3, 5})}};
    formats::write_safetensors(folder_.path() / "model.safetensors", weights, {});
    settings(kSettings);
    parts({{"base_model.model.layer.lora_A.weight", ones({2, 5})},
           {"base_model.model.layer.lora_B.weight", ones({3, 2})}});
  }

  void settings(const std::string& text) {
    std::filesystem::create_directories(folder_.path() / "task");
    folder_.write("task/adapter_config.json", text);
  }
  void parts(const std::vector<NamedTensor>& tensors) {
    formats::write_safetensors(folder_.path() / "task/adapter_model.safetensors", tensors, {});
  }
  Adapters find(const std::string& config = "{}") const {
    return Adapters::find(folder_.path(), formats::parse_json(config, "config.json"));
  }
  Adapter load() const { return find().load("task", *formats::open_weights(folder_.path()), "model."); }
  Error refusal() const {
    return base::error_of([&] { load(); });
  }

  base::TemporaryFolder folder_;
};

TEST_F(AdaptersTest, AreNamedByTheirFoldersAndScaled) {
  ASSERT_EQ(find().names().size(), 1u);
  EXPECT_EQ(find().names()[0], "task");
  const Adapter adapter = load();
  ASSERT_TRUE(adapter.contains("layer"));
  EXPECT_EQ(adapter.at("layer").down.values<float>()[0], 1);
  EXPECT_EQ(adapter.at("layer").up.values<float>()[0], 2);  // lora_alpha / r
  EXPECT_EQ(base::error_of([&] { find().load("other", *formats::open_weights(folder_.path()), ""); }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(AdaptersTest, OfOtherKindsAreRefused) {
  for (const char* text :
       {R"({"peft_type": "IA3"})", R"({})", R"({"peft_type": "LORA", "use_dora": true})",
        R"({"peft_type": "LORA", "bias": "all"})", R"({"peft_type": "LORA", "rank_pattern": {"a": 3}})",
        R"({"peft_type": "LORA", "modules_to_save": ["classifier"]})"}) {
    settings(text);
    EXPECT_EQ(refusal().code(), ErrorCode::unsupported) << text;
  }
  for (const char* text : {R"({"peft_type": "LORA", "r": 0})", R"({"peft_type": "LORA", "lora_alpha": -1})",
                           R"({"peft_type": "LORA", "r": 1e999})"}) {
    settings(text);
    EXPECT_NE(refusal().code(), ErrorCode::internal) << text;
  }
}

TEST_F(AdaptersTest, PartsMustFitTheModel) {
  const std::string up = "base_model.model.layer.lora_B.weight", down = "base_model.model.layer.lora_A.weight";
  parts({{down, ones({2, 5})}});
  EXPECT_EQ(refusal().code(), ErrorCode::corrupt);  // lora_B is missing
  for (const auto& [a, b] : std::vector<std::pair<Tensor, Tensor>>{{ones({2, 4}), ones({3, 2})},
                                                                   {ones({2, 5}), ones({4, 2})},
                                                                   {ones({2, 5}), ones({3, 1})},
                                                                   {ones({10}), ones({3, 2})}}) {
    parts({{down, a}, {up, b}});
    EXPECT_EQ(refusal().code(), ErrorCode::corrupt);
  }
  parts(
      {{"base_model.model.other.lora_A.weight", ones({2, 5})}, {"base_model.model.other.lora_B.weight", ones({3, 2})}});
  EXPECT_EQ(refusal().code(), ErrorCode::corrupt);
  parts({{down, ones({2, 5})}, {up, ones({3, 2})}, {"base_model.model.layer.lora_magnitude_vector", ones({3})}});
  EXPECT_EQ(refusal().code(), ErrorCode::unsupported);
}

TEST_F(AdaptersTest, NamesInTheModelsSettingsDiffer) {
  EXPECT_EQ(find(R"({"lora_adaptations": ["b", "a"]})").names()[0], "a");
  EXPECT_EQ(base::error_of([&] { find(R"({"lora_adaptations": ["a", "a"]})"); }).code(), ErrorCode::corrupt);
  EXPECT_EQ(base::error_of([&] { find(R"({"lora_adaptations": ["a"], "lora_rank": 0})"); }).code(), ErrorCode::corrupt);
}

TEST_F(AdaptersTest, FilesAreInTheFolder) {
  base::TemporaryFolder other;
  other.write("adapter_config.json", kSettings);
  std::filesystem::remove(folder_.path() / "task/adapter_config.json");
  std::filesystem::create_symlink(other.path() / "adapter_config.json", folder_.path() / "task/adapter_config.json");
  EXPECT_EQ(base::error_of([&] { find(); }).code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace alate::models
