// quantize_folder on every recorded architecture and head: what is written is as near to float32 as rounding on load.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/model.h"
#include "alate/tensor.h"
#include "base/files/mapped_file.h"
#include "formats/folder_weights.h"
#include "formats/json.h"
#include "formats/tensor_file.h"
#include "models/encoder.h"
#include "models/weights/weights.h"
#include "quantization/calibration_run.h"
#include "quantization/quantize_folder.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/runtime/forward_cases.h"

namespace alate::quantization {
namespace {

namespace fs = std::filesystem;

// A tokenizer whose words are the ids of the vocabulary: "w0", "w1", ….
std::string tokenizer_of(std::int64_t vocabulary) {
  std::string words;
  for (std::int64_t id = 0; id < vocabulary; ++id)
    words += (id == 0 ? "\"w" : ", \"w") + std::to_string(id) + "\": " + std::to_string(id);
  return R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
             "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
             "model": {"type": "WordLevel", "unk_token": "w0", "vocab": {)" +
         words + "}}}";
}

std::vector<std::string> texts_of(std::int64_t vocabulary) {
  std::vector<std::string> texts;
  std::uint64_t state = 1;
  for (std::size_t length = 2; length < 32; length += 2) {
    std::string& text = texts.emplace_back();
    for (std::size_t i = 0; i < length; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      text += "w" + std::to_string((state >> 33) % static_cast<std::uint64_t>(vocabulary)) + " ";
    }
  }
  return texts;
}

class QuantizeArchitecture : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    tests::write_tiny_model(tests::golden_folder("architectures/" + GetParam()), model());
    const formats::Json config = config_of(model());
    const std::int64_t vocabulary = models::find_architecture(config).limits(config).vocabulary;
    folder_.write("model/tokenizer.json", tokenizer_of(vocabulary));
    report_ = quantize_folder(model(), small(), {.calibration = texts_of(vocabulary)});
  }

  static formats::Json config_of(const fs::path& folder) {
    return formats::parse_json(base::read_text_file(folder / "config.json"), "config.json");
  }
  fs::path model() const { return folder_.path() / "model"; }
  fs::path small() const { return folder_.path() / "small"; }

  void expect_as_near_as_rounding_on_load() const;
  void expect_only_layers_and_tables_rounded() const;

  base::TemporaryFolder folder_;
  FolderReport report_;  // of quantize_folder
};

// The inputs of the first recorded case.
NamedTensors inputs_of(const std::string& recorded) {
  NamedTensors inputs;
  for (formats::NamedTensor& named : formats::read_tensors(
           tests::sorted_entries(tests::golden_folder("architectures/" + recorded), "case_mixed_lengths").front())) {
    if (named.tensor.dtype() != DType::f32) inputs.emplace(named.name, std::move(named.tensor));
  }
  return inputs;
}

// The root mean square of the differences between outputs of the same names, in units of that of the values.
double distance(const NamedTensors& found, const NamedTensors& wanted) {
  double differences = 0, values = 0;
  EXPECT_EQ(found.size(), wanted.size());
  for (const auto& [name, tensor] : wanted) {
    const std::span<const float> b = tensor.values<float>(), a = found.at(name).values<float>();
    for (std::size_t i = 0; i < b.size(); ++i) {
      differences += std::pow(double{a[i]} - double{b[i]}, 2);
      values += std::pow(double{b[i]}, 2);
    }
  }
  return std::sqrt(differences / values);
}

// Wrong names, orders or factors of a layer are off by tenths, and so would be a weight decoded without its rotation.
void QuantizeArchitecture::expect_as_near_as_rounding_on_load() const {
  const NamedTensors inputs = inputs_of(GetParam());
  const auto outputs = [&](const fs::path& folder, ComputeType type) {
    const Model loaded = Model::load(folder, {.dtype = type});
    EXPECT_EQ(loaded.facts().dtype, type == ComputeType::as_stored ? "int8" : to_string(type));
    return loaded.forward(inputs);
  };
  const NamedTensors exact = outputs(model(), ComputeType::float32);
  const double on_load = distance(outputs(model(), ComputeType::int8), exact);
  const double stored = distance(outputs(small(), ComputeType::as_stored), exact);
  const double decoded = distance(outputs(small(), ComputeType::float32), exact);
  // Models amplify errors by different factors, the same for both types. Those of 8 bits begin 2.4 times as large, by
  // the steps of both; outputs of few numbers scatter around that.
  const double in_bfloat16 = distance(outputs(model(), ComputeType::bfloat16), exact);
  EXPECT_LT(on_load, 8 * in_bfloat16);
  EXPECT_LT(in_bfloat16, 0.05);
  EXPECT_LT(stored, 2.5 * on_load + 0.002);
  EXPECT_LT(decoded, 1.3 * stored);  // its inputs are not rounded
  EXPECT_GT(decoded, 0);
}

void QuantizeArchitecture::expect_only_layers_and_tables_rounded() const {
  const formats::Json config = config_of(model());
  const auto before = formats::FolderWeights::open(model()), after = formats::FolderWeights::open(small());
  const ModelLayers layers = find_layers({config, before, models::find_architecture(config)});
  std::set<std::string> in_bytes, in_half, biases;
  for (const models::LinearLayer& layer : layers.linear) {
    if (layer.rounding == models::Rounding::never) continue;
    in_bytes.insert(layer.module + ".weight");
    biases.insert(layer.module + ".bias");
  }
  EXPECT_EQ(report_.layers, in_bytes.size());
  for (const models::LookupTable& table : layers.tables)
    (table.rounding == models::Rounding::allowed ? in_bytes : in_half).insert(table.weight);
  for (const std::string_view view : before.names()) {
    const std::string name(view);
    ASSERT_TRUE(after.contains(name)) << name;
    if (biases.contains(name)) continue;  // corrected
    const Tensor was = before.tensor(name), is = after.tensor(name);
    if (in_bytes.contains(name)) {
      EXPECT_EQ(is.dtype(), DType::i8) << name;
      EXPECT_TRUE(after.contains(name + "_scale")) << name;
    } else if (in_half.contains(name)) {
      EXPECT_EQ(is.dtype(), DType::f16) << name;
    } else {
      EXPECT_TRUE(std::ranges::equal(is.bytes(), was.bytes())) << name;
    }
  }
}

TEST_P(QuantizeArchitecture, RoundsTheEncoderAndIsAsNearAsRoundingOnLoad) {
  expect_as_near_as_rounding_on_load();
  expect_only_layers_and_tables_rounded();
}

INSTANTIATE_TEST_SUITE_P(Folders, QuantizeArchitecture, testing::ValuesIn(tests::golden_names("architectures")),
                         [](const auto& folder) { return folder.param; });

}  // namespace
}  // namespace alate::quantization
