// GLiNER models against the package gliner, on what tests/golden/record_gliner.py recorded.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/recognize.h"
#include "base/threads/cancellation.h"
#include "models/heads/gliner_config.h"
#include "pipelines/gliner/span_choice.h"
#include "pipelines/gliner/text_words.h"
#include "tests/golden/tiny_gliner.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/pipelines/in_whole_characters.h"

namespace alate {
namespace {

using base::error_of;
using pipelines::ScoredSpan;
using tests::RecordedGliner;
using tests::RecordedGlinerRun;

void expect_same(const std::vector<Entity>& found, const std::vector<Entity>& recorded, std::string_view text) {
  const std::vector<Entity> wanted = tests::in_whole_characters(text, recorded, true);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(found[k].label, wanted[k].label) << k;
    EXPECT_EQ(found[k].start, wanted[k].start) << k;
    EXPECT_EQ(found[k].end, wanted[k].end) << k;
    EXPECT_NEAR(found[k].score, wanted[k].score, 2e-5) << k;
    EXPECT_EQ(found[k].text, text.substr(found[k].byte_start, found[k].byte_end - found[k].byte_start)) << k;
  }
}

class GlinerGolden : public testing::TestWithParam<std::string> {
 protected:
  base::TemporaryFolder folder_;
  const RecordedGliner recorded_ = tests::write_tiny_gliner(folder_.path() / "model", GetParam());
};

TEST_P(GlinerGolden, EntitiesEqualThePackages) {
  for (const char* backend : {"cpu", "reference"}) {
    const RecognizePipeline pipeline =
        RecognizePipeline::load(folder_.path() / "model", {.backend = {.places = {BackendPlace::parse(backend)}}});
    for (const RecordedGlinerRun& run : recorded_.runs) {
      const Recognitions found = pipeline.recognize(recorded_.texts, run.options);
      ASSERT_EQ(found.texts.size(), recorded_.texts.size());
      for (std::size_t i = 0; i < recorded_.texts.size(); ++i) {
        SCOPED_TRACE(recorded_.texts[i] + " on " + backend + (run.options.nested ? " nested" : "") +
                     (run.options.multi_label ? " multi" : "") + (run.options.long_texts.max_length ? " windows" : ""));
        expect_same(found.texts[i], run.entities[i], recorded_.texts[i]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GlinerGolden, testing::Values("spans", "old_markers", "lstm", "words"),
                         [](const auto& model) { return model.param; });

class Gliner : public testing::Test {
 protected:
  std::string edited(const std::string& file, const std::string& from, const std::string& to) {
    std::string content = base::read_text_file(folder_.path() / "model" / file);
    content.replace(content.find(from), from.size(), to);
    return content;
  }
  Error refusal(const RecognizeOptions& options) const {
    return error_of([&] { (void)pipeline_.recognize({"Ada met Grace."}, options); });
  }

  base::TemporaryFolder folder_;
  const RecordedGliner recorded_ = tests::write_tiny_gliner(folder_.path() / "model", "spans");
  const RecognizePipeline pipeline_ = RecognizePipeline::load(folder_.path() / "model");
};

TEST_F(Gliner, ABatchGivesWhatEachTextGives) {
  const RecognizeOptions options{.labels = {"person", "city"}, .threshold = 0.6F};
  const Recognitions all = pipeline_.recognize(recorded_.texts, options);
  for (std::size_t i = 0; i < recorded_.texts.size(); ++i) {
    const std::vector<Entity> alone = pipeline_.recognize({recorded_.texts[i]}, options).texts.front();
    expect_same(all.texts[i], alone, recorded_.texts[i]);
  }
}

TEST_F(Gliner, LabelsAreAskedForAndChecked) {
  EXPECT_TRUE(pipeline_.labels().empty());
  EXPECT_NE(refusal({}).message().find("person,city"), std::string::npos);
  EXPECT_EQ(refusal({.labels = {"person", ""}}).code(), ErrorCode::invalid_argument);
  EXPECT_NE(refusal({.labels = {"a <<ENT>> b"}}).message().find("marker"), std::string::npos);
  const Error many = refusal({.labels = {std::string(2000, 'x')}});
  EXPECT_EQ(many.code(), ErrorCode::invalid_argument);
  EXPECT_NE(many.message().find("half of what is read at once"), std::string::npos) << many.message();
  EXPECT_EQ(refusal({.labels = {"a"}, .threshold = 1.5F}).code(), ErrorCode::invalid_argument);
  RecognizeOptions stride{.labels = {"a"}};
  stride.long_texts.stride = 190;
  EXPECT_EQ(refusal(stride).code(), ErrorCode::invalid_argument);
}

// A label written with composed letters and with combining marks is one label.
TEST_F(Gliner, LabelsOfTheSameLettersAreOne) {
  const std::string composed = "caf\u00e9", decomposed = "cafe\u0301", text = "Ada met Grace.";
  const auto found = [&](std::vector<std::string> labels) {
    return pipeline_.recognize({text}, {.labels = std::move(labels), .threshold = 0.0F}).texts.front();
  };
  const std::vector<Entity> once = found({composed, "person"}), twice = found({composed, "person", decomposed});
  EXPECT_FALSE(once.empty());
  expect_same(twice, once, text);
}

TEST_F(Gliner, WordsWithoutTokensAreNoWords) {
  const RecognizeOptions options{.labels = {"person"}, .threshold = 0.6F};
  const std::string plain = "Ada met Charles", zero = "\u200b";
  const std::vector<Entity> wanted = pipeline_.recognize({plain}, options).texts.front();
  ASSERT_FALSE(wanted.empty());
  // The tokenizer of this folder keeps U+200B; one that removes it must not shift what follows.
  folder_.write("model/tokenizer.json",
                edited("tokenizer.json", R"([{"type":"Lowercase"})",
                       R"([{"type":"Replace","pattern":{"String":"\u200b"},"content":""},{"type":"Lowercase"})"));
  const RecognizePipeline other = RecognizePipeline::load(folder_.path() / "model");
  const std::vector<Entity> found = other.recognize({zero + " " + plain}, options).texts.front();
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].text, wanted[i].text);
    EXPECT_EQ(found[i].start, wanted[i].start + 2);
  }
}

TEST_F(Gliner, AWordLongerThanARowIsReadByItsBeginning) {
  const Recognitions found =
      pipeline_.recognize({"Ada " + std::string(3000, 'y') + " Grace"}, {.labels = {"person"}, .threshold = 0.0F});
  ASSERT_FALSE(found.texts.front().empty());
  EXPECT_EQ(found.texts.front().back().end, 3010U);
}

TEST_F(Gliner, PartsThatAreNotBuiltAreNamed) {
  const std::vector<std::pair<std::string, std::string>> parts = {
      {"\"labels_encoder\": \"x\"", "labels_encoder"},       {"\"fuse_layers\": true", "fuse_layers"},
      {"\"post_fusion_schema\": \"l2l\"", "post_fusion"},    {"\"subtoken_pooling\": \"mean\"", "subtoken_pooling"},
      {"\"words_splitter_type\": \"spacy\"", "words_split"}, {"\"relations_layer\": \"gcn\"", "relations_layer"}};
  const std::string config = base::read_text_file(folder_.path() / "model/gliner_config.json");
  for (const auto& [part, name] : parts) {
    folder_.write("model/gliner_config.json", "{" + part + "," + config.substr(1));
    const Error error = error_of([&] { (void)RecognizePipeline::load(folder_.path() / "model"); });
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << part;
    EXPECT_NE(error.message().find(name), std::string::npos) << error.message();
  }
  folder_.write("model/gliner_config.json", "{\"span_mode\": \"conv_max\"}");
  EXPECT_EQ(error_of([&] { (void)RecognizePipeline::load(folder_.path() / "model"); }).code(), ErrorCode::not_found);
}

TEST_F(Gliner, FilesThatDoNotBelongTogetherAreTold) {
  const auto load = [&] { (void)RecognizePipeline::load(folder_.path() / "model"); };
  const std::string config = base::read_text_file(folder_.path() / "model/gliner_config.json");
  folder_.write("model/gliner_config.json",
                edited("gliner_config.json", "\"class_token_index\": ", "\"class_token_index\": 1"));
  EXPECT_EQ(error_of(load).code(), ErrorCode::corrupt);
  for (const char* hidden : {"\"hidden_size\": 13", "\"hidden_size\": 0", "\"hidden_size\": 99999999"}) {
    folder_.write("model/gliner_config.json", config);
    folder_.write("model/gliner_config.json", edited("gliner_config.json", "\"hidden_size\": 12", hidden));
    EXPECT_EQ(error_of(load).code(), ErrorCode::corrupt) << hidden;
  }
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const pipelines::TextWord& word : pipelines::split_words(text))
    words.emplace_back(text.substr(word.byte_begin, word.byte_end - word.byte_begin));
  return words;
}

TEST(TextWords, AreThoseOfPythonsRe) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of(""), Words());
  EXPECT_EQ(words_of(" \t\r\n\u00a0\x1c"), Words());
  EXPECT_EQ(words_of("state-of-the-art foo_bar -x- a--b _"),
            Words({"state-of-the-art", "foo_bar", "-", "x", "-", "a", "-", "-", "b", "_"}));
  EXPECT_EQ(words_of("cafe\u0301 \u00bd \u2167 O'Neill"),
            Words({"cafe", "\u0301", "\u00bd", "\u2167", "O", "'", "Neill"}));
  EXPECT_EQ(words_of("\u732b\u306f\U0001f600\U0001f600!"), Words({"\u732b\u306f", "\U0001f600", "\U0001f600", "!"}));
  const std::vector<pipelines::TextWord> words = pipelines::split_words("\U0001f600 \u00e9t\u00e9");
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[1].begin, 2U);
  EXPECT_EQ(words[1].end, 5U);
  EXPECT_EQ(words[1].byte_begin, 5U);
  EXPECT_EQ(words[1].byte_end, 10U);
}

