// What one call reads, computes and answers is counted before it is made, by every task.
#include "pipelines/calls/call_limits.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "pipelines/answer/answer_run.h"
#include "pipelines/calls/task_run.h"
#include "pipelines/classify/classify_run.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/extract/extract_run.h"
#include "pipelines/extract/extraction_json.h"
#include "pipelines/recognize/recognize_run.h"
#include "pipelines/rerank/rerank_run.h"
#include "tests/golden/tiny_answerers.h"
#include "tests/golden/tiny_classifiers.h"
#include "tests/golden/tiny_extractors.h"
#include "tests/golden/tiny_fillers.h"
#include "tests/golden/tiny_gliner.h"
#include "tests/golden/tiny_recognizers.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::pipelines {
namespace {

using base::error_of;
using Texts = std::vector<std::string_view>;

const base::Cancellation kNever = base::Cancellation::never();
const std::string kLong(1000, 'a');

Error error_of_preparing(TaskRun& run, const CallLimits& limits) {
  return error_of([&] {
    run.limit(limits);
    while (run.prepare(kNever), run.has_more()) {
    }
  });
}

// Of a piece of rows, which are not computed: every number is 0.
void finish_with_zeros(TaskRun& run, const PreparedRows& prepared) {
  std::size_t numbers = 0;
  for (const runtime::BatchRow& row : prepared.rows) numbers += run.program()->width(row);
  run.finish(std::vector<float>(numbers), kNever);
}

class CallLimitsOfTasks : public testing::Test {
 protected:
  std::filesystem::path place(const std::string& name) const { return folder_.path() / name; }

  ClassifyPipeline classifier() const {
    tests::write_tiny_classifier(place("nli"));
    return ClassifyPipeline::load(place("nli"));
  }
  RerankPipeline reranker() const {
    tests::write_tiny_reranker(place("reranker"));
    return RerankPipeline::load(place("reranker"));
  }
  AnswerPipeline answerer() const {
    tests::write_tiny_answerer(place("answerer"));
    return AnswerPipeline::load(place("answerer"));
  }
  RecognizePipeline recognizer() const {
    tests::write_tiny_recognizer(place("recognizer"));
    return RecognizePipeline::load(place("recognizer"));
  }
  RecognizePipeline gliner() const {
    tests::write_tiny_gliner(place("gliner"), "spans");
    return RecognizePipeline::load(place("gliner"));
  }

  base::TemporaryFolder folder_;
};

// No text, or one, and everything else at its limit: what is read with each text has 10,000 bytes, and 5,000 may be.
TEST_F(CallLimitsOfTasks, WhatIsReadWithEachTextIsCountedWhateverTheTextsAre) {
  const ClassifyPipeline classifier = this->classifier();
  const RerankPipeline reranker = this->reranker();
  const AnswerPipeline answerer = this->answerer();
  std::string ten_times;
  for (int i = 0; i < 10; ++i) ten_times += kLong;
  const std::vector<std::pair<std::string, std::function<std::unique_ptr<TaskRun>(Texts)>>> tasks = {
      {"classify",
       [&](const Texts& texts) {
         ClassifyOptions options{.hypothesis_template = "{}" + kLong};
         for (char label = 'a'; label < 'a' + 10; ++label) options.labels.emplace_back(1, label);
         return std::make_unique<ClassifyRun>(classifier, std::vector<EncodeInput>(texts.begin(), texts.end()),
                                              options);
       }},
      {"rerank", [&](const Texts& texts) { return begin_rerank(reranker, ten_times, texts, {}); }},
      {"rerank with a prompt",
       [&](const Texts& texts) { return begin_rerank(reranker, "a", texts, {.prompt = ten_times}); }},
      {"answer",
       [&](const Texts& texts) { return std::make_unique<AnswerRun>(answerer, ten_times, texts, AnswerOptions()); }}};
  for (const auto& [name, begin] : tasks) {
    for (const Texts& texts : {Texts{}, Texts{"a"}}) {
      SCOPED_TRACE(name + " of " + std::to_string(texts.size()));
      const Error error = error_of_preparing(*begin(texts), {.read_bytes = 5000});
      EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
      EXPECT_NE(error.message().find("one call reads at most 5000 bytes"), std::string::npos) << error.message();
    }
  }
}

TEST_F(CallLimitsOfTasks, APromptIsReadWithEachTextThatIsEmbedded) {
  tests::write_tiny_model(source_folder() / "tests/golden/models/st_mean", place("embedder"));
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(place("embedder"));
  const EmbedOptions options{.prompt = kLong};
  const Texts five(5, "a");
  const auto prepare = [&](const Texts& texts, std::size_t most) {
    return error_of([&] { (void)prepare_embedding(pipeline, texts, options, kNever, {.read_bytes = most}); }).message();
  };
  EXPECT_NE(prepare(five, 5004).find("each read with the prompt"), std::string::npos) << prepare(five, 5004);
  EXPECT_EQ(prepare_embedding(pipeline, five, options, kNever, {.read_bytes = 5005}).rows.size(), 5U);
}

// Not as many hypotheses as there are labels, for no text.
TEST_F(CallLimitsOfTasks, NothingIsMadeForNoTexts) {
  ClassifyRun run(classifier(), {}, {.labels = {"a", "b"}});
  EXPECT_TRUE(run.prepare(kNever).rows.empty());
  EXPECT_FALSE(run.has_more());
  run.finish({}, kNever);
  EXPECT_TRUE(run.answers().empty());
}

TEST_F(CallLimitsOfTasks, ListsBesideTheTextsAreShort) {
  const std::vector<std::string> labels(kMostListed + 1, "a");
  const auto expect_refused = [](const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.message().find("has 4097 entries; give at most 4096"), std::string::npos) << error.message();
  };
  const ClassifyPipeline classifier = this->classifier();
  expect_refused(error_of([&] { (void)classifier.classify({"a"}, {.labels = labels}); }));
  const RecognizePipeline recognizer = this->recognizer(), gliner = this->gliner();
  expect_refused(error_of([&] { (void)recognizer.recognize({"a"}, {.labels = labels}); }));
  expect_refused(error_of([&] { (void)gliner.recognize({"a"}, {.labels = labels}); }));
  std::string list, choices;
  for (std::size_t i = 0; i <= kMostListed; ++i) {
    const std::string number = std::to_string(i);
    list += (i == 0 ? "\"" : ",\"") + number + '"';
    choices += (i == 0 ? "" : "|") + number;
  }
  for (const std::string& schema :
       {"{\"entities\":[" + list + "]}", "{\"a\":[" + list + "]}", "{\"a\":[\"b::[" + choices + "]\"]}",
        R"({"classifications":[{"task":"a","labels":[)" + list + "]}]}"})
    expect_refused(error_of([&] { (void)ExtractSchema::parse(schema); }));
}

