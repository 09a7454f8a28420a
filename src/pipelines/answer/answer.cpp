#include "alate/answer.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "pipelines/answer/answer_run.h"
#include "pipelines/calls/special_tokens.h"
#include "pipelines/tasks/task_head.h"
#include "tokenizers/encode.h"
#include "tokenizers/unicode/utf8.h"

namespace alate {
namespace pipelines {
namespace {

// Of a window in tokens and of what it shares with the one before it, in transformers.
constexpr std::size_t kWindowLength = 384, kWindowStride = 128;

void check(const AnswerOptions& options, const std::string& question) {
  if (question.empty())
    throw Error(ErrorCode::invalid_argument, "the question is empty: say what the texts are to answer");
  if (options.top_k < 1 || options.top_k > kMostAnswers)
    throw make_error(ErrorCode::invalid_argument, "top_k is ", options.top_k, "; ask for 1 to ", kMostAnswers,
                     " answers of a text");
  if (options.max_answer_length < 1)
    throw Error(ErrorCode::invalid_argument, "max_answer_length is 0; an answer has at least 1 token");
}

}  // namespace

AnswerPipeline answerer_of(TextModel model) {
  task_entry_point(model.model.state(), Task::answer);
  const QuestionOrder order{.question_first = padding_side(*model.settings, model.tokenizer) == Side::right,
                            .cls_id = cls_token_id(*model.settings, model.tokenizer)};
  return AnswerPipeline(std::make_shared<AnswerPipeline::State>(AnswerPipeline::State{std::move(model), order}));
}

AnswerRun::AnswerRun(AnswerPipeline pipeline, std::string question, std::vector<std::string_view> texts,
                     AnswerOptions options)
    : pipeline_(std::move(pipeline)), question_(std::move(question)), texts_(std::move(texts)), options_(options) {
  check(options_, question_);
  LongTextOptions& long_texts = options_.long_texts;
  if (long_texts.treatment.value_or(LongTexts::windows) == LongTexts::windows && !long_texts.max_length)
    long_texts.max_length = std::min(pipeline_.max_length(), kWindowLength);
}

std::shared_ptr<const runtime::BatchProgram> AnswerRun::program() const {
  return task_entry_point(pipeline_.model().state(), Task::answer);
}

std::string AnswerRun::excess() const {
  return excess_of(pipeline_.state(), options_.long_texts) + ", with the question";
}

void AnswerRun::check_question(const base::Cancellation& cancellation) const {
  const AnswerPipeline::State& state = pipeline_.state();
  const std::size_t length = row_length(state, options_.long_texts), added = state.tokenizer.special_tokens_added(true);
  const EncodeOptions alone{.add_special_tokens = false, .with_offsets = false, .with_tokens = false};
  const std::size_t tokens = tokenizers::encode(state.tokenizer, question_, alone, cancellation).ids.size();
  if (tokens + added < length) return;
  throw make_error(ErrorCode::invalid_argument, "the question has ", tokens, " tokens: with ", added,
                   " special ones it leaves no room for a text in the ", length, " that are read at once; shorten it");
}

void AnswerRun::require_room() const {
  double bytes = static_cast<double>(question_.size()) * static_cast<double>(std::max<std::size_t>(texts_.size(), 1));
  for (const std::string_view text : texts_) bytes += static_cast<double>(text.size());
  require_readable(limits(), bytes, "the question");
}

TextRows AnswerRun::make_rows(const base::Cancellation& cancellation) {
  if (answers_.empty()) {
    require_room();
    check_question(cancellation);
    answers_.resize(texts_.size());
  }
  const bool question_first = pipeline_.state().order.question_first;
  std::vector<EncodeInput> pairs;
  for (const std::string_view text : next_texts(texts_, options_.long_texts.treatment.value_or(LongTexts::windows)))
    pairs.emplace_back(question_first ? question_ : text, question_first ? text : std::string_view(question_));
  RowOptions rows{.long_texts = options_.long_texts,
                  .usual = LongTexts::windows,
                  .strategy = question_first ? Truncation::only_second : Truncation::only_first,
                  .details = RowDetails::offsets,
                  .budget = &token_budget()};
  rows.usual_stride = std::min(row_length(pipeline_.state(), options_.long_texts) / 2, kWindowStride);
  return make_text_rows(pipeline_.state(), pairs, rows, cancellation);
}

void AnswerRun::take(const RowResults& results) {
  for_each_input(results, [&](const InputRange& range) {
    if (!begun_) {
      repaired_ = tokenizers::repair_utf8(texts_[range.input]);
      begun_.emplace(repaired_ ? std::string_view(*repaired_) : texts_[range.input], pipeline_.state().order, options_,
                     compared_);
    }
    for (std::size_t row = range.begin; row < range.end; ++row) {
      results.cancellation().check();
      const std::size_t tokens = results.tokens(row);
      begun_->add({results.encoding(row), results.of(row).first(tokens), results.of(row).last(tokens)});
    }
    if (!range.is_last) return;
    answers_[range.input] = begun_->take(answer_budget());
    begun_.reset();
  });
}

}  // namespace pipelines

AnswerPipeline AnswerPipeline::load(const std::filesystem::path& folder, const LoadOptions& options,
                                    const RunControl& control) {
  return pipelines::answerer_of(pipelines::load_text_model(folder, options, pipelines::Task::answer, control));
}

Answers AnswerPipeline::answer(std::string_view question, std::span<const std::string> texts,
                               const AnswerOptions& options, const RunControl& control) const {
  return answer(question, std::vector<std::string_view>(texts.begin(), texts.end()), options, control);
}

Answers AnswerPipeline::answer(std::string_view question, std::span<const std::string_view> texts,
                               const AnswerOptions& options, const RunControl& control) const {
  pipelines::AnswerRun run(*this, std::string(question), {texts.begin(), texts.end()}, options);
  pipelines::run_task(run, {.tokens = options.batch_tokens, .rows = options.batch_size}, control);
  return {.texts = std::move(run.answers()), .truncated = run.truncated(), .tokens = run.tokens()};
}

std::size_t AnswerPipeline::max_length() const { return state_->max_length; }
const Tokenizer& AnswerPipeline::tokenizer() const { return state_->tokenizer; }
const Model& AnswerPipeline::model() const { return state_->model; }
const ModelFacts& AnswerPipeline::facts() const { return state_->model.facts(); }

}  // namespace alate
