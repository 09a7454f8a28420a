// Entities of tokens against transformers' TokenClassificationPipeline, on what tests/golden/record_recognize.py
// recorded.
#include "pipelines/recognize/token_entities.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alate/model.h"
#include "formats/json.h"
#include "tests/golden/tiny_recognizers.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/pipelines/in_whole_characters.h"

namespace alate::pipelines {
namespace {

using tests::RecordedRecognizer;
using tests::RecordedRun;

class TokenEntities : public testing::TestWithParam<std::string> {
 protected:
  TokenEntities()
      : recorded_(tests::write_tiny_recognizer(folder_.path() / "model", GetParam())),
        model_(Model::load(folder_.path() / "model")),
        tokenizer_(Tokenizer::load(folder_.path() / "model")) {
    const formats::Json config =
        formats::parse_json(base::read_text_file(folder_.path() / "model/config.json"), "config.json");
    const formats::Json& labels = *config.find("id2label");
    for (std::size_t i = 0; i < labels.as_object("id2label").size(); ++i)
      names_.push_back(labels.get_string(std::to_string(i), ""));
  }

  std::vector<float> logits_of(const Encoding& window) const {
    const auto length = static_cast<std::int64_t>(window.ids.size());
    const NamedTensors outputs =
        model_.forward({{"input_ids", Tensor::from<std::int32_t>({1, length}, std::span(window.ids))}});
    const std::span<const float> values = outputs.at("logits").values<float>();
    return {values.begin(), values.end()};
  }

  std::vector<Entity> found(const std::string& text, const RecordedRun& run) const {
    Encoding encoding =
        tokenizer_.encode(text, {.max_length = tests::kRecognizerLength, .stride = run.stride.value_or(0)});
    std::vector<Encoding> encodings = std::move(encoding.overflowing);
    encodings.insert(encodings.begin(), std::move(encoding));
    if (!run.stride) encodings.resize(1);
    std::vector<std::vector<float>> logits;
    std::vector<TokenWindow> windows;
    for (const Encoding& window : encodings) logits.push_back(logits_of(window));
    for (std::size_t i = 0; i < encodings.size(); ++i) windows.push_back({encodings[i], logits[i]});
    const TokenLabels labels{.tokenizer = tokenizer_,
                             .names = names_,
                             .unknown_id = tokenizer_.token_to_id(GetParam() == "word_piece" ? "[UNK]" : "<unk>")};
    return entities_of(text, windows, labels, run.aggregation);
  }

  base::TemporaryFolder folder_;
  RecordedRecognizer recorded_;
  Model model_;
  Tokenizer tokenizer_;
  std::vector<std::string> names_;
};

TEST_P(TokenEntities, AreThoseOfTransformers) {
  std::size_t count = 0;
  for (const RecordedRun& run : recorded_.runs) {
    for (std::size_t i = 0; i < recorded_.texts.size(); ++i) {
      const std::string& text = recorded_.texts[i];
      SCOPED_TRACE(std::string(to_string(run.aggregation)) + " of " + text +
                   (run.stride ? ", stride " + std::to_string(*run.stride) : ""));
      std::vector<Entity> wanted = run.entities[i];
      if (run.aggregation != Aggregation::none) wanted = tests::in_whole_characters(text, std::move(wanted), false);
      const std::vector<Entity> entities = found(text, run);
      ASSERT_EQ(entities.size(), wanted.size());
      count += wanted.size();
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        EXPECT_EQ(entities[k].label, wanted[k].label) << k;
        EXPECT_EQ(entities[k].start, wanted[k].start) << k;
        EXPECT_EQ(entities[k].end, wanted[k].end) << k;
        EXPECT_NEAR(entities[k].score, wanted[k].score, 3e-6) << k;
        EXPECT_EQ(entities[k].word, wanted[k].word) << k;
        EXPECT_EQ(entities[k].token, wanted[k].token) << k;
        EXPECT_EQ(entities[k].byte_start, tests::byte_of_code_point(text, wanted[k].start)) << k;
        EXPECT_EQ(entities[k].byte_end, tests::byte_of_code_point(text, wanted[k].end)) << k;
        EXPECT_EQ(entities[k].text, text.substr(entities[k].byte_start, entities[k].byte_end - entities[k].byte_start));
      }
    }
  }
  EXPECT_GT(count, 300U);
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, TokenEntities, testing::Values("word_piece", "byte_level", "sentence_piece"));

TEST(Labels, AreWantedWithAndWithoutTheirMarks) {
  const std::vector<std::string> none, some = {"PER", "B-LOC"};
  EXPECT_TRUE(WantedLabels(none).contain("I-ORG"));
  const WantedLabels wanted(some);
  EXPECT_TRUE(wanted.contain("I-PER"));
  EXPECT_TRUE(wanted.contain("PER"));
  EXPECT_TRUE(wanted.contain("B-LOC"));
  EXPECT_FALSE(wanted.contain("I-LOC"));
  EXPECT_FALSE(wanted.contain("LOC"));
}

// A thousand entities among a million equal labels took 22 s.
TEST(Labels, AreFoundAmongAMillionOthers) {
  std::vector<std::string> labels(1'000'000, "another");
  labels.emplace_back("PER");
  const WantedLabels wanted(labels);
  int found = 0;
  for (int entity = 0; entity < 100'000; ++entity) {
    found += wanted.contain("B-PER") ? 1 : 0;
    found += wanted.contain("B-LOC") ? 1 : 0;
  }
  EXPECT_EQ(found, 100'000);
}

TEST(Aggregations, HaveNames) {
  for (const Aggregation each :
       {Aggregation::none, Aggregation::simple, Aggregation::first, Aggregation::average, Aggregation::max})
    EXPECT_EQ(parse_aggregation(to_string(each)), each);
  EXPECT_EQ(parse_aggregation("mean"), std::nullopt);
}

}  // namespace
}  // namespace alate::pipelines
