// Model::forward of every architecture against transformers, as tests/golden/record_architectures.py recorded it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "alate/error.h"
#include "alate/model.h"
#include "formats/json.h"
#include "formats/tensor_file.h"
#include "models/encoder.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/runtime/forward_cases.h"

namespace alate {
namespace {

class ArchitectureGolden : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    tests::write_tiny_model(tests::golden_folder("architectures/" + GetParam()), folder_.path() / "model");
  }

  void expect_cases(const LoadOptions& options) {
    const Model model = Model::load(folder_.path() / "model", options);
    for (const std::filesystem::path& file :
         tests::sorted_entries(tests::golden_folder("architectures/" + GetParam()), "case_"))
      tests::expect_case(model, file);
  }

  base::TemporaryFolder folder_;
};

TEST_P(ArchitectureGolden, EqualsTransformersOnTheCpuBackend) { expect_cases({}); }

TEST_P(ArchitectureGolden, EqualsTransformersOnTheReferenceBackend) {
  expect_cases({.backend = {.places = {BackendPlace::reference()}}});
}

INSTANTIATE_TEST_SUITE_P(Folders, ArchitectureGolden, testing::ValuesIn(tests::golden_names("architectures")),
                         [](const auto& folder) { return folder.param; });

// A table that words and a head share is in some files under the head's name only.
class TiedTable : public testing::TestWithParam<std::string> {
 protected:
  TiedTable() {
    tests::write_tiny_model(tests::golden_folder("architectures/" + GetParam()), model_);
    whole_ = formats::read_tensors(model_ / "model.safetensors");
  }

  // Gives the table of words the name of a head's. False where the file has both, or has no such table.
  bool move_table(const models::Architecture& architecture, const models::TiedWeights& tied) const {
    std::vector<formats::NamedTensor> tensors;
    for (const formats::NamedTensor& each : whole_) {
      if (each.name == tied.other) return false;
      const bool is_table =
          each.name == tied.name || each.name == std::string(architecture.prefix) + std::string(tied.name);
      tensors.push_back({is_table ? std::string(tied.other) : each.name, each.tensor});
    }
    formats::write_tensors(model_ / "model.safetensors", tensors);
    return std::ranges::find(tensors, tied.other, &formats::NamedTensor::name) != tensors.end();
  }
  void write_config(bool ties) const {
    formats::Json::Object members = config_.as_object("config.json");
    std::erase_if(members, [](const auto& member) { return member.first == "tie_word_embeddings"; });
    members.emplace_back("tie_word_embeddings", ties);
    folder_.write("model/config.json", formats::to_json_text(members));
  }

  base::TemporaryFolder folder_;
  const std::filesystem::path model_ = folder_.path() / "model";
  const formats::Json config_ = formats::parse_json(
      base::read_text_file(tests::golden_folder("architectures/" + GetParam()) / "config.json"), "config.json");
  std::vector<formats::NamedTensor> whole_;
};

TEST_P(TiedTable, UnderTheHeadsNameIsThatOfWords) {
  const models::Architecture& architecture = models::find_architecture(config_);
  ASSERT_FALSE(architecture.tied.empty());
  for (const models::TiedWeights& tied : architecture.tied) {
    SCOPED_TRACE(tied.other);
    if (!move_table(architecture, tied)) continue;
    write_config(true);
    const Model model = Model::load(model_);
    for (const std::filesystem::path& file :
         tests::sorted_entries(tests::golden_folder("architectures/" + GetParam()), "case_"))
      tests::expect_case(model, file);
    if (tied.always) continue;
    write_config(false);
    EXPECT_EQ(base::error_of([&] { (void)Model::load(model_); }).code(), ErrorCode::not_found);
  }
}

