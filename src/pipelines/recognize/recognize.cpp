#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "models/heads/extractor_config.h"
#include "models/heads/gliner_config.h"
#include "pipelines/classify/score_function.h"
#include "pipelines/gliner/span_choice.h"
#include "pipelines/label_names.h"
#include "pipelines/recognize/recognize_run.h"
#include "pipelines/recognize/token_entities.h"
#include "pipelines/task_head.h"
#include "tokenizers/parts.h"

namespace alate {
namespace pipelines {
namespace {

std::optional<std::int32_t> unknown_id_of(const TextModel& model) {
  const std::string& stated = model.settings->unk_token;
  if (!stated.empty()) return model.tokenizer.token_to_id(stated);
  return model.tokenizer.parts().model->unknown_id();
}

std::string known_tags(std::span<const std::string> labels) {
  std::vector<std::string_view> tags;
  for (const std::string& label : labels) {
    if (label != kOutside && std::ranges::find(tags, tag_of(label)) == tags.end()) tags.push_back(tag_of(label));
  }
  std::string list;
  for (const std::string_view tag : tags) list += (list.empty() ? "" : ", ") + formats::quoted_name(tag);
  return list;
}

void check_labels(std::span<const std::string> wanted, std::span<const std::string> labels) {
  for (const std::string& each : wanted) {
    const auto is_it = [&](const std::string& label) {
      return label != kOutside && is_wanted(label, std::span(&each, 1));
    };
    if (std::ranges::none_of(labels, is_it))
      throw make_error(ErrorCode::invalid_argument, "the model has no label ", formats::quoted_name(each), "; it has ",
                       known_tags(labels));
  }
}

void check_options(const RecognizeOptions& options, const RecognizePipeline::State& state) {
  if (options.threshold && !(*options.threshold >= 0 && *options.threshold <= 1))
    throw Error(ErrorCode::invalid_argument, "the threshold is a score from 0 to 1");
  if (state.gliner || state.extractor) return;
  check_labels(options.labels, state.labels);
  if (options.nested || options.multi_label)
    throw Error(ErrorCode::invalid_argument,
                "nested entities, and several labels of one, are found by GLiNER models: this one gives each token one "
                "label");
}

// Of one text: its rows are [begin, end).
std::vector<Entity> entities_of_text(std::string_view text, const RowResults& results, std::size_t begin,
                                     std::size_t end, const TokenLabels& labels, Aggregation aggregation) {
  std::vector<TokenWindow> windows;
  for (std::size_t row = begin; row < end; ++row) windows.push_back({results.encoding(row), results.of(row)});
  return entities_of(text, windows, labels, aggregation);
}

// What a GLiNER2 model is asked for.
ExtractSchema schema_of(std::span<const std::string> labels) {
  if (labels.empty())
    throw Error(ErrorCode::invalid_argument,
                "the model finds the labels that it is asked for: name some, such as person,city");
  ExtractSchema schema;
  for (const std::string& label : labels) {
    if (std::ranges::find(schema.entities, label, &ExtractEntity::name) == schema.entities.end())
      schema.entities.push_back({.name = label});
  }
  return schema;
}

Entity entity_of(const std::string& label, const ExtractedValue& value) {
  const ExtractedPlace place = value.place.value();
  return {.text = value.text,
          .label = label,
          .start = place.start,
          .end = place.end,
          .byte_start = place.byte_start,
          .byte_end = place.byte_end,
          .score = value.score,
          .word = value.text,
          .token = std::nullopt};
}

// With their labels: those that the rules allow beside each other, as of a GLiNER model.
std::vector<std::pair<const std::string*, const ExtractedValue*>> chosen_values(std::span<const ExtractedField> fields,
                                                                                const SpanRules& rules) {
  std::vector<std::pair<const std::string*, const ExtractedValue*>> all;
  std::vector<ScoredSpan> spans;  // of bytes; the label is the value's place in `all`
  for (const ExtractedField& field : fields) {
    for (const ExtractedValue& value : field.values) {
      spans.push_back({value.place->byte_start, value.place->byte_end - 1, all.size(), value.score});
      all.emplace_back(&field.name, &value);
    }
  }
  std::vector<std::pair<const std::string*, const ExtractedValue*>> kept;
  for (const ScoredSpan& span : choose_spans(std::move(spans), rules)) kept.push_back(all[span.label]);
  return kept;
}

}  // namespace

RecognizePipeline recognizer_of(TextModel model) {
  const Model::State& state = model.model.state();
  if (models::is_extractor(state.config)) {
    Extractor extractor = read_extractor(model);
    return RecognizePipeline(std::make_shared<RecognizePipeline::State>(
        RecognizePipeline::State{std::move(model), {}, std::nullopt, std::nullopt, std::move(extractor)}));
  }
  if (models::is_gliner(state.config)) {
    require_task(state, Task::recognize);
    Gliner gliner = read_gliner(model);
    return RecognizePipeline(std::make_shared<RecognizePipeline::State>(
        RecognizePipeline::State{std::move(model), {}, std::nullopt, std::move(gliner), std::nullopt}));
  }
  const std::size_t count = task_entry_point(state, Task::recognize)->width().token;
  std::optional<std::int32_t> unknown = unknown_id_of(model);
  RecognizePipeline::State made{std::move(model), label_names(state.config, count), unknown, std::nullopt,
                                std::nullopt};
  return RecognizePipeline(std::make_shared<RecognizePipeline::State>(std::move(made)));
}

RecognizeRun::RecognizeRun(RecognizePipeline pipeline, std::vector<std::string_view> texts, RecognizeOptions options)
    : pipeline_(std::move(pipeline)), texts_(std::move(texts)), options_(std::move(options)) {
  const RecognizePipeline::State& state = pipeline_.state();
  check_options(options_, state);
  if (state.gliner) gliner_.emplace(state, *state.gliner);
  if (state.extractor) extract_.emplace(state, *state.extractor, schema_of(options_.labels));
}

std::shared_ptr<const runtime::BatchProgram> RecognizeRun::program() const {
  if (extract_) return extract_->program();
  return task_entry_point(pipeline_.model().state(), Task::recognize);
}

std::string RecognizeRun::excess() const { return excess_of(pipeline_.state(), options_.long_texts); }

TextRows RecognizeRun::make_rows(const base::Cancellation& cancellation) {
  if (gliner_) return gliner_->make_rows(texts_, options_, cancellation);
  if (extract_) return extract_->make_rows(texts_, options_.long_texts, cancellation);
  const std::vector<EncodeInput> inputs(texts_.begin(), texts_.end());
  return make_text_rows(pipeline_.state(), inputs,
                        {.long_texts = options_.long_texts, .usual = LongTexts::windows, .with_offsets = true},
                        cancellation);
}

void RecognizeRun::take(const RowResults& results) {
  if (extract_) return take_extractions(results);
  if (!gliner_) return take_token_labels(results);
  entities_ = gliner_->entities(results, texts_, options_);
}

void RecognizeRun::take_extractions(const RowResults& results) {
  const SpanRules rules{.nested = options_.nested, .multi_label = options_.multi_label};
  for (const Extraction& found : extract_->extractions(results, texts_, options_.threshold.value_or(kUsualThreshold))) {
    std::vector<Entity>& entities = entities_.emplace_back();
    for (const auto& [label, value] : chosen_values(found.entities, rules))
      entities.push_back(entity_of(*label, *value));
  }
}

void RecognizeRun::take_token_labels(const RowResults& results) {
  const RecognizePipeline::State& state = pipeline_.state();
  const TokenLabels labels{.tokenizer = state.tokenizer, .names = state.labels, .unknown_id = state.unknown_id};
  entities_.resize(texts_.size());
  for_each_input(results, [&](std::size_t input, std::size_t begin, std::size_t end) {
    entities_[input] = entities_of_text(texts_[input], results, begin, end, labels, options_.aggregation);
    std::erase_if(entities_[input], [&](const Entity& entity) {
      return !is_wanted(entity.label, options_.labels) || (options_.threshold && !(entity.score > *options_.threshold));
    });
  });
}

}  // namespace pipelines

RecognizePipeline RecognizePipeline::over(const Model& model) {
  return pipelines::recognizer_of(pipelines::text_model_of(model));
}

RecognizePipeline RecognizePipeline::load(const std::filesystem::path& folder, const LoadOptions& options,
                                          const RunControl& control) {
  return pipelines::recognizer_of(pipelines::load_text_model(folder, options, pipelines::Task::recognize, control));
}

Recognitions RecognizePipeline::recognize(std::span<const std::string> texts, const RecognizeOptions& options,
                                          const RunControl& control) const {
  return recognize(std::vector<std::string_view>(texts.begin(), texts.end()), options, control);
}

Recognitions RecognizePipeline::recognize(std::span<const std::string_view> texts, const RecognizeOptions& options,
                                          const RunControl& control) const {
  pipelines::RecognizeRun run(*this, {texts.begin(), texts.end()}, options);
  pipelines::run_task(run, {.tokens = options.batch_tokens, .rows = options.batch_size}, control);
  return {.texts = std::move(run.entities()), .truncated = run.truncated(), .tokens = run.tokens()};
}

std::span<const std::string> RecognizePipeline::labels() const { return state_->labels; }
std::size_t RecognizePipeline::max_length() const { return state_->max_length; }
const Tokenizer& RecognizePipeline::tokenizer() const { return state_->tokenizer; }
const Model& RecognizePipeline::model() const { return state_->model; }
const ModelFacts& RecognizePipeline::facts() const { return state_->model.facts(); }

}  // namespace alate
