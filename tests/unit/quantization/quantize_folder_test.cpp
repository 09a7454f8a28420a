// A folder with random weights through quantize_folder and the loader.
#include "quantization/quantize_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "alate/embedding.h"
#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "formats/folder_weights.h"
#include "formats/json.h"
#include "quantization/calibration_run.h"
#include "quantization/calibration_texts.h"
#include "tests/unit/quantization/tiny_encoder.h"

namespace alate::quantization {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kTexts = {
    "the cat sat on the mat.", "fox", "a quick brown fox jumps: jumping!", "café naïve", "?", "cat cat dog, the mat"};

class QuantizeFolder : public testing::Test {
 protected:
  void SetUp() override { write_tiny_encoder(model_); }

  fs::path out() const { return outputs_.path() / "small"; }

  // quantization_config of what was written; modules(): what it says of single ones.
  formats::Json quantization() const {
    const fs::path path = out() / "config.json";
    const formats::Json config = formats::parse_json(base::read_text_file(path), path.string());
    const formats::Json* found = config.find("quantization_config");
    return found == nullptr ? formats::Json() : *found;
  }
  std::string modules() const {
    const formats::Json written = quantization();
    const formats::Json* found = written.find("modules");
    return found == nullptr ? "none" : formats::to_json_text(*found);
  }

  std::size_t files_in_output() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(outputs_.path()), fs::directory_iterator()));
  }

  std::string failure(const fs::path& to) const {
    try {
      quantize_folder(model_.path(), to);
    } catch (const Error& error) {
      return std::string(to_string(error.code())) + ": " + error.message();
    }
    return "none";
  }

  // The least cosine between the vectors of two folders.
  static double worst_cosine(const fs::path& a, const fs::path& b, const LoadOptions& options_a = {},
                             const LoadOptions& options_b = {}) {
    const Tensor x = EmbeddingPipeline::load(a, {options_a}).embed(kTexts).vectors;
    const Tensor y = EmbeddingPipeline::load(b, {options_b}).embed(kTexts).vectors;
    double worst = 1;
    for (std::size_t row = 0; row < kTexts.size(); ++row) {
      double dot = 0, xx = 0, yy = 0;
      for (std::size_t i = row * kHidden; i < (row + 1) * kHidden; ++i) {
        const double p = x.values<float>()[i], q = y.values<float>()[i];
        dot += p * q;
        xx += p * p;
        yy += q * q;
      }
      worst = std::min(worst, dot / std::sqrt(xx * yy));
    }
    return worst;
  }

  base::TemporaryFolder model_, outputs_;
};

TEST_F(QuantizeFolder, WritesAModelThatLoadsAndAnswersNearlyTheSame) {
  const FolderReport report = quantize_folder(model_.path(), out());
  EXPECT_EQ(report.layers, 12U);
  EXPECT_EQ(report.texts, calibration_texts().size());
  EXPECT_LT(report.bytes_after, report.bytes_before / 2);
  EXPECT_EQ(files_in_output(), 1U);
  EXPECT_GT(worst_cosine(model_.path(), out()), 0.995);
  const Model model = Model::load(out());
  EXPECT_EQ(model.facts().dtype, "int8");
  EXPECT_EQ(model.facts().selection.dtype, "int8");
  EXPECT_EQ(model.facts().weight_bytes, report.bytes_after);
}

TEST_F(QuantizeFolder, RoundsWeightsThatLayersShareOnceForAll) {
  const base::TemporaryFolder model;
  write_tiny_albert(model);
  const FolderReport report = quantize_folder(model.path(), out());
  EXPECT_EQ(report.layers, 7U);
  EXPECT_GT(worst_cosine(model.path(), out()), 0.995);
}

TEST_F(QuantizeFolder, StoresWeightsInBytesWithTheirScalesAndSmoothing) {
  quantize_folder(model_.path(), out());
  const auto file = formats::FolderWeights::open(out());
  const auto text = [&](const char* name) {
    return file.contains(name) ? to_string(file.info(name)->shape) : std::string("none");
  };
  EXPECT_EQ(text("embeddings.word_embeddings.weight"), "i8[88,16]");
  EXPECT_EQ(text("embeddings.word_embeddings.weight_scale"), "f32[88,1]");
  EXPECT_EQ(text("embeddings.position_embeddings.weight"), "f16[40,16]");
  EXPECT_EQ(text("embeddings.token_type_embeddings.weight"), "f16[2,16]");
  EXPECT_EQ(text("encoder.layer.0.intermediate.dense.weight"), "i8[128,16]");
  EXPECT_EQ(text("encoder.layer.0.intermediate.dense.weight_scale"), "f32[128,1]");
  EXPECT_EQ(text("encoder.layer.0.output.dense.weight_scale"), "f32[16,1]");
  EXPECT_EQ(text("encoder.layer.0.intermediate.dense.smoothing"), "f32[16]");
  EXPECT_EQ(text("encoder.layer.0.intermediate.dense.bias"), "f32[128]");
  // Query, key and value read one input, which is smoothed once.
  const Tensor query = file.tensor("encoder.layer.1.attention.self.query.smoothing"),
               value = file.tensor("encoder.layer.1.attention.self.value.smoothing");
  EXPECT_TRUE(std::ranges::equal(query.values<float>(), value.values<float>()));
  EXPECT_EQ(quantization().get_string("quant_method", ""), "alate");
  // Inputs that are many enough are rotated, and need one run.
  EXPECT_EQ(
      modules(),
      R"({"encoder.layer.0.output.dense":{"activation_groups":1,"rotation":128},"encoder.layer.1.output.dense":{"activation_groups":1,"rotation":128}})");
}