std::vector<std::pair<std::size_t, std::size_t>> chosen(const std::vector<ScoredSpan>& spans,
                                                        const pipelines::SpanRules& rules) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const ScoredSpan& span : pipelines::choose_spans(spans, rules, base::Cancellation::never()))
    places.emplace_back(span.first, span.last);
  return places;
}

TEST(SpanChoice, TheBestStayAndWhatTheRulesAllowBesideThem) {
  using Places = std::vector<std::pair<std::size_t, std::size_t>>;
  // Words 2 … 5 at best; within it, around it, across its ends, beside it, and the same with another label.
  const std::vector<ScoredSpan> spans = {{2, 5, 0, 0.9F}, {3, 4, 0, 0.8F}, {1, 6, 0, 0.7F}, {4, 7, 0, 0.6F},
                                         {0, 2, 0, 0.5F}, {7, 8, 0, 0.4F}, {2, 5, 1, 0.3F}, {4, 7, 1, 0.2F}};
  EXPECT_EQ(chosen(spans, {}), Places({{2, 5}, {7, 8}}));
  EXPECT_EQ(chosen(spans, {.multi_label = true}), Places({{2, 5}, {2, 5}, {7, 8}}));
  EXPECT_EQ(chosen(spans, {.nested = true}), Places({{1, 6}, {2, 5}, {3, 4}, {7, 8}}));
  EXPECT_EQ(chosen(spans, {.nested = true, .multi_label = true}), Places({{1, 6}, {2, 5}, {2, 5}, {3, 4}, {7, 8}}));
  EXPECT_EQ(chosen({}, {}), Places());
}