// As many tokens as the rows of all texts have are enough.
TEST_F(CallLimitsOfTasks, TokensOfAllRowsAreCounted) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the cat ";
  const Texts texts(4, text);
  const RecognizePipeline recognizer = this->recognizer(), gliner = this->gliner();
  const RerankPipeline reranker = this->reranker();
  const AnswerPipeline answerer = this->answerer();
  RerankOptions windows;
  windows.long_texts.treatment = LongTexts::windows;
  const std::vector<std::pair<std::string, std::function<std::unique_ptr<TaskRun>(Texts)>>> tasks = {
      {"recognize",
       [&](const Texts& some) { return std::make_unique<RecognizeRun>(recognizer, some, RecognizeOptions()); }},
      {"GLiNER",
       [&](const Texts& some) {
         return std::make_unique<RecognizeRun>(gliner, some, RecognizeOptions{.labels = {"cat"}});
       }},
      {"answer",
       [&](const Texts& some) { return std::make_unique<AnswerRun>(answerer, "Who?", some, AnswerOptions()); }},
      {"rerank", [&](const Texts& some) { return begin_rerank(reranker, "a cat", some, windows); }}};
  for (const auto& [name, begin] : tasks) {
    SCOPED_TRACE(name);
    const std::unique_ptr<TaskRun> one = begin({text});
    while (one->prepare(kNever), one->has_more()) {
    }
    const std::size_t tokens = one->tokens();
    ASSERT_GT(tokens, 60U);
    const Error error = error_of_preparing(*begin(texts), {.row_tokens = 3 * tokens});
    EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
    EXPECT_NE(error.message().find("more than " + std::to_string(3 * tokens) + " tokens"), std::string::npos)
        << error.message();
    const std::unique_ptr<TaskRun> all = begin(texts);
    all->limit({.row_tokens = 8 * tokens});  // the last window of a text is counted as if it were full
    while (all->prepare(kNever), all->has_more()) {
    }
    EXPECT_EQ(all->tokens(), 4 * tokens);
  }
}

// A text of 1,000 bytes may be read in windows with one new token each, which repeat it a hundred times; many may not.
TEST_F(CallLimitsOfTasks, WindowsOfManyShortTextsRepeatThemNoOftenerThanThoseOfALongOne) {
  std::string text;
  while (text.size() < 1000) text += "a ";
  const RecognizePipeline recognizer = this->recognizer();
  RecognizeOptions options;
  options.long_texts.stride = recognizer.max_length() - 3;
  const auto tokens_of = [&](std::size_t count) {
    RecognizeRun run(recognizer, Texts(count, text), options);
    return run.prepare(kNever).tokens();
  };
  EXPECT_GT(tokens_of(1), 8 * text.size());
  EXPECT_EQ(error_of([&] { tokens_of(400); }).code(), ErrorCode::resource_exhausted);
}

