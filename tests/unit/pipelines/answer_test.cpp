// AnswerPipeline against transformers, on what tests/golden/record_answer.py recorded, and what is ours.
#include "alate/answer.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "pipelines/answer/answer_spans.h"
#include "tests/golden/tiny_answerers.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/pipelines/expect_answers.h"
#include "tokenizers/unicode/utf8.h"

namespace alate {
namespace {

using base::error_of;
using tests::RecordedAnswerer;
using tests::RecordedAnswers;

class AnswerGolden : public testing::TestWithParam<std::string> {
 protected:
  AnswerPipeline load(std::string_view backend) const {
    return AnswerPipeline::load(folder_.path() / "model", {.backend = {.places = {BackendPlace::parse(backend)}}});
  }

  base::TemporaryFolder folder_;
  const RecordedAnswerer recorded_ = tests::write_tiny_answerer(folder_.path() / "model", GetParam());
};

TEST_P(AnswerGolden, AnswersEqualTransformers) {
  for (const char* backend : {"cpu", "reference"}) {
    SCOPED_TRACE(backend);
    const AnswerPipeline pipeline = load(backend);
    for (const RecordedAnswers& run : recorded_.runs) tests::expect_answers(pipeline, recorded_, run);
  }
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, AnswerGolden,
                         testing::Values("word_piece", "byte_level", "sentence_piece", "question_last"),
                         [](const auto& model) { return model.param; });

class AnswerTest : public testing::Test {
 protected:
  const std::string& text() const { return recorded_.texts.back(); }  // longer than a row

  base::TemporaryFolder folder_;
  const RecordedAnswerer recorded_ = tests::write_tiny_answerer(folder_.path() / "model");
  const AnswerPipeline pipeline_ = AnswerPipeline::load(folder_.path() / "model");
};

TEST_F(AnswerTest, ReadsLongTextsInWindowsUnlessAskedOtherwise) {
  AnswerOptions options;
  const std::size_t all = pipeline_.answer("Who?", {text()}, options).tokens;
  options.long_texts.treatment = LongTexts::cut;
  const Answers cut = pipeline_.answer("Who?", {"a", text()}, options);
  EXPECT_EQ(cut.truncated, std::vector<std::size_t>{1});
  EXPECT_GT(all, 2 * cut.tokens);
  options.long_texts.treatment = LongTexts::error;
  const Error error = error_of([&] { (void)pipeline_.answer("Who?", {"a", text()}, options); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("text 2 has more than the 40 tokens"), std::string::npos) << error.message();
}

TEST_F(AnswerTest, AnEmptyTextHasNoAnswerButTheEmptyOne) {
  EXPECT_TRUE(pipeline_.answer("Who?", {""}).texts.front().empty());
  const std::vector<Answer> none = pipeline_.answer("Who?", {""}, {.top_k = 3, .no_answer = true}).texts.front();
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].text, "");
  EXPECT_EQ(none[0].end + none[0].byte_end, 0U);
  EXPECT_NEAR(none[0].score, 1, 1e-6);
}

TEST_F(AnswerTest, OptionsThatMeanNothingAreRefused) {
  const auto message = [&](std::string_view question, const AnswerOptions& options) {
    return error_of([&] { (void)pipeline_.answer(question, {"a"}, options); }).message();
  };
  EXPECT_NE(message("", {}).find("question is empty"), std::string::npos);
  EXPECT_NE(message("Who?", {.top_k = 0}).find("1 to 1000"), std::string::npos);
  EXPECT_NE(message("Who?", {.top_k = 1001}).find("1 to 1000"), std::string::npos);
  EXPECT_NE(message("Who?", {.max_answer_length = 0}).find("at least 1 token"), std::string::npos);
  std::string question = "Who met";
  for (int i = 0; i < 30; ++i) question += " Ada";
  EXPECT_NE(message(question, {}).find("leaves no room for a text in the 40"), std::string::npos)
      << message(question, {});
}

// The stride that is usual does not fit beside a long question; another is taken.
TEST_F(AnswerTest, ALongQuestionLeavesSmallWindows) {
  const std::string question = "Who met whom where in which town?";
  EXPECT_FALSE(pipeline_.answer(question, {text()}).texts.front().empty());
}

TEST_F(AnswerTest, InvalidUtf8BecomesReplacementCharacters) {
  const Answers found = pipeline_.answer("Who\xFF?", {"Ada\xFF met \xC3("}, {.top_k = 20});
  ASSERT_FALSE(found.texts.front().empty());
  for (const Answer& answer : found.texts.front()) {
    EXPECT_LE(answer.start, answer.end);
    EXPECT_FALSE(tokenizers::repair_utf8(answer.text)) << answer.text;
  }
}

TEST_F(AnswerTest, ModelsOfOtherTasksAreRefused) {
  std::string config = base::read_text_file(folder_.path() / "model/config.json");
  const std::string from = "BertForQuestionAnswering";
  config.replace(config.find(from), from.size(), "BertModel");
  folder_.write("model/config.json", config);
  const Error error = error_of([&] { (void)AnswerPipeline::load(folder_.path() / "model"); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("BertForQuestionAnswering"), std::string::npos) << error.message();
}

// A row "[CLS] q [SEP] Ab cd ab [SEP]" with a token a word.
class AnswerSpans : public testing::Test {
 protected:
  static Encoding row(std::vector<std::int8_t> sequences) {
    Encoding encoding;
    encoding.sequence_ids = std::move(sequences);
    const std::vector<Encoding::Offsets> places = {{0, 0}, {0, 1}, {0, 0}, {0, 2}, {3, 5}, {6, 8}, {0, 0}};
    encoding.offsets = encoding.byte_offsets = places;
    encoding.word_ids = {Encoding::kNone, 0, Encoding::kNone, 0, 1, 2, Encoding::kNone};
    encoding.ids = {101, 7, 102, 8, 9, 8, 102};
    return encoding;
  }
  static std::vector<Answer> find(const std::vector<float>& first, const std::vector<float>& last,
                                  const AnswerOptions& options) {
    const Encoding encoding = row({-1, 0, -1, 1, 1, 1, -1});
    const pipelines::AnswerWindow windows[] = {{encoding, first, last}};
    return pipelines::answers_of("Ab cd ab", windows, {.cls_id = 101}, options);
  }
};

TEST_F(AnswerSpans, ProbabilitiesAreOfTheTextAndTheTokenForNoAnswer) {
  // e^0 of four tokens each: the question's and the separators' 50 is not seen.
  const std::vector<float> even = {0, 50, 50, 0, 0, 0, 50};
  const std::vector<Answer> found = find(even, even, {.top_k = 9, .no_answer = true});
  ASSERT_EQ(found.size(), 6U);
  // "Ab" and "ab" are one answer, in its first place.
  EXPECT_EQ(found[0].text, "Ab");
  EXPECT_FLOAT_EQ(found[0].score, 2.0F / 16);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_FLOAT_EQ(found[i].score, 1.0F / 16);
  EXPECT_EQ(found.back().text, "");
}

TEST_F(AnswerSpans, NoNumbersGiveNoAnswers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(find(std::vector<float>(7, nan), std::vector<float>(7, nan), {.top_k = 9}).empty());
}

}  // namespace
}  // namespace alate