std::vector<std::string> folders_of_vocabularies() {
  std::vector<std::string> names;
  for (const std::string& name : tests::golden_names("architectures")) {
    if (name.ends_with("_lm") || name.ends_with("t5_encoder")) names.push_back(name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Folders, TiedTable, testing::ValuesIn(folders_of_vocabularies()),
                         [](const auto& folder) { return folder.param; });

TEST(TiedTables, AreThoseOfEveryHeadOverTheVocabulary) {
  for (const models::Architecture& each : models::architectures()) {
    const bool has_head = std::ranges::any_of(each.heads, [](const models::EncoderHead& head) {
      return head.name == "ForMaskedLM" || head.name == "ForCausalLM";
    });
    EXPECT_TRUE(!has_head || !each.tied.empty()) << each.model_type;
  }
}

// gte-Qwen2's revisions before `is_causal` name code that attends both ways.
TEST(Qwen2, AttendsBothWaysWhereItsCodeDoes) {
  const std::filesystem::path recorded = tests::golden_folder("architectures/qwen2_both_ways");
  const base::TemporaryFolder folder;
  tests::write_tiny_model(recorded, folder.path() / "model");
  std::string text = base::read_text_file(folder.path() / "model/config.json");
  const std::string stated = "\"is_causal\": false";
  ASSERT_NE(text.find(stated), std::string::npos);
  text.replace(text.find(stated), stated.size(),
               R"("auto_map": {"AutoModel": "Alibaba-NLP/gte--modeling_qwen.Qwen2Model"})");
  folder.write("model/config.json", text);
  tests::expect_case(Model::load(folder.path() / "model"), recorded / "case_mixed_lengths.safetensors");
}

class RobertaErrors : public testing::Test {
 protected:
  void SetUp() override {
    tests::write_tiny_model(tests::golden_folder("architectures/roberta_base"), folder_.path() / "model");
  }

  Error error_of(const NamedTensors& inputs) {
    const Model model = Model::load(folder_.path() / "model");
    return base::error_of([&] { (void)model.forward(inputs); });
  }

  base::TemporaryFolder folder_;
};

TEST_F(RobertaErrors, TwoPositionsOfTheTableAreForPadding) {
  const Model model = Model::load(folder_.path() / "model");
  EXPECT_EQ(model.facts().max_positions, 38U);  // of 40
  EXPECT_NO_THROW((void)model.forward({{"input_ids", Tensor::zeros({DType::i64, {1, 38}})}}));
  const Error error = error_of({{"input_ids", Tensor::zeros({DType::i64, {1, 39}})}});
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
}

TEST_F(RobertaErrors, OnlyQuestionsHaveChoices) {
  const Error error = error_of({{"input_ids", Tensor::zeros({DType::i64, {1, 2, 4}})}});
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("not [batch, length]"), std::string::npos) << error.message();
}

TEST_F(RobertaErrors, HeadsThatAreNotBuiltAreNamed) {
  std::string text = base::read_text_file(folder_.path() / "model/config.json");
  text.replace(text.find("RobertaModel"), 12, "RobertaForCausalLM");
  folder_.write("model/config.json", text);
  const Error error = base::error_of([&] { (void)Model::load(folder_.path() / "model"); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("RobertaForCausalLM"), std::string::npos);
}

// In transformers, the last hidden state of such a model is the decoder's.
TEST(T5Errors, ForwardOfModelsWithADecoderIsRefused) {
  for (const char* name : {"T5Model", "T5ForConditionalGeneration"}) {
    const base::TemporaryFolder folder;
    tests::write_tiny_model(tests::golden_folder("architectures/t5_encoder"), folder.path() / "model");
    std::string text = base::read_text_file(folder.path() / "model/config.json");
    text.replace(text.find("T5EncoderModel"), 14, name);
    folder.write("model/config.json", text);
    const Error error = base::error_of([&] { (void)Model::load(folder.path() / "model"); });
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << name;
    EXPECT_NE(error.message().find(name), std::string::npos) << error.message();
  }
}

TEST(JinaBertErrors, GatesThatItsCodeDoesNotHaveAreRefused) {
  const base::TemporaryFolder folder;
  tests::write_tiny_model(tests::golden_folder("architectures/jina_bert_base"), folder.path() / "model");
  std::string text = base::read_text_file(folder.path() / "model/config.json");
  text.replace(text.find("geglu"), 5, "swiglu");
  folder.write("model/config.json", text);
  const Error error = base::error_of([&] { (void)Model::load(folder.path() / "model"); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("feed_forward_type 'swiglu'"), std::string::npos) << error.message();
}

// config.json is read before the weights: its sizes must not be allocated unseen.
TEST(HostileConfigs, SizesThatNoModelHasAreRefused) {
  const auto error_with = [](const std::string& recorded, const char* key, const char* value) {
    const base::TemporaryFolder folder;
    tests::write_tiny_model(tests::golden_folder("architectures/" + recorded), folder.path() / "model");
    std::string text = base::read_text_file(folder.path() / "model/config.json");
    if (const std::size_t old = text.find(std::string("\"") + key + "\":"); old != std::string::npos)
      text.insert(old + 1, "once_");
    text.insert(text.find('{') + 1, std::string("\"") + key + "\": " + value + ", ");
    folder.write("model/config.json", text);
    return base::error_of([&] { (void)Model::load(folder.path() / "model"); });
  };
  EXPECT_EQ(error_with("llama_base", "head_dim", "2000000000").code(), ErrorCode::corrupt);
  EXPECT_EQ(error_with("llama_base", "num_hidden_layers", "2000000000").code(), ErrorCode::corrupt);
  EXPECT_EQ(error_with("mpnet_base", "max_position_embeddings", "2000000000").code(), ErrorCode::corrupt);
  EXPECT_EQ(error_with("deberta_v2_base", "max_position_embeddings", "2000000000").code(), ErrorCode::corrupt);
  EXPECT_EQ(error_with("deberta_v2_base", "max_relative_positions", "2000000000").code(), ErrorCode::corrupt);
  EXPECT_EQ(error_with("deberta_v2_own_keys", "embedding_size", "-1").code(), ErrorCode::corrupt);
  EXPECT_EQ(error_with("albert_base", "num_hidden_groups", "2000000000").code(), ErrorCode::corrupt);
  EXPECT_EQ(error_with("distilbert_base", "n_layers", "2000000000").code(), ErrorCode::corrupt);
  EXPECT_EQ(error_with("t5_encoder", "num_layers", "2000000000").code(), ErrorCode::corrupt);
  EXPECT_EQ(error_with("t5_encoder", "relative_attention_num_buckets", "2000000000").code(), ErrorCode::corrupt);
  EXPECT_EQ(error_with("t5_encoder", "relative_attention_max_distance", "8").code(),
            ErrorCode::corrupt);  // of 32 buckets
}

// The reference then takes a mean over masked tokens, which are not kept.
TEST(WindowedModels, RefuseAFirstPlaceWhoseWindowIsAllMasked) {
  const base::TemporaryFolder folder;
  tests::write_tiny_model(tests::golden_folder("architectures/modernbert_sequence_classification"),
                          folder.path() / "model");
  const Model model = Model::load(folder.path() / "model");  // windows of 4
  const auto forward = [&](const std::vector<std::int64_t>& mask) {
    const auto length = static_cast<std::int64_t>(mask.size());
    return model.forward({{"input_ids", Tensor::zeros({DType::i64, {1, length}})},
                          {"attention_mask", Tensor::from<std::int64_t>({1, length}, std::span(mask))}});
  };
  EXPECT_NO_THROW((void)forward({0, 0, 0, 0, 1, 1}));
  const Error error = base::error_of([&] { (void)forward({0, 0, 0, 0, 0, 1}); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("begins with 5 zeros"), std::string::npos) << error.message();
}

}  // namespace
}  // namespace alate