// What a piece holds does not grow with the request.
TEST_F(CallLimitsOfTasks, RowsAreMadeInPieces) {
  const std::string text = "My name is Ada Lovelace, and the cat sat.";
  const RecognizePipeline recognizer = this->recognizer(), gliner = this->gliner();
  const AnswerPipeline answerer = this->answerer();
  const std::vector<std::pair<std::string, std::function<std::unique_ptr<TaskRun>(Texts)>>> tasks = {
      {"recognize",
       [&](const Texts& texts) { return std::make_unique<RecognizeRun>(recognizer, texts, RecognizeOptions()); }},
      {"GLiNER",
       [&](const Texts& texts) {
         return std::make_unique<RecognizeRun>(gliner, texts, RecognizeOptions{.labels = {"cat"}});
       }},
      {"answer",
       [&](const Texts& texts) { return std::make_unique<AnswerRun>(answerer, "Who?", texts, AnswerOptions()); }}};
  for (const auto& [name, begin] : tasks) {
    SCOPED_TRACE(name);
    std::size_t most_held[2] = {0, 0}, pieces[2] = {0, 0};
    for (const std::size_t twice : {0, 1}) {
      const std::unique_ptr<TaskRun> run = begin(Texts(twice == 1 ? 40 : 20, text));
      run->limit({.piece_bytes = 4 * text.size()});
      do {
        const PreparedRows prepared = run->prepare(kNever);
        most_held[twice] = std::max(most_held[twice], run->held_bytes() + prepared.bytes());
        finish_with_zeros(*run, prepared);
        ++pieces[twice];
      } while (run->has_more());
      EXPECT_EQ(run->prepared_texts(), run->size());
    }
    EXPECT_EQ(pieces[0], 5U);
    EXPECT_EQ(pieces[1], 10U);
    EXPECT_EQ(most_held[0], most_held[1]);
  }
}

void expect_same(const std::vector<Entity>& found, const std::vector<Entity>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].text, wanted[i].text);
    EXPECT_EQ(found[i].label, wanted[i].label);
    EXPECT_EQ(found[i].byte_start, wanted[i].byte_start);
    EXPECT_NEAR(found[i].score, wanted[i].score, 1e-5);
  }
}

TEST_F(CallLimitsOfTasks, PiecesGiveTheAnswersOfTheWhole) {
  const tests::RecordedRecognizer recorded = tests::write_tiny_recognizer(place("labels"));
  const RecognizePipeline recognizer = RecognizePipeline::load(place("labels")), gliner = this->gliner();
  const Texts texts(recorded.texts.begin(), recorded.texts.end());
  const CallLimits small{.piece_bytes = 1, .piece_numbers = 1};  // a row at a time
  const auto in_pieces = [&](TaskRun& run) {
    run.limit(small);
    PreparedRows first = run.prepare(kNever);
    EXPECT_EQ(first.rows.size(), 1U);
    EXPECT_TRUE(run.has_more());
    run_prepared(run, std::move(first), {}, {.cancellation = kNever});
  };
  for (const auto& [pipeline, options] :
       {std::pair(recognizer, RecognizeOptions()),
        std::pair(gliner, RecognizeOptions{.labels = {"cat", "fox"}, .threshold = 0.0F, .nested = true})}) {
    RecognizeRun run(pipeline, texts, options);
    in_pieces(run);
    const Recognitions whole = pipeline.recognize(texts, options);
    EXPECT_EQ(run.tokens(), whole.tokens);
    for (std::size_t i = 0; i < texts.size(); ++i) expect_same(run.entities()[i], whole.texts[i]);
  }
  const AnswerPipeline answerer = this->answerer();
  const AnswerOptions options{.top_k = 5, .no_answer = true};
  AnswerRun run(answerer, "Who met?", texts, options);
  in_pieces(run);
  const Answers whole = answerer.answer("Who met?", texts, options);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_EQ(run.answers()[i].size(), whole.texts[i].size());
    for (std::size_t k = 0; k < whole.texts[i].size(); ++k) {
      EXPECT_EQ(run.answers()[i][k].text, whole.texts[i][k].text);
      EXPECT_NEAR(run.answers()[i][k].score, whole.texts[i][k].score, 1e-5);
    }
  }
}

