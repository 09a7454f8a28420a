#include "alate/classify.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "alate/error.h"
#include "alate/rerank.h"
#include "pipelines/classify/classify_run.h"
#include "pipelines/classify/hypothesis_template.h"
#include "pipelines/tasks/label_names.h"
#include "pipelines/tasks/task_head.h"

namespace alate {
namespace pipelines {
namespace {

void check(const ClassifyOptions& options) {
  if (options.labels.empty()) return;
  require_short_list(options.labels.size(), "labels");
  if (options.raw_scores)
    throw Error(ErrorCode::invalid_argument,
                "raw scores are those of the model's own labels; leave out the labels, or take the scores from 0 to 1");
  if (std::ranges::any_of(options.labels, &std::string::empty))
    throw Error(ErrorCode::invalid_argument, "a label is empty: give each a word or phrase");
  HypothesisTemplate(options.hypothesis_template);  // throws for a wrong one
}

// The mean logits of each input's rows, weighted by their tokens: [inputs][labels].
std::vector<std::vector<float>> logits_of_inputs(const RowResults& results, std::size_t inputs, std::size_t labels) {
  std::vector<std::vector<float>> logits(inputs, std::vector<float>(labels));
  for (std::size_t begin = 0, end = 0; begin < results.count(); begin = end) {
    double total = 0;
    std::vector<double> sums(labels);
    for (end = begin; end < results.count() && results.input(end) == results.input(begin); ++end) {
      const auto weight = static_cast<double>(results.tokens(end));
      total += weight;
      for (std::size_t i = 0; i < labels; ++i) sums[i] += weight * results.of(end)[i];
    }
    std::vector<float>& mean = logits[results.input(begin)];
    for (std::size_t i = 0; i < labels; ++i) mean[i] = static_cast<float>(sums[i] / total);
    if (end == begin + 1) std::ranges::copy(results.of(begin), mean.begin());
  }
  return logits;
}

// How far a text entails each hypothesis; the rows of `logits` are those of its labels.
std::vector<float> entailments(std::span<std::vector<float>> logits, std::size_t entailment, bool each_by_itself) {
  std::vector<float> scores;
  if (!each_by_itself) {
    for (const std::vector<float>& row : logits) scores.push_back(row[entailment]);
    scale_logits(ScoreFunction::softmax, scores);
    return scores;
  }
  for (const std::vector<float>& row : logits) {
    std::array<float, 2> two = {entailment == 0 ? row.back() : row.front(), row[entailment]};  // contradiction first
    scale_logits(ScoreFunction::softmax, two);
    scores.push_back(two[1]);
  }
  return scores;
}

// What these scores are made of, which tells labels apart whose scores are equal.
std::vector<float> raw_entailments(std::span<const std::vector<float>> logits, std::size_t entailment,
                                   bool each_by_itself) {
  std::vector<float> raw;
  for (const std::vector<float>& row : logits) {
    const float contradiction = entailment == 0 ? row.back() : row.front();
    raw.push_back(each_by_itself ? row[entailment] - contradiction : row[entailment]);
  }
  return raw;
}

}  // namespace

ClassifyPipeline classifier_of(TextModel model) {
  const Model::State& state = model.model.state();
  const std::size_t count = task_entry_point(model, Task::classify)->numbers_per_row();
  ClassifyPipeline::State made{std::move(model), label_names(state.config, count), score_function(state.config, count)};
  return ClassifyPipeline(std::make_shared<ClassifyPipeline::State>(std::move(made)));
}

ClassifyRun::ClassifyRun(ClassifyPipeline pipeline, std::vector<EncodeInput> texts, ClassifyOptions options)
    : pipeline_(std::move(pipeline)), texts_(std::move(texts)), options_(std::move(options)), count_(texts_.size()) {
  check(options_);
}

std::shared_ptr<const runtime::BatchProgram> ClassifyRun::program() const {
  return task_entry_point(pipeline_.state(), Task::classify);
}

std::string ClassifyRun::excess() const { return excess_of(pipeline_.state(), options_.long_texts); }

// Each text is read with each hypothesis, which is made whatever the texts are.
void ClassifyRun::require_room(std::span<const EncodeInput> texts) const {
  const auto labels = static_cast<double>(options_.labels.size());
  double hypotheses = labels * static_cast<double>(options_.hypothesis_template.size()), read = 0;
  for (const std::string& label : options_.labels) hypotheses += static_cast<double>(label.size());
  for (const EncodeInput& text : texts) read += static_cast<double>(text.text.size()) * labels;
  const auto count = static_cast<double>(std::max<std::size_t>(texts.size(), 1));
  require_readable(limits(), read + hypotheses * count, "every label in the hypothesis template");
}

TextRows ClassifyRun::make_rows(const base::Cancellation& cancellation) {
  const std::vector<EncodeInput> texts = std::exchange(texts_, {});
  if (options_.labels.empty())
    return make_text_rows(pipeline_.state(), texts, {.long_texts = options_.long_texts, .budget = &token_budget()},
                          cancellation);
  require_room(texts);
  if (texts.empty()) return {};
  const HypothesisTemplate hypothesis(options_.hypothesis_template);
  std::vector<std::string> hypotheses;
  for (const std::string& label : options_.labels) hypotheses.push_back(hypothesis.of(label));
  std::vector<EncodeInput> pairs;
  for (const EncodeInput& input : texts) {
    for (const std::string& one : hypotheses) pairs.emplace_back(input.text, one);
  }
  TextRows rows = make_text_rows(
      pipeline_.state(), pairs,
      {.long_texts = options_.long_texts, .strategy = Truncation::only_first, .budget = &token_budget()}, cancellation);
  for (std::vector<std::size_t>* indices : {&rows.prepared.truncated, &rows.too_long}) {
    for (std::size_t& index : *indices) index /= hypotheses.size();
    const auto [end, last] = std::ranges::unique(*indices);
    indices->erase(end, last);
  }
  return rows;
}

void ClassifyRun::take(const RowResults& results) {
  const ClassifyPipeline::State& state = pipeline_.state();
  const std::size_t rows_of_text = std::max<std::size_t>(options_.labels.size(), 1);
  std::vector<std::vector<float>> logits = logits_of_inputs(results, count_ * rows_of_text, state.labels.size());
  const std::vector<std::string>& names = options_.labels.empty() ? state.labels : options_.labels;
  ScoreFunction own = state.function;
  if (options_.multi_label) own = *options_.multi_label ? ScoreFunction::sigmoid : ScoreFunction::softmax;
  if (options_.raw_scores) own = ScoreFunction::none;
  const bool each_by_itself = options_.multi_label.value_or(false) || options_.labels.size() == 1;
  for (std::size_t text = 0; text < count_; ++text) {
    const std::span rows = std::span(logits).subspan(text * rows_of_text, rows_of_text);
    std::vector<float> scores, raw;
    if (options_.labels.empty()) {
      raw = std::move(rows.front());
      scores = raw;
      scale_logits(own, scores);
    } else {
      const std::size_t entailment = entailment_label(state.labels);
      raw = raw_entailments(rows, entailment, each_by_itself);
      scores = entailments(rows, entailment, each_by_itself);
    }
    std::vector<LabelScore>& answer = answers_.emplace_back();
    for (const std::size_t i : best_first(scores, options_.top_k, raw)) {
      answer_budget().add(names[i].size());
      answer.push_back({names[i], scores[i]});
    }
  }
}

}  // namespace pipelines

ClassifyPipeline ClassifyPipeline::over(const Model& model) {
  return pipelines::classifier_of(pipelines::text_model_of(model));
}

ClassifyPipeline ClassifyPipeline::load(const std::filesystem::path& folder, const LoadOptions& options,
                                        const RunControl& control) {
  return pipelines::classifier_of(pipelines::load_text_model(folder, options, pipelines::Task::classify, control));
}

Classifications ClassifyPipeline::classify(std::span<const std::string> texts, const ClassifyOptions& options,
                                           const RunControl& control) const {
  return classify(std::vector<std::string_view>(texts.begin(), texts.end()), options, control);
}

Classifications ClassifyPipeline::classify(std::span<const std::string_view> texts, const ClassifyOptions& options,
                                           const RunControl& control) const {
  pipelines::ClassifyRun run(*this, {texts.begin(), texts.end()}, options);
  pipelines::run_task(run, {.tokens = options.batch_tokens, .rows = options.batch_size}, control);
  return {.texts = std::move(run.answers()), .truncated = run.truncated(), .tokens = run.tokens()};
}

std::span<const std::string> ClassifyPipeline::labels() const { return state_->labels; }
std::size_t ClassifyPipeline::max_length() const { return state_->max_length; }
const Tokenizer& ClassifyPipeline::tokenizer() const { return state_->tokenizer; }
const Model& ClassifyPipeline::model() const { return state_->model; }
const ModelFacts& ClassifyPipeline::facts() const { return state_->model.facts(); }

}  // namespace alate
