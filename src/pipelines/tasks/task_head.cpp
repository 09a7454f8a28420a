#include "pipelines/tasks/task_head.h"

#include <algorithm>
#include <string>
#include <vector>

#include "alate/error.h"
#include "models/encoder.h"
#include "models/heads/extractor.h"
#include "models/heads/gliner.h"
#include "pipelines/modules/model_class.h"
#include "pipelines/modules/rerank_head.h"

namespace alate::pipelines {
namespace {

runtime::Head logits(const Model::State&) { return outputs_of_head({"logits"}); }

constexpr TaskHead kClassify = {
    .entry_point = "classify",
    .class_end = kSequenceClassification,
    .word_head = "",
    .labels = "",
    .noun = "a classifier",
    .usual = "a classifier, such as distilbert/distilbert-base-uncased-finetuned-sst-2-english",
    .head = logits};
constexpr TaskHead kRecognize = {
    .entry_point = "recognize",
    .class_end = kTokenClassification,
    .word_head = models::kGlinerHead,
    .labels = "",
    .noun = "a recognizer",
    .usual =
        "a model for token classification, such as builtin:pii or dslim/bert-base-NER, or a GLiNER or GLiNER2 model",
    .head = logits};
constexpr TaskHead kAnswer = {.entry_point = "answer",
                              .class_end = kQuestionAnswering,
                              .word_head = "",
                              .labels = "",
                              .noun = "a model for question answering",
                              .usual = "one such as deepset/roberta-base-squad2",
                              .head = [](const Model::State&) {
                                return outputs_of_head({"start_logits", "end_logits"});
                              }};
constexpr TaskHead kFill = {.entry_point = "fill",
                            .class_end = kMaskedLanguage,
                            .word_head = "",
                            .labels = "",
                            .noun = "a masked language model",
                            .usual = "one such as FacebookAI/roberta-base",
                            .head = [](const Model::State&) -> runtime::Head {
                              return [](graph::Builder& b, const models::EncoderInputs&,
                                        const models::BuiltEncoder& built) {
                                b.output("last_hidden_state", built.last_hidden_state);
                              };
                            },
                            .choice = models::HeadChoice::none};
constexpr TaskHead kExtract = {.entry_point = "extract",
                               .class_end = models::kExtractorHead,
                               .word_head = "",
                               .labels = "",
                               .noun = "an extractor",
                               .usual = "a GLiNER2 model, such as fastino/gliner2-base-v1",
                               .head = [](const Model::State&) {
                                 return outputs_of_head({"span_logits", "mark_logits"});
                               }};
constexpr TaskHead kRerank = {.entry_point = "rerank",
                              .class_end = kSequenceClassification,
                              .word_head = "",
                              .labels = " with one label or two",
                              .noun = "a reranker",
                              .usual = "a cross-encoder, such as cross-encoder/ms-marco-MiniLM-L6-v2",
                              .head = rerank_head};

const graph::Value& output_named(const models::BuiltEncoder& built, std::string_view name) {
  const auto found = std::ranges::find(built.outputs, name, &models::EncoderOutput::name);
  if (found == built.outputs.end())
    throw make_error(ErrorCode::internal, "the model's head has no output '", name, "'");
  return found->value;
}

// A GLiNER2 model recognizes the entities of a schema.
bool finds_labels_by_schema(const Model::State& model, Task task) {
  return task == Task::recognize && models::is_extractor(model.config);
}

runtime::Head first_instances() { return outputs_of_head({"first_span_logits", "mark_logits"}); }

}  // namespace

const TaskHead& task_head(Task task) {
  switch (task) {
    case Task::rerank: return kRerank;
    case Task::classify: return kClassify;
    case Task::recognize: return kRecognize;
    case Task::answer: return kAnswer;
    case Task::fill: return kFill;
    case Task::extract: return kExtract;
    case Task::embed:
    case Task::generate: break;
  }
  throw Error(ErrorCode::internal, "no head computes this task");
}

runtime::Head outputs_of_head(std::initializer_list<std::string_view> names) {
  return [wanted = std::vector<std::string>(names.begin(), names.end())](
             graph::Builder& b, const models::EncoderInputs&, const models::BuiltEncoder& built) {
    for (const std::string& name : wanted) b.output(name, output_named(built, name));
  };
}

void require_task(const Model::State& model, Task task) {
  const TaskHead& head = task_head(task);
  const models::Architecture* known = model.form->architecture();
  const std::string name = class_of(model);
  if (known != nullptr && name.ends_with(head.class_end)) return;
  if (known != nullptr && !head.word_head.empty() && name.ends_with(head.word_head)) return;
  if (known != nullptr && finds_labels_by_schema(model, task)) return;
  throw make_error(
      ErrorCode::unsupported, "the model '", runtime::shown_name(model.folder), "' is not ", head.noun, ": ",
      known == nullptr        ? "it is executed as it is, and only a folder with weights can be one so far"
      : task == Task::extract ? "its config.json must have the model_type " + std::string(models::kExtractorType)
                              : "its config.json must name a class " + std::string(known->class_name) +
                                    std::string(head.class_end) + std::string(head.labels),
      "; use ", head.usual, ": ", name);
}

std::shared_ptr<const runtime::EntryPoint> task_entry_point(const Model::State& model, Task task) {
  require_task(model, task);
  if (finds_labels_by_schema(model, task)) return extract_entry_point(model, true);
  const TaskHead& head = task_head(task);
  return model.entry_point(head.entry_point, head.head(model), head.choice);
}

std::shared_ptr<const runtime::EntryPoint> extract_entry_point(const Model::State& model, bool first_only) {
  if (!first_only) return task_entry_point(model, Task::extract);
  require_task(model, Task::extract);
  return model.entry_point("extract first", first_instances(), models::HeadChoice::of_folder);
}

std::shared_ptr<const runtime::HeadProgram> vocabulary_head(const Model::State& model) {
  return model.head_program("fill",
                            [](graph::Builder& b, const models::EncoderInputs&, const models::BuiltEncoder& built) {
                              b.output("probabilities", b.softmax({output_named(built, "logits")}, {.axis = 1}));
                            });
}

void compile_task(const Model::State& model, Task task) {
  task_entry_point(model, task);
  if (task == Task::fill) vocabulary_head(model);
}

void check_task(const Model::State& model, Task task) {
  require_task(model, task);
  if (finds_labels_by_schema(model, task)) return model.check(first_instances(), models::HeadChoice::of_folder);
  model.check(task_head(task).head(model), task_head(task).choice);
}

}  // namespace alate::pipelines
