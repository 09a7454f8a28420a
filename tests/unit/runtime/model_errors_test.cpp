// Invalid model folders: each fault has its own error.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "alate/error.h"
#include "alate/model.h"
#include "base/files/mapped_file.h"
#include "formats/tensor_file.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

namespace fs = std::filesystem;

// A copy of a tiny model whose files a test may spoil.
class ModelErrors : public testing::Test {
 protected:
  void SetUp() override { copy_from("odd_sizes"); }

  void copy_from(const std::string& name) {
    const fs::path source = source_folder() / "tests/golden/models" / name;
    for (const char* file : {"config.json", "model.safetensors"}) {
      fs::copy_file(source / file, folder_.path() / file, fs::copy_options::overwrite_existing);
    }
  }

  void replace_in_config(const std::string& from, const std::string& to) {
    std::string text = base::read_text_file(folder_.path() / "config.json");
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    std::ofstream(folder_.path() / "config.json") << text;
  }

  // The error of loading the model and running one token through it, as "code: message".
  std::string failure() {
    try {
      const Model model = Model::load(folder_.path());
      (void)model.forward({{"input_ids", Tensor::from<std::int64_t>({1, 1}, {1})}});
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
};

TEST_F(ModelErrors, NoneForAnUnspoiledCopy) { EXPECT_EQ(failure(), "none"); }

TEST_F(ModelErrors, NamesASessionOptionThatWritesAFile) {
  const fs::path written = folder_.path() / "written";
  folder_.write("model_manifest.json",
                R"({"session_options": {"session.collect_node_memory_stats_to_file": ")" + written.string() + "\"}}");
  expect_failure("corrupt", "session.collect_node_memory_stats_to_file");
  EXPECT_FALSE(fs::exists(written));
  folder_.write("model_manifest.json", R"({"session_options": {"xla_dump_to": "/tmp"}})");
  expect_failure("corrupt", "xla_dump_to");
  folder_.write("model_manifest.json", R"({"session_options": {"intra_op_num_threads": 2}})");
  EXPECT_EQ(failure(), "none");
}

TEST_F(ModelErrors, FollowsNoLinksOutOfTheFolder) {
  const base::TemporaryFolder outside;
  for (const char* name : {"config.json", "model.safetensors"}) {
    SetUp();
    fs::rename(folder_.path() / name, outside.path() / name);
    fs::create_symlink(outside.path() / name, folder_.path() / name);
    expect_failure("corrupt", "leads out of the model's folder");
    fs::remove(folder_.path() / name);
  }
  for (const char* name : {"model.onnx", "onnx/model.onnx"}) {
    fs::remove_all(folder_.path());
    fs::create_directories(folder_.path() / "onnx");
    outside.write("model.onnx", "an ONNX file");
    fs::create_symlink(outside.path() / "model.onnx", folder_.path() / name);
    expect_failure("corrupt", "leads out of the model's folder");
  }
}

TEST_F(ModelErrors, NamesAnArchitectureThatIsNotBuilt) {
  replace_in_config("\"model_type\": \"bert\"", "\"model_type\": \"mamba\"");
  expect_failure("unsupported: architecture 'mamba'", "`alate help models` lists them");
  EXPECT_TRUE(failure().ends_with(": mamba"));
}

TEST_F(ModelErrors, NamesAnActivationThatIsNotKnown) {
  replace_in_config("\"hidden_act\": \"gelu\"", "\"hidden_act\": \"swoosh\"");
  EXPECT_TRUE(failure().ends_with(": swoosh")) << failure();
}

TEST_F(ModelErrors, NamesAHeadThatIsNotBuilt) {
  replace_in_config("\"BertModel\"", "\"BertForCausalLM\"");
  EXPECT_TRUE(failure().ends_with(": BertForCausalLM")) << failure();
}

TEST_F(ModelErrors, RefusesHeadsThatDoNotDivideTheHiddenSize) {
  replace_in_config("\"num_attention_heads\": 3", "\"num_attention_heads\": 5");
  expect_failure("corrupt: config.json: hidden_size 36", "num_attention_heads 5");
}

TEST_F(ModelErrors, RefusesSizesBelowOne) {
  replace_in_config("\"vocab_size\": 99", "\"vocab_size\": 0");
  expect_failure("corrupt: config.json: vocab_size is 0", "");
}

TEST_F(ModelErrors, NamesAWeightOfAnotherShapeThanTheConfigSays) {
  replace_in_config("\"vocab_size\": 99", "\"vocab_size\": 98");
  expect_failure("corrupt: weight 'embeddings.word_embeddings.weight' has shape [99,36]", "[98,36]");
}

TEST_F(ModelErrors, NamesAWeightThatIsMissing) {
  replace_in_config("\"num_hidden_layers\": 1", "\"num_hidden_layers\": 2");
  expect_failure("not_found: the model's weights lack 'encoder.layer.1.", "incomplete");
}

TEST_F(ModelErrors, RefusesAConfigThatIsNoObject) {
  std::ofstream(folder_.path() / "config.json") << "[1, 2]";
  EXPECT_NE(failure(), "none");
  std::ofstream(folder_.path() / "config.json") << "{";
  expect_failure("corrupt: ", "config.json");
}

TEST_F(ModelErrors, RefusesAClassifierThatIsNoMatrix) {
  copy_from("sequence_classification");
  std::vector<formats::NamedTensor> tensors = formats::read_tensors(folder_.path() / "model.safetensors");
  for (formats::NamedTensor& named : tensors) {
    if (named.name == "classifier.weight") named.tensor = Tensor::scalar(1.0f);
  }
  formats::write_tensors(folder_.path() / "model.safetensors", tensors);
  expect_failure("corrupt: weight 'classifier.weight' has shape []", "matrix");
}

TEST_F(ModelErrors, RefusesTokensAndPlacesThatTheModelDoesNotHave) {
  const Model model = Model::load(folder_.path());
  const auto code_of = [&](const NamedTensors& inputs) -> std::string {
    try {
      (void)model.forward(inputs);
    } catch (const Error& error) {
      return std::string(to_string(error.code()));
    }
    return "none";
  };
  const auto row = [](std::int64_t id) { return Tensor::from<std::int64_t>({1, 2}, {1, id}); };
  EXPECT_EQ(code_of({{"input_ids", row(98)}}), "none");
  EXPECT_EQ(code_of({{"input_ids", row(99)}}), "invalid_argument");
  EXPECT_EQ(code_of({{"input_ids", row(-1)}}), "invalid_argument");
  EXPECT_EQ(code_of({{"input_ids", row((std::int64_t{1} << 40) + 5)}}), "invalid_argument");
  EXPECT_EQ(code_of({{"input_ids", row(1)}, {"token_type_ids", row(7)}}), "invalid_argument");
  EXPECT_EQ(code_of({{"input_ids", row(1)}, {"position_ids", row(100000)}}), "invalid_argument");
  EXPECT_EQ(code_of({{"input_ids", row(1)}, {"attention_mask", Tensor::from<std::int64_t>({2}, {1, 1})}}),
            "invalid_argument");
  EXPECT_EQ(code_of({{"input_ids", row(1)}, {"pixel_values", row(1)}}), "invalid_argument");
  EXPECT_EQ(code_of({{"input_ids", Tensor::from<float>({1, 2}, {1, 2})}}), "invalid_argument");
  EXPECT_EQ(code_of({}), "invalid_argument");
}

TEST_F(ModelErrors, NamesTheRowThatIsTooLong) {
  const Model model = Model::load(folder_.path());
  const auto most = static_cast<std::int64_t>(model.facts().max_positions), length = most + 2;
  // The mask leaves one token of each row; so many rows are run in parts.
  const std::int64_t rows = 1200;
  NamedTensors inputs = {{"input_ids", Tensor::zeros({DType::i64, {rows, length}})},
                         {"attention_mask", Tensor::zeros({DType::i64, {rows, length}})}};
  const std::span<std::int64_t> mask = inputs.at("attention_mask").mutable_values<std::int64_t>();
  for (std::int64_t row = 0; row < rows; ++row) mask[static_cast<std::size_t>(row * length)] = 1;
  (void)model.forward(inputs);
  std::fill(mask.end() - length, mask.end(), 1);
  const Error error = base::error_of([&] { (void)model.forward(inputs); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.message(),
            "row 1199 has " + std::to_string(length) + " tokens; the model takes " + std::to_string(most));
}

TEST_F(ModelErrors, NamesTheFirstOfManyFaultyRows) {
  const Model model = Model::load(folder_.path());
  NamedTensors inputs = {{"input_ids", Tensor::zeros({DType::i64, {400, 5}})}};
  std::ranges::fill(inputs.at("input_ids").mutable_values<std::int64_t>().subspan(5), 99);  // of 99 ids: 0 to 98
  for (int round = 0; round < 20; ++round) {  // parts of the batch run side by side
    const Error error = base::error_of([&] { (void)model.forward(inputs); });
    ASSERT_EQ(error.message(), "token id 99 of row 1 at place 0 is not among the 99 that the model has");
  }
}

TEST_F(ModelErrors, TakesAnEmptyBatch) {
  const Model model = Model::load(folder_.path());
  const NamedTensors outputs =
      model.forward({{"input_ids", Tensor::from<std::int64_t>({0, 5}, std::span<const std::int64_t>{})}});
  EXPECT_EQ(to_string(outputs.find("last_hidden_state")->second.shape()), "f32[0,5,36]");
  const NamedTensors no_tokens =
      model.forward({{"input_ids", Tensor::from<std::int64_t>({2, 0}, std::span<const std::int64_t>{})}});
  EXPECT_EQ(to_string(no_tokens.find("pooler_output")->second.shape()), "f32[2,36]");
}

}  // namespace
}  // namespace alate
