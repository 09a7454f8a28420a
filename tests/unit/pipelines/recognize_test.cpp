// RecognizePipeline against transformers, on what tests/golden/record_recognize.py recorded, and redaction.
#include "alate/recognize.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/redact.h"
#include "alate/token_classification.h"
#include "tests/golden/tiny_recognizers.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/pipelines/in_whole_characters.h"

namespace alate {
namespace {

using base::error_of;
using tests::RecordedRecognizer;
using tests::RecordedRun;

class RecognizeGolden : public testing::TestWithParam<std::string> {
 protected:
  base::TemporaryFolder folder_;
  const RecordedRecognizer recorded_ = tests::write_tiny_recognizer(folder_.path() / "model", GetParam());
};

TEST_P(RecognizeGolden, EntitiesEqualTransformers) {
  for (const char* backend : {"cpu", "reference"}) {
    const RecognizePipeline pipeline =
        RecognizePipeline::load(folder_.path() / "model", {.backend = {.places = {BackendPlace::parse(backend)}}});
    for (const RecordedRun& run : recorded_.runs) {
      RecognizeOptions options{.aggregation = run.aggregation};
      options.long_texts.treatment = run.stride ? LongTexts::windows : LongTexts::cut;
      options.long_texts.stride = run.stride;
      const Recognitions found = pipeline.recognize(recorded_.texts, options);
      ASSERT_EQ(found.texts.size(), recorded_.texts.size());
      EXPECT_EQ(found.truncated.empty(), run.stride.has_value());
      for (std::size_t i = 0; i < recorded_.texts.size(); ++i) {
        SCOPED_TRACE(std::string(to_string(run.aggregation)) + " of " + recorded_.texts[i] + " on " + backend);
        std::vector<Entity> all = run.entities[i];
        if (run.aggregation != Aggregation::none)
          all = tests::in_whole_characters(recorded_.texts[i], std::move(all), false);
        ASSERT_EQ(found.texts[i].size(), all.size());
        for (std::size_t k = 0; k < found.texts[i].size(); ++k) {
          const Entity &entity = found.texts[i][k], &wanted = all[k];
          EXPECT_EQ(entity.label, wanted.label) << k;
          EXPECT_EQ(entity.start, wanted.start) << k;
          EXPECT_EQ(entity.end, wanted.end) << k;
          EXPECT_NEAR(entity.score, wanted.score, 1e-5) << k;
          EXPECT_EQ(entity.word, wanted.word) << k;
        }
      }
    }
  }
}

TEST_P(RecognizeGolden, AModelMayStateHowLabelsBecomeEntities) {
  const std::filesystem::path model = folder_.path() / "model", config = model / "config.json";
  EXPECT_EQ(RecognizePipeline::load(model).usual_aggregation(), Aggregation::simple);
  std::string text = base::read_text_file(config);
  text.insert(text.rfind('}'), R"(,"task_specific_params":{"token-classification":{"aggregation_strategy":"max"}})");
  folder_.write("model/config.json", text);
  const RecognizePipeline pipeline = RecognizePipeline::load(model);
  EXPECT_EQ(pipeline.usual_aggregation(), Aggregation::max);
  const auto count = [&](const RecognizeOptions& options) {
    std::string places;
    const Recognitions found = pipeline.recognize({recorded_.texts[0]}, options);
    for (const Entity& entity : found.texts[0])
      places += entity.label + std::to_string(entity.start) + "-" + std::to_string(entity.end) + " ";
    return places;
  };
  EXPECT_EQ(count({}), count({.aggregation = Aggregation::max}));
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, RecognizeGolden, testing::Values("word_piece", "byte_level", "sentence_piece"),
                         [](const auto& model) { return model.param; });

class Recognize : public testing::Test {
 protected:
  const std::string& text() const { return recorded_.texts.back(); }  // longer than a row