TEST(SpanChoice, OfTheSameSpanInTwoWindowsTheHigherScoreCounts) {
  const std::vector<ScoredSpan> kept =
      pipelines::choose_spans({{1, 2, 0, 0.6F}, {1, 2, 0, 0.8F}}, {.multi_label = true}, base::Cancellation::never());
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept.front().score, 0.8F);
}

// The question is asked as often as there are spans: twice as many, twice as often.
TEST(SpanChoice, AsksWhetherAnybodyWaits) {
  for (const std::size_t count : {100U, 200U}) {
    std::vector<ScoredSpan> spans;
    for (std::size_t word = 0; word < count; ++word) spans.push_back({word, word, 0, 0.9F});
    std::size_t asked = 0;
    const auto counts = [&] {
      ++asked;
      return false;
    };
    EXPECT_EQ(pipelines::choose_spans(spans, {}, base::Cancellation::when(counts)).size(), count);
    EXPECT_EQ(asked, count);
    const auto nobody_waits = [] { return true; };
    EXPECT_EQ(
        error_of([&] { (void)pipelines::choose_spans(spans, {}, base::Cancellation::when(nobody_waits)); }).code(),
        ErrorCode::cancelled);
  }
}

TEST(SpanChoice, ReadingScoresAsksWhetherAnybodyWaits) {
  const auto nobody_waits = [] { return true; };
  for (const models::GlinerScores scores : {models::GlinerScores::words, models::GlinerScores::marker}) {
    models::GlinerConfig config;
    config.scores = scores;
    const std::vector<float> logits(4 * 3, 9.0F);  // 4 words, 1 label
    std::vector<ScoredSpan> spans;
    EXPECT_EQ(error_of([&] {
                pipelines::append_spans(config, logits, 4, 1, 0, 0.5F, base::Cancellation::when(nobody_waits), spans);
              }).code(),
              ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace alate