// Behind an activation, channels that cannot be rotated come in falling order of their range, in four groups.
TEST_F(QuantizeFolder, RoundsInRunsWhatCannotBeRotated) {
  const base::TemporaryFolder model;
  write_tiny_encoder(model, 192);
  quantize_folder(model.path(), out());
  EXPECT_EQ(
      modules(),
      R"({"encoder.layer.0.output.dense":{"activation_groups":4},"encoder.layer.1.output.dense":{"activation_groups":4}})");
  const auto file = formats::FolderWeights::open(out());
  EXPECT_EQ(to_string(file.info("encoder.layer.0.output.dense.weight_scale")->shape), "f32[16,4]");
  EXPECT_GT(worst_cosine(model.path(), out()), 0.995);
}

TEST_F(QuantizeFolder, LeavesOutThePoolerWhereOnlyVectorsOfTextsAreWanted) {
  quantize_folder(model_.path(), out());
  EXPECT_FALSE(formats::FolderWeights::open(out()).contains("pooler.dense.weight"));

  // Forward of a model without modules gives the pooler's output, in floats as before.
  fs::remove(model_.path() / "modules.json");
  const fs::path plain = outputs_.path() / "plain";
  quantize_folder(model_.path(), plain);
  const auto file = formats::FolderWeights::open(plain);
  ASSERT_TRUE(file.contains("pooler.dense.weight"));
  EXPECT_EQ(to_string(file.info("pooler.dense.weight")->shape), "f32[16,16]");
  EXPECT_FALSE(file.contains("pooler.dense.smoothing"));
  const Tensor ids = Tensor::from<std::int32_t>({1, 3}, std::vector<std::int32_t>{2, 5, 3});
  EXPECT_TRUE(Model::load(plain).forward({{"input_ids", ids}}).contains("pooler_output"));
  const NamedTensors without = Model::load(out()).forward({{"input_ids", ids}});
  EXPECT_TRUE(without.contains("last_hidden_state"));
  EXPECT_FALSE(without.contains("pooler_output"));
}

TEST_F(QuantizeFolder, KeepsTheWeightsOfAHead) {
  model_.write("config.json", R"({"model_type": "bert", "architectures": ["BertForMaskedLM"], "hidden_size": 16,
    "intermediate_size": 128, "num_attention_heads": 2, "num_hidden_layers": 2, "vocab_size": 88,
    "max_position_embeddings": 40, "type_vocab_size": 2})");
  quantize_folder(model_.path(), out());
  EXPECT_TRUE(formats::FolderWeights::open(out()).contains("pooler.dense.weight"));
}

TEST_F(QuantizeFolder, TakesAllFilesAlongButOtherWeights) {
  quantize_folder(model_.path(), out());
  EXPECT_EQ(base::read_text_file(out() / "README.md"), "A model of nobody.");
  for (const char* file : {"tokenizer.json", "modules.json", "1_Pooling/config.json", "model.safetensors"})
    EXPECT_TRUE(fs::exists(out() / file)) << file;
  for (const char* file : {"pytorch_model.bin", "onnx"}) EXPECT_FALSE(fs::exists(out() / file)) << file;
}

TEST_F(QuantizeFolder, IsDecodedWhereFloat32IsAskedFor) {
  quantize_folder(model_.path(), out());
  const LoadOptions floats{.dtype = ComputeType::float32};
  EXPECT_EQ(Model::load(out(), floats).facts().dtype, "float32");
  EXPECT_GT(worst_cosine(model_.path(), out(), {}, floats), 0.999);
  EXPECT_NE(Model::load(out(), floats).fingerprint(), Model::load(out()).fingerprint());
}

// They are for the weights as they were trained, which smoothing changes.
TEST_F(QuantizeFolder, RefusesAModelWithAdapters) {
  fs::create_directory(model_.path() / "task");
  model_.write("task/adapter_config.json", R"({"peft_type": "LORA", "r": 2, "lora_alpha": 2})");
  EXPECT_TRUE(failure(out()).starts_with("unsupported: ")) << failure(out());
}

TEST_F(QuantizeFolder, GivesTheSameFileTwice) {
  quantize_folder(model_.path(), out());
  quantize_folder(model_.path(), outputs_.path() / "again");
  EXPECT_EQ(base::read_text_file(out() / "model.safetensors"),
            base::read_text_file(outputs_.path() / "again/model.safetensors"));
}

TEST_F(QuantizeFolder, CalibratesWithTheTextsThatAreGiven) {
  const FolderReport report = quantize_folder(model_.path(), out(), {.calibration = {"cat", "fox fox"}});
  EXPECT_EQ(report.texts, 2U);
  EXPECT_EQ(report.tokens, 7U);  // with [CLS] and [SEP]
}

