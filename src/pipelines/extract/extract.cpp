#include "alate/extract.h"

#include <utility>

#include "alate/error.h"
#include "pipelines/extract/extract_run.h"
#include "pipelines/tasks/task_head.h"

namespace alate {
namespace pipelines {

ExtractPipeline extractor_of(TextModel model) {
  require_task(model.model.state(), Task::extract);
  Extractor extractor = read_extractor(model);
  return ExtractPipeline(
      std::make_shared<ExtractPipeline::State>(ExtractPipeline::State{std::move(model), std::move(extractor)}));
}

ExtractRun::ExtractRun(ExtractPipeline pipeline, std::vector<std::string_view> texts, ExtractSchema schema,
                       ExtractOptions options)
    : pipeline_(std::move(pipeline)),
      texts_(std::move(texts)),
      options_(options),
      call_(pipeline_.state(), pipeline_.state().extractor, std::move(schema)) {
  if (!(options_.threshold >= 0 && options_.threshold <= 1))
    throw Error(ErrorCode::invalid_argument, "the threshold is a score from 0 to 1");
}

std::string ExtractRun::excess() const { return excess_of(pipeline_.state(), options_.long_texts); }

TextRows ExtractRun::make_rows(const base::Cancellation& cancellation) {
  extractions_.resize(texts_.size());
  const std::span<const std::string_view> texts =
      next_texts(texts_, options_.long_texts.treatment.value_or(LongTexts::windows));
  return call_.make_rows(texts, options_.long_texts, token_budget(), cancellation);
}

void ExtractRun::take(const RowResults& results) {
  call_.take(results, texts_, options_.threshold, answer_budget(),
             [&](std::size_t text, Extraction found) { extractions_[text] = std::move(found); });
}

}  // namespace pipelines

ExtractPipeline ExtractPipeline::over(const Model& model) {
  return pipelines::extractor_of(pipelines::text_model_of(model));
}

ExtractPipeline ExtractPipeline::load(const std::filesystem::path& folder, const LoadOptions& options,
                                      const RunControl& control) {
  return pipelines::extractor_of(pipelines::load_text_model(folder, options, pipelines::Task::extract, control));
}

Extractions ExtractPipeline::extract(std::span<const std::string> texts, const ExtractSchema& schema,
                                     const ExtractOptions& options, const RunControl& control) const {
  return extract(std::vector<std::string_view>(texts.begin(), texts.end()), schema, options, control);
}

Extractions ExtractPipeline::extract(std::span<const std::string_view> texts, const ExtractSchema& schema,
                                     const ExtractOptions& options, const RunControl& control) const {
  pipelines::ExtractRun run(*this, {texts.begin(), texts.end()}, schema, options);
  pipelines::run_task(run, {.tokens = options.batch_tokens, .rows = options.batch_size}, control);
  return {.texts = std::move(run.extractions()), .truncated = run.truncated(), .tokens = run.tokens()};
}

std::size_t ExtractPipeline::max_length() const { return state_->max_length; }
const Tokenizer& ExtractPipeline::tokenizer() const { return state_->tokenizer; }
const Model& ExtractPipeline::model() const { return state_->model; }
const ModelFacts& ExtractPipeline::facts() const { return state_->model.facts(); }

}  // namespace alate