// Their rows have a number for each word, label, width and instance; what is kept of a row is what it found.
TEST_F(CallLimitsOfTasks, PiecesGiveTheExtractionsOfTheWhole) {
  const tests::RecordedExtractor recorded = tests::write_tiny_extractor(place("extractor"), "lstm");
  const ExtractPipeline pipeline = ExtractPipeline::load(place("extractor"));
  const Texts texts(recorded.texts.begin(), recorded.texts.end());
  for (const tests::RecordedExtraction& recorded_run : recorded.runs) {
    SCOPED_TRACE(recorded_run.schema);
    const ExtractSchema schema = ExtractSchema::parse(recorded_run.schema);
    ExtractOptions options{.threshold = recorded_run.threshold};
    options.long_texts.max_length = recorded_run.windows;
    ExtractRun run(pipeline, texts, schema, options);
    run.limit({.piece_bytes = 1, .piece_numbers = 1});
    PreparedRows first = run.prepare(kNever);
    EXPECT_EQ(first.rows.size(), 1U);
    run_prepared(run, std::move(first), {}, {.cancellation = kNever});
    const Extractions whole = pipeline.extract(texts, schema, options);
    ASSERT_EQ(run.extractions().size(), whole.texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(extraction_json(run.extractions()[i], {}), extraction_json(whole.texts[i], {}));
  }
}

TEST_F(CallLimitsOfTasks, ProgressCountsEachTextOnce) {
  const tests::RecordedRecognizer recorded = tests::write_tiny_recognizer(place("labels"));
  RecognizeRun run(RecognizePipeline::load(place("labels")), {recorded.texts.begin(), recorded.texts.end()}, {});
  run.limit({.piece_bytes = 1, .piece_numbers = 1});
  std::size_t done = 0;
  run_prepared(run, run.prepare(kNever), {}, {.cancellation = kNever}, [&](std::size_t more) { done += more; });
  EXPECT_EQ(done, recorded.texts.size());
}

// A word of 10,000 bytes is one token, and each answer with it repeats it.
TEST_F(CallLimitsOfTasks, TextsOfAnAnswerAreCountedBeforeTheyAreCut) {
  const std::string word(10'000, 'x'), text = "a b " + word + " a b";
  const auto error_with = [&](TaskRun& run) {
    return error_of([&] {
      run.limit({.answer_bytes = 30'000});
      PreparedRows prepared = run.prepare(kNever);
      run_prepared(run, std::move(prepared), {}, {.cancellation = kNever});
    });
  };
  const AnswerPipeline answerer = this->answerer();
  AnswerRun many(answerer, "Who?", {text}, {.top_k = 100});
  const Error answers = error_with(many);
  EXPECT_EQ(answers.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(answers.message().find("the answer would have more than 30000 bytes"), std::string::npos)
      << answers.message();
  AnswerRun few(answerer, "Who?", {text}, {.top_k = 2});
  few.limit({.answer_bytes = 30'000});
  PreparedRows prepared = few.prepare(kNever);
  run_prepared(few, std::move(prepared), {}, {.cancellation = kNever});
  EXPECT_EQ(few.answers().front().size(), 2U);

  const RecognizePipeline gliner = this->gliner();
  RecognizeRun nested(gliner, {text},
                      {.labels = {"a", "b", "c"}, .threshold = 0.0F, .nested = true, .multi_label = true});
  EXPECT_EQ(error_with(nested).code(), ErrorCode::resource_exhausted);
}

TEST_F(CallLimitsOfTasks, NumbersOfEntitiesAreCountedToo) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "cat ";
  const RecognizePipeline recognizer = this->recognizer();
  RecognizeRun run(recognizer, {text}, {.aggregation = Aggregation::none});
  const std::size_t found = recognizer.recognize({text}, {.aggregation = Aggregation::none}).texts.front().size();
  ASSERT_GT(found, 10U);
  run.limit({.answer_bytes = found * AnswerBudget::kItemBytes});
  const Error error = error_of([&] {
    PreparedRows prepared = run.prepare(kNever);
    run_prepared(run, std::move(prepared), {}, {.cancellation = kNever});
  });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
}

// Places take most of an encoding's memory.
TEST_F(CallLimitsOfTasks, OffsetsAreKeptOnlyWhereTheAnswerNeedsThem) {
  const auto model = text_model_of(answerer().model());
  const std::vector<EncodeInput> inputs = {EncodeInput("a b c")};
  const auto kept = [&](RowDetails details) {
    return make_text_rows(model, inputs, {.details = details}, kNever).encodings;
  };
  EXPECT_TRUE(kept(RowDetails::none).empty());
  EXPECT_FALSE(kept(RowDetails::ids).front().ids.empty());
  EXPECT_TRUE(kept(RowDetails::ids).front().offsets.empty());
  EXPECT_FALSE(kept(RowDetails::offsets).front().offsets.empty());
}

}  // namespace
}  // namespace alate::pipelines