  base::TemporaryFolder folder_;
  const RecordedRecognizer recorded_ = tests::write_tiny_recognizer(folder_.path() / "model");
  const RecognizePipeline pipeline_ = RecognizePipeline::load(folder_.path() / "model");
};

TEST_F(Recognize, ReadsLongTextsInWindowsUnlessAskedOtherwise) {
  const auto ends_at = [&](const RecognizeOptions& options) {
    return pipeline_.recognize({text()}, options).texts.front().back().end;
  };
  EXPECT_GT(ends_at({}), text().size() - 10);
  RecognizeOptions cut;
  cut.long_texts.treatment = LongTexts::cut;
  EXPECT_LT(ends_at(cut), text().size() / 2);
  cut.long_texts.treatment = LongTexts::error;
  const Error error = error_of([&] { (void)pipeline_.recognize({"a", text()}, cut); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("text 2"), std::string::npos) << error.message();
}

// Each with one new token, they would be as many times longer than the text as a row is long.
TEST_F(Recognize, RefusesWindowsThatRepeatATextTooOften) {
  std::string long_text;
  while (long_text.size() < 200'000) long_text += "the cat ";
  RecognizeOptions options;
  options.long_texts.stride = pipeline_.max_length() - 3;
  const Error error = error_of([&] { (void)pipeline_.recognize({long_text}, options); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("take a smaller stride"), std::string::npos) << error.message();
}

TEST_F(Recognize, FindsOnlyTheLabelsThatAreWanted) {
  const std::vector<Entity> all = pipeline_.recognize({text()}).texts.front(),
                            some = pipeline_.recognize({text()}, {.labels = {"LOC"}}).texts.front();
  EXPECT_LT(some.size(), all.size());
  ASSERT_GT(some.size(), 1U);
  for (const Entity& entity : some) EXPECT_EQ(entity.label, "LOC");
  for (const char* label : {"ORG", "O", ""}) {
    const Error error = error_of([&] { (void)pipeline_.recognize({"a"}, {.labels = {label}}); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.message().find("it has \"PER\", \"LOC\""), std::string::npos) << error.message();
  }
}

TEST_F(Recognize, InvalidUtf8BecomesReplacementCharacters) {
  const std::string broken = "Ada\xFF met \xC3(";
  const Recognitions found = pipeline_.recognize({broken});
  for (const Entity& entity : found.texts.front()) {
    EXPECT_LE(entity.start, entity.end);
    EXPECT_EQ(entity.text.find('\xFF'), std::string::npos);
  }
}

TEST_F(Recognize, TokenClassificationHasItsOptionsForAllCalls) {
  const auto classification = TokenClassification::load(folder_.path() / "model", {.recognize = {.labels = {"LOC"}}});
  EXPECT_EQ(classification.backend(), "cpu");
  const std::vector<Entity> found = classification.recognize({text()}).texts.front(),
                            wanted = pipeline_.recognize({text()}, {.labels = {"LOC"}}).texts.front();
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].start, wanted[i].start);
  const NamedTensors outputs = classification.forward({{"input_ids", Tensor::from<std::int32_t>({1, 2}, {2, 3})}});
  EXPECT_EQ(outputs.at("logits").extent(2), 5);
}

TEST_F(Recognize, ModelsOfOtherTasksAreRefused) {
  const std::string path = (folder_.path() / "model/config.json").string();
  std::string config = base::read_text_file(path);
  const std::string from = "BertForTokenClassification";
  config.replace(config.find(from), from.size(), "BertModel");
  folder_.write("model/config.json", config);
  const Error error = error_of([&] { (void)RecognizePipeline::load(folder_.path() / "model"); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("BertForTokenClassification"), std::string::npos) << error.message();
}

Entity entity(std::string label, std::size_t begin, std::size_t end) {
  Entity made;
  made.label = std::move(label);
  made.byte_start = begin;
  made.byte_end = end;
  return made;
}

TEST(RecognizeLabels, AreTheModelsInComposedAndOtherLetters) {
  const base::TemporaryFolder folder;
  const RecordedRecognizer recorded = tests::write_tiny_recognizer(folder.path() / "model");
  const auto count = [&](const RecognizeOptions& options) {
    const RecognizePipeline pipeline = RecognizePipeline::load(folder.path() / "model");
    std::size_t entities = 0;
    for (const auto& text : pipeline.recognize(recorded.texts, options).texts) entities += text.size();
    return entities;
  };
  const std::size_t before = count({.labels = {"PER"}});
  std::string config = base::read_text_file(folder.path() / "model/config.json");
  for (std::size_t at = 0; (at = config.find("-PER", at)) != std::string::npos;) config.replace(at, 4, "-PE\u0301R");
  folder.write("model/config.json", config);
  EXPECT_EQ(count({.labels = {"P\u00c9R"}}), before);
  EXPECT_EQ(count({.labels = {"PE\u0301R"}}), before);
}

TEST(Redactor, PutsLabelsInTheirPlaces) {
  Redactor redactor;
  const std::string text = "Ada Lovelace met Z\xC3\xBC.";
  EXPECT_EQ(redactor.redact(text, {}), text);
  EXPECT_EQ(redactor.redact(text, std::vector<Entity>{entity("PER", 0, 12), entity("LOC", 17, 20)}),
            "[PER] met [LOC].");
  // Spaces at the ends stay, parts of one label are one, and nothing of what overlaps is shown.
  EXPECT_EQ(redactor.redact(text, std::vector<Entity>{entity("PER", 0, 4), entity("LOC", 12, 21)}),
            "[PER] Lovelace [LOC]");
  EXPECT_EQ(redactor.redact(text, std::vector<Entity>{entity("PER", 0, 6), entity("PER", 6, 12)}),
            "[PER] met Z\xC3\xBC.");
  EXPECT_EQ(redactor.redact(text, std::vector<Entity>{entity("PER", 0, 6), entity("LOC", 5, 12)}),
            "[PER][LOC] met Z\xC3\xBC.");
  EXPECT_EQ(redactor.redact(text, std::vector<Entity>{entity("PER", 0, 6), entity("PER", 3, 12)}),
            "[PER] met Z\xC3\xBC.");
  // Beyond the text, and nothing at all.
  EXPECT_EQ(redactor.redact("ab", std::vector<Entity>{entity("PER", 1, 9), entity("LOC", 7, 9)}), "a[PER]");
  EXPECT_EQ(redactor.redact("a b", std::vector<Entity>{entity("PER", 1, 2)}), "a b");
}

TEST(Redactor, ReplacesWholeCharacters) {
  // As a tokenizer that drops accents, and one that cuts emoji, give places.
  EXPECT_EQ(Redactor().redact("Jose\u0301 is", std::vector<Entity>{entity("PER", 0, 4)}), "[PER] is");
  EXPECT_EQ(Redactor().redact("a\U0001F44D\U0001F3FDb", std::vector<Entity>{entity("X", 5, 9)}), "a[X]b");
}

TEST(Redactor, NumbersValuesTheSameInComposedAndOtherLetters) {
  Redactor redactor(true);
  EXPECT_EQ(redactor.redact("Jos\u00e9", std::vector<Entity>{entity("PER", 0, 5)}), "[PER_1]");
  EXPECT_EQ(redactor.redact("JOSE\u0301", std::vector<Entity>{entity("PER", 0, 6)}), "[PER_1]");
}

TEST(Redactor, NumbersValuesTheSameInAllTexts) {
  Redactor redactor(true);
  EXPECT_EQ(redactor.redact("Ada and Bob", std::vector<Entity>{entity("PER", 0, 3), entity("PER", 8, 11)}),
            "[PER_1] and [PER_2]");
  EXPECT_EQ(redactor.redact("BOB in Bob", std::vector<Entity>{entity("PER", 0, 3), entity("LOC", 7, 10)}),
            "[PER_2] in [LOC_1]");
  EXPECT_EQ(redactor.redact("New  York, new\nyork", std::vector<Entity>{entity("LOC", 0, 9), entity("LOC", 11, 19)}),
            "[LOC_2], [LOC_2]");
}

TEST_F(Recognize, RedactionReplacesWhatIsFound) {
  const Redactions found = redact(pipeline_, {text(), ""});
  ASSERT_EQ(found.texts.size(), 2U);
  EXPECT_EQ(found.texts[1], "");
  const std::vector<Entity> wanted = pipeline_.recognize({text()}, {.aggregation = Aggregation::first}).texts.front();
  ASSERT_EQ(found.entities[0].size(), wanted.size());
  EXPECT_EQ(found.texts[0], Redactor().redact(text(), wanted));
  EXPECT_NE(found.texts[0].find("[PER]"), std::string::npos) << found.texts[0];
  EXPECT_NE(redact(pipeline_, {text()}, {.pseudonyms = true}).texts[0].find("[PER_1]"), std::string::npos);
}

TEST_F(Recognize, RedactionNeverShowsWhatWasNotRead) {
  for (const LongTexts treatment : {LongTexts::cut, LongTexts::cut_left}) {
    RedactOptions options;
    options.recognize.long_texts.treatment = treatment;
    EXPECT_EQ(error_of([&] { (void)redact(pipeline_, {"a"}, options); }).code(), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(error_of([&] { (void)redact(pipeline_, {"a"}, {.recognize = {.aggregation = Aggregation::none}}); }).code(),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace alate