TEST_F(QuantizeFolder, KnowsWhatMakesTheInputsOfLayers) {
  const formats::Json config = formats::parse_json(base::read_text_file(model_.path() / "config.json"), "config.json");
  const auto weights = formats::FolderWeights::open(model_.path());
  const ModelLayers layers = find_layers({config, weights, models::find_architecture(config)});
  constexpr InputKind kNorm = InputKind::norm, kAttention = InputKind::attention, kActivation = InputKind::activation;
  // Query, key, value and what attention makes; before and behind the activation.
  const std::vector<InputKind> a_layer = {kNorm, kNorm, kNorm, kAttention, kNorm, kActivation};
  std::vector<InputKind> wanted = a_layer;
  wanted.insert(wanted.end(), a_layer.begin(), a_layer.end());
  EXPECT_EQ(layers.inputs, wanted);
}

TEST_F(QuantizeFolder, RoundsInAsManyRunsAsAreAskedFor) {
  EXPECT_THROW(quantize_folder(model_.path(), out(), {.activation_groups = 0}), Error);
  const base::TemporaryFolder model;
  write_tiny_encoder(model, 256);  // rotated, in two groups of 128
  quantize_folder(model.path(), out(), {.activation_groups = 3});
  EXPECT_NE(modules().find(R"("encoder.layer.0.output.dense":{"activation_groups":2,"rotation":128})"),
            std::string::npos)
      << modules();
  const auto file = formats::FolderWeights::open(out());
  EXPECT_EQ(to_string(file.info("encoder.layer.0.output.dense.weight_scale")->shape), "f32[16,2]");
  EXPECT_GT(worst_cosine(model.path(), out()), 0.995);
}

TEST_F(QuantizeFolder, WritesNothingOverAndLeavesNothingBehind) {
  fs::create_directory(out());
  EXPECT_TRUE(failure(out()).starts_with("invalid_argument: '" + out().string() + "' exists")) << failure(out());
  EXPECT_TRUE(fs::is_empty(out()));
  EXPECT_TRUE(failure(outputs_.path() / "no/such").starts_with("not_found: ")) << failure(outputs_.path() / "no/such");
  model_.write("config.json", R"({"model_type": "mamba"})");
  EXPECT_TRUE(failure(outputs_.path() / "other").starts_with("unsupported: architecture 'mamba'"));
  EXPECT_EQ(files_in_output(), 1U);  // the empty folder alone
}

TEST_F(QuantizeFolder, ReportsLayersAndThenTensorsUpToTheLast) {
  std::vector<QuantizationProgress> reports;
  quantize_folder(model_.path(), out(), {.report = [&](const QuantizationProgress& at) { reports.push_back(at); }});
  ASSERT_FALSE(reports.empty());
  for (std::size_t i = 1; i < reports.size(); ++i) {
    if (reports[i].stage == reports[i - 1].stage) {
      EXPECT_GE(reports[i].done, reports[i - 1].done);
      EXPECT_GT(reports[i].share, reports[i - 1].share);
      EXPECT_EQ(reports[i].total, reports[i - 1].total);
    } else {
      EXPECT_EQ(reports[i].stage, QuantizationStage::writing);
      EXPECT_EQ(reports[i - 1].done, 12U);
      EXPECT_EQ(reports[i - 1].total, 12U);
      EXPECT_EQ(reports[i - 1].share, 1.0);
    }
  }
  EXPECT_EQ(reports.back().stage, QuantizationStage::writing);
  EXPECT_EQ(reports.back().done, reports.back().total);
}

TEST_F(QuantizeFolder, EndsWithWhatAReportThrowsAndLeavesNothingBehind) {
  for (const QuantizationStage stage : {QuantizationStage::layers, QuantizationStage::writing}) {
    const auto end = [&](const QuantizationProgress& at) {
      if (at.stage == stage && at.done > 2) throw Error(ErrorCode::cancelled, "enough");
    };
    EXPECT_THROW((void)quantize_folder(model_.path(), out(), {.report = end}), Error);
    EXPECT_EQ(files_in_output(), 0U);
  }
}

TEST_F(QuantizeFolder, RefusesWhatIsQuantizedAlready) {
  quantize_folder(model_.path(), out());
  try {
    quantize_folder(out(), outputs_.path() / "twice");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.message().find("quantized already"), std::string::npos);
  }
}

TEST_F(QuantizeFolder, RoundsOnLoadWithoutAFileWhereInt8IsAskedFor) {
  const LoadOptions rounded{.dtype = ComputeType::int8};
  const Model model = Model::load(model_.path(), rounded);
  EXPECT_EQ(model.facts().dtype, "int8");
  EXPECT_NE(model.fingerprint(), Model::load(model_.path()).fingerprint());
  const double worst = worst_cosine(model_.path(), model_.path(), {}, rounded);
  EXPECT_GT(worst, 0.99);
  EXPECT_LT(worst, 1 - 1e-7);  // it did round
}

}  // namespace
}  // namespace alate::quantization
