#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "models/heads/extractor_config.h"
#include "models/heads/gliner_config.h"
#include "pipelines/calls/whole_characters.h"
#include "pipelines/classify/score_function.h"
#include "pipelines/gliner/span_choice.h"
#include "pipelines/recognize/recognize_run.h"
#include "pipelines/recognize/token_entities.h"
#include "pipelines/tasks/label_names.h"
#include "pipelines/tasks/task_head.h"
#include "tokenizers/parts.h"
#include "tokenizers/unicode/canonical_text.h"
#include "tokenizers/unicode/utf8.h"

namespace alate {
namespace pipelines {
namespace {

// How often entities may be found, in windows that share them, before the answer has each once.
constexpr std::size_t kMostRepeats = 2;

std::optional<std::int32_t> unknown_id_of(const TextModel& model) {
  const std::string& stated = model.settings->unk_token;
  if (!stated.empty()) return model.tokenizer.token_to_id(stated);
  return model.tokenizer.parts().model->unknown_id();
}

std::string known_tags(std::span<const std::string> labels) {
  std::unordered_set<std::string_view> seen = {kOutside};
  std::string list;
  for (const std::string& label : labels) {
    if (label == kOutside || !seen.insert(tag_of(label)).second) continue;
    list += (list.empty() ? "" : ", ") + formats::quoted_name(tag_of(label));
  }
  return list;
}

void check_labels(std::span<const std::string> wanted, std::span<const std::string> labels) {
  std::unordered_set<std::string_view> known;
  for (const std::string& label : labels) {
    if (label != kOutside) known.insert({label, tag_of(label)});
  }
  for (const std::string& each : wanted) {
    if (!known.contains(each))
      throw make_error(ErrorCode::invalid_argument, "the model has no label ", formats::quoted_name(each), "; it has ",
                       known_tags(labels));
  }
}

// Labels that are the model's but for letters that are composed or not, as the model has them.
void spell_as_model(std::vector<std::string>& wanted, std::span<const std::string> labels) {
  if (std::ranges::all_of(wanted, tokenizers::is_ascii)) return;
  std::map<std::string, std::string, std::less<>> spelled;
  for (const std::string& label : labels) {
    spelled.emplace(tokenizers::canonical_form(label), label);
    spelled.emplace(tokenizers::canonical_form(tag_of(label)), tag_of(label));
  }
  for (std::string& label : wanted) {
    if (const auto found = spelled.find(tokenizers::canonical_form(label)); found != spelled.end())
      label = found->second;
  }
}

void check_options(const RecognizeOptions& options, const RecognizePipeline::State& state) {
  if (options.threshold && !(*options.threshold >= 0 && *options.threshold <= 1))
    throw Error(ErrorCode::invalid_argument, "the threshold is a score from 0 to 1");
  require_short_list(options.labels.size(), "labels");
  if (state.gliner || state.extractor) return;
  check_labels(options.labels, state.labels);
  if (options.nested || options.multi_label)
    throw Error(ErrorCode::invalid_argument,
                "nested entities, and several labels of one, are found by GLiNER models: this one gives each token one "
                "label");
}

// What the folder states under the names of transformers; a value that transformers does not have states nothing.
Aggregation stated_aggregation(const formats::Json& config) {
  const formats::Json* place = &config;
  for (const std::string_view key : {"task_specific_params", "token-classification", "aggregation_strategy"}) {
    place = place->is_object() ? place->find(key) : nullptr;
    if (place == nullptr) return Aggregation::simple;
  }
  const auto stated = place->is_string() ? parse_aggregation(place->as_string("aggregation_strategy")) : std::nullopt;
  return stated.value_or(Aggregation::simple);
}

// What a GLiNER2 model is asked for.
ExtractSchema schema_of(std::span<const std::string> labels) {
  if (labels.empty())
    throw Error(ErrorCode::invalid_argument,
                "the model finds the labels that it is asked for: name some, such as person,city");
  ExtractSchema schema;
  std::unordered_set<std::string> seen;
  for (const std::string& label : labels) {
    if (seen.insert(tokenizers::canonical_form(label)).second) schema.entities.push_back({.name = label});
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
std::vector<std::pair<const std::string*, const ExtractedValue*>> chosen_values(
    std::span<const ExtractedField> fields, const SpanRules& rules, const base::Cancellation& cancellation) {
  std::vector<std::pair<const std::string*, const ExtractedValue*>> all;
  std::vector<ScoredSpan> spans;  // of bytes; the label is the value's place in `all`
  for (const ExtractedField& field : fields) {
    for (const ExtractedValue& value : field.values) {
      spans.push_back({value.place->byte_start, value.place->byte_end - 1, all.size(), value.score});
      all.emplace_back(&field.name, &value);
    }
  }
  std::vector<std::pair<const std::string*, const ExtractedValue*>> kept;
  for (const ScoredSpan& span : choose_spans(std::move(spans), rules, cancellation)) kept.push_back(all[span.label]);
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
  const std::size_t count = task_entry_point(state, Task::recognize)->numbers_per_token();
  std::optional<std::int32_t> unknown = unknown_id_of(model);
  RecognizePipeline::State made{std::move(model), label_names(state.config, count), unknown, std::nullopt,
                                std::nullopt,     stated_aggregation(state.config)};
  return RecognizePipeline(std::make_shared<RecognizePipeline::State>(std::move(made)));
}

RecognizeRun::RecognizeRun(RecognizePipeline pipeline, std::vector<std::string_view> texts, RecognizeOptions options)
    : pipeline_(std::move(pipeline)), texts_(std::move(texts)), options_(std::move(options)) {
  const RecognizePipeline::State& state = pipeline_.state();
  spell_as_model(options_.labels, state.labels);
  check_options(options_, state);
  if (!options_.aggregation) options_.aggregation = state.usual_aggregation;
  if (state.gliner) gliner_.emplace(state, *state.gliner);
  if (state.extractor) extract_.emplace(state, *state.extractor, schema_of(options_.labels));
}

std::shared_ptr<const runtime::BatchProgram> RecognizeRun::program() const {
  if (extract_) return extract_->program();
  return task_entry_point(pipeline_.model().state(), Task::recognize);
}

std::string RecognizeRun::excess() const { return excess_of(pipeline_.state(), options_.long_texts); }

TextRows RecognizeRun::make_rows(const base::Cancellation& cancellation) {
  entities_.resize(texts_.size());
  const std::span<const std::string_view> texts =
      next_texts(texts_, options_.long_texts.treatment.value_or(LongTexts::windows));
  if (gliner_) return gliner_->make_rows(texts, options_, token_budget(), cancellation);
  if (extract_) return extract_->make_rows(texts, options_.long_texts, token_budget(), cancellation);
  const std::vector<EncodeInput> inputs(texts.begin(), texts.end());
  return make_text_rows(pipeline_.state(), inputs,
                        {.long_texts = options_.long_texts,
                         .usual = LongTexts::windows,
                         .details = RowDetails::offsets,
                         .budget = &token_budget()},
                        cancellation);
}

void RecognizeRun::take(const RowResults& results) {
  if (extract_) return take_extractions(results);
  if (!gliner_) return take_token_labels(results);
  gliner_->take(results, texts_, options_, answer_budget(), entities_);
}

void RecognizeRun::take_extractions(const RowResults& results) {
  const SpanRules rules{.nested = options_.nested, .multi_label = options_.multi_label};
  const auto take = [&](std::size_t text, const Extraction& found) {
    for (const auto& [label, value] : chosen_values(found.entities, rules, results.cancellation())) {
      answer_budget().add(label->size() + value->text.size());
      entities_[text].push_back(entity_of(*label, *value));
    }
  };
  extract_->take(results, texts_, options_.threshold.value_or(kUsualThreshold), answer_budget(), take);
}

void RecognizeRun::take_token_labels(const RowResults& results) {
  const RecognizePipeline::State& state = pipeline_.state();
  const TokenLabels labels{.tokenizer = state.tokenizer, .names = state.labels, .unknown_id = state.unknown_id};
  const WantedLabels wanted(options_.labels);
  for_each_input(results, [&](const InputRange& range) {
    if (begun_.windows == 0) {
      begun_.repaired = tokenizers::repair_utf8(texts_[range.input]);
      begun_.budget = AnswerBudget(kMostRepeats * limits().answer_bytes);
    }
    const std::string_view text = begun_.repaired ? std::string_view(*begun_.repaired) : texts_[range.input];
    for (std::size_t row = range.begin; row < range.end; ++row, ++begun_.windows) {
      results.cancellation().check();
      for (Entity& entity :
           window_entities(text, {results.encoding(row), results.of(row)}, labels, *options_.aggregation)) {
        begun_.budget.add(entity.label.size() + entity.word.size());
        begun_.entities.push_back(std::move(entity));
      }
    }
    if (!range.is_last) return;
    std::vector<Entity> found = std::exchange(begun_.entities, {});
    if (std::exchange(begun_.windows, 0) > 1) found = without_overlaps(std::move(found));
    std::erase_if(found, [&](const Entity& entity) {
      return !wanted.contain(entity.label) || (options_.threshold && !(entity.score > *options_.threshold));
    });
    if (*options_.aggregation != Aggregation::none) widen_to_characters(text, found);
    cut_texts(text, found, answer_budget());
    entities_[range.input] = std::move(found);
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
Aggregation RecognizePipeline::usual_aggregation() const { return state_->usual_aggregation; }
std::size_t RecognizePipeline::max_length() const { return state_->max_length; }
const Tokenizer& RecognizePipeline::tokenizer() const { return state_->tokenizer; }
const Model& RecognizePipeline::model() const { return state_->model; }
const ModelFacts& RecognizePipeline::facts() const { return state_->model.facts(); }

}  // namespace alate
