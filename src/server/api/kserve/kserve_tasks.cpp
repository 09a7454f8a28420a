#include "server/api/kserve/kserve_tasks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/answer.h"
#include "alate/classify.h"
#include "alate/embedding_kinds.h"
#include "alate/error.h"
#include "alate/extract.h"
#include "alate/recognize.h"
#include "alate/redact.h"
#include "pipelines/answer/answer_run.h"
#include "pipelines/answer/answers_json.h"
#include "pipelines/classify/classify_run.h"
#include "pipelines/extract/extract_run.h"
#include "pipelines/extract/extraction_json.h"
#include "pipelines/recognize/entities_json.h"
#include "pipelines/recognize/recognize_run.h"
#include "pipelines/redact/redact_run.h"
#include "pipelines/tasks/tasks.h"
#include "server/api/background.h"
#include "server/api/kserve/kserve_metadata.h"
#include "server/api/kserve/kserve_response.h"
#include "server/api/vector_types.h"
#include "server/exchange/refuse.h"
#include "server/models/embed_task.h"
#include "server/models/rerank_service.h"
#include "server/models/services.h"
#include "server/models/task_service.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::Task;

constexpr std::string_view kRedact = "redact";  // is no task of a model's own

[[noreturn]] void invalid(std::string message, std::string parameter) {
  refuse(Problem::Kind::invalid, std::move(message), std::move(parameter));
}

void require_inputs(const InferRequest& request, std::initializer_list<std::string_view> known) {
  for (const InferTensor& input : request.inputs) {
    if (std::ranges::find(known, input.name) != known.end()) continue;
    std::string names;
    for (const std::string_view name : known) names += (names.empty() ? "" : " and ") + std::string(name);
    invalid("this task has no input " + formats::quoted_name(input.name) + " beside text; it reads " + names, "inputs");
  }
}

/// The elements of an input [n] or [n, 1].
std::vector<std::string> take_texts(InferRequest& request, std::string_view name) {
  const auto found = std::ranges::find(request.inputs, name, &InferTensor::name);
  if (found == request.inputs.end()) invalid("there is no input " + std::string(name), "inputs");
  if (!found->holds_texts()) invalid("the input " + found->name + " must have the datatype BYTES", "inputs");
  const std::vector<std::int64_t>& shape = found->shape;
  if (shape.empty() || shape.size() > 2 || (shape.size() == 2 && shape[1] != 1))
    invalid("the input " + found->name + " must have the shape [n] or [n, 1]", "inputs");
  return std::move(found->texts);
}

std::string take_one(InferRequest& request, std::string_view name) {
  std::vector<std::string> given = take_texts(request, name);
  if (given.size() == 1) return std::move(given.front());
  invalid("the input " + std::string(name) + " has " + std::to_string(given.size()) + " texts; it must be one",
          "inputs");
}

bool flag(const InferRequest& request, std::string_view name, bool otherwise) {
  const Json* value = request.parameters.find_value(name);
  if (value == nullptr) return otherwise;
  if (!value->is_bool()) invalid("parameters." + std::string(name) + " must be true or false", "parameters");
  return value->as_bool(name);
}

std::string text_parameter(const InferRequest& request, std::string_view name) {
  const Json* value = request.parameters.find_value(name);
  if (value == nullptr) return {};
  if (!value->is_string()) invalid("parameters." + std::string(name) + " must be a text", "parameters");
  return value->as_string(name);
}

void read_request(InferRequest& infer, const std::string& model, ModelRequest& request) {
  request.model = model;
  request.backend = text_parameter(infer, "backend");
  request.parameter = "text";
  request.truncate = flag(infer, "truncate", true);
}

LongTextOptions long_texts(const ModelRequest& request) {
  return {.treatment = request.truncate ? std::nullopt : std::optional(LongTexts::error)};
}

/// What an answer takes of its request.
struct AnswerForm {
  std::string model;
  std::optional<std::string> id;
  std::vector<InferOutput> outputs;
};

AnswerForm form_of(const InferRequest& request, const std::string& model, const std::vector<std::string>& available) {
  return {.model = model, .id = request.id, .outputs = request.chosen_outputs(available)};
}

InferResult numbers(std::vector<std::int64_t> shape, std::vector<float> values) {
  const auto kept = std::make_shared<const std::vector<float>>(std::move(values));
  return {.name = "", .shape = std::move(shape), .values = *kept, .owner = kept};
}

InferResult texts(std::vector<std::int64_t> shape, std::vector<std::string> values) {
  return {.name = "",
          .shape = std::move(shape),
          .values = {},
          .texts = std::make_shared<const std::vector<std::string>>(std::move(values))};
}

/// `make` gives the tensor of an output's name.
template <typename Make>
Response respond(const AnswerForm& form, const ModelAnswer& answer, const Make& make) {
  std::vector<InferResult> results;
  for (const InferOutput& output : form.outputs) {
    InferResult result = make(output.name);
    result.name = output.name;
    result.binary = output.binary;
    if (!result.binary) check_json_numbers(result.values.size());
    results.push_back(std::move(result));
  }
  Json parameters;
  if (!answer.truncated.empty()) parameters = Json::Object{{"truncated", std::uint64_t{answer.truncated.size()}}};
  return infer_response(form.model, form.id, results, parameters);
}

std::int64_t extent(std::size_t count) { return static_cast<std::int64_t>(count); }

InferResult embedding_tensor(EmbedAnswer& answer, const std::string& name) {
  if (name == kSentenceEmbedding)
    return numbers({extent(answer.rows), extent(answer.dimensions)}, std::move(answer.vectors));
  std::vector<std::string> lists;
  for (const SparseEmbedding& one : answer.sparse) append_sparse(lists.emplace_back(), one);
  const std::int64_t count = extent(lists.size());
  return texts({count}, std::move(lists));
}

// `usual` are the kinds where no outputs are named.
void embed_texts(Call& call, const std::string& model, InferRequest infer, EmbeddingKinds usual) {
  require_inputs(infer, {"text"});
  EmbedRequest request;
  read_request(infer, model, request);
  request.texts = take_texts(infer, "text");
  std::vector<std::string> available;
  for (const EmbeddingKind kind : {EmbeddingKind::dense, EmbeddingKind::sparse}) {
    if (!infer.outputs.empty() || usual.has(kind))
      available.emplace_back(kind == EmbeddingKind::dense ? kSentenceEmbedding : kSparseEmbedding);
  }
  AnswerForm form = form_of(infer, model, available);
  request.kinds = {};
  for (const InferOutput& output : form.outputs)
    request.kinds.add(output.name == kSentenceEmbedding ? EmbeddingKind::dense : EmbeddingKind::sparse);
  embed(call, std::move(request), [form = std::move(form)](EmbedAnswer answer) {
    return respond(form, answer, [&](const std::string& name) { return embedding_tensor(answer, name); });
  });
}

void rerank_texts(Call& call, const std::string& model, InferRequest infer) {
  require_inputs(infer, {"text", "query"});
  RerankRequest request;
  read_request(infer, model, request);
  request.texts = take_texts(infer, "text");
  request.query = take_one(infer, "query");
  request.options.raw_scores = flag(infer, "raw_scores", false);
  rerank(call, std::move(request), [form = form_of(infer, model, {"scores"})](const RerankAnswer& answer) {
    return respond(form, answer.task,
                   [&](const std::string&) { return numbers({extent(answer.scores.size())}, answer.scores); });
  });
}

InferResult label_tensor(const std::vector<std::vector<LabelScore>>& answers, const std::string& name) {
  std::vector<std::int64_t> shape = {extent(answers.size()), answers.empty() ? 0 : extent(answers.front().size())};
  std::vector<float> scores;
  std::vector<std::string> labels;
  for (const std::vector<LabelScore>& answer : answers) {
    for (const LabelScore& one : answer) {
      if (name == "scores") scores.push_back(one.score);
      if (name == "labels") labels.push_back(one.label);
    }
  }
  return name == "scores" ? numbers(std::move(shape), std::move(scores)) : texts(std::move(shape), std::move(labels));
}

void classify_texts(Call& call, const std::string& model, InferRequest infer) {
  require_inputs(infer, {"text", "labels"});
  TaskRequest request;
  read_request(infer, model, request);
  request.texts = take_texts(infer, "text");
  ClassifyOptions options{.raw_scores = flag(infer, "raw_scores", false), .long_texts = long_texts(request)};
  if (infer.input("labels") != nullptr) options.labels = take_texts(infer, "labels");
  if (infer.parameters.find_value("multi_label") != nullptr) options.multi_label = flag(infer, "multi_label", false);
  request.rows_of_text = std::max<std::size_t>(options.labels.size(), 1);
  for (const std::string& label : options.labels)
    request.text_bytes += label.size() + options.hypothesis_template.size();
  run_task(
      call, std::move(request),
      [options](const pipelines::TextModel& text_model, std::vector<std::string_view> given) {
        return std::make_unique<pipelines::ClassifyRun>(pipelines::classifier_of(text_model),
                                                        std::vector<EncodeInput>(given.begin(), given.end()), options);
      },
      [form = form_of(infer, model, {"labels", "scores"})](TaskAnswer& answer) {
        const auto& answers = static_cast<pipelines::ClassifyRun&>(*answer.run).answers();
        return respond(form, answer, [&](const std::string& name) { return label_tensor(answers, name); });
      });
}

InferResult entity_tensor(const std::vector<std::vector<Entity>>& entities) {
  std::vector<std::string> lists;
  for (const std::vector<Entity>& found : entities) lists.push_back(pipelines::entities_json(found));
  const std::int64_t count = extent(lists.size());
  return texts({count}, std::move(lists));
}

// What a GLiNER model looks for, and reads with each text; of other models the labels of the answer.
void take_labels(InferRequest& infer, RecognizeOptions& options, TaskRequest& request) {
  if (infer.input("labels") == nullptr) return;
  options.labels = take_texts(infer, "labels");
  for (const std::string& label : options.labels) request.text_bytes += label.size();
}

void recognize_texts(Call& call, const std::string& model, InferRequest infer) {
  require_inputs(infer, {"text", "labels"});
  TaskRequest request;
  read_request(infer, model, request);
  request.texts = take_texts(infer, "text");
  RecognizeOptions options{.long_texts = long_texts(request)};
  take_labels(infer, options, request);
  run_task(
      call, std::move(request),
      [options](const pipelines::TextModel& text_model, std::vector<std::string_view> given) {
        return std::make_unique<pipelines::RecognizeRun>(pipelines::recognizer_of(text_model), std::move(given),
                                                         options);
      },
      [form = form_of(infer, model, {"entities"})](TaskAnswer& answer) {
        auto& run = static_cast<pipelines::RecognizeRun&>(*answer.run);
        return respond(form, answer, [&](const std::string&) { return entity_tensor(run.entities()); });
      });
}

void redact_texts(Call& call, const std::string& model, InferRequest infer) {
  require_inputs(infer, {"text", "labels"});
  TaskRequest request;
  read_request(infer, model, request);
  request.texts = take_texts(infer, "text");
  RecognizeOptions options{.long_texts = long_texts(request)};
  take_labels(infer, options, request);
  run_task(
      call, std::move(request),
      [options, pseudonyms = flag(infer, "pseudonyms", false)](const pipelines::TextModel& text_model,
                                                               std::vector<std::string_view> given) {
        return std::make_unique<pipelines::RedactRun>(pipelines::recognizer_of(text_model), std::move(given), options,
                                                      std::make_shared<Redactor>(pseudonyms));
      },
      [form = form_of(infer, model, {"redacted_text", "entities"})](TaskAnswer& answer) {
        auto& run = static_cast<pipelines::RedactRun&>(*answer.run);
        return respond(form, answer, [&](const std::string& name) {
          return name == "entities" ? entity_tensor(run.entities()) : texts({extent(run.size())}, run.texts());
        });
      });
}

void answer_question(Call& call, const std::string& model, InferRequest infer) {
  require_inputs(infer, {"text", "question"});
  TaskRequest request;
  read_request(infer, model, request);
  request.texts = take_texts(infer, "text");
  const std::string question = take_one(infer, "question");
  request.text_bytes = question.size();
  const AnswerOptions options{.long_texts = long_texts(request)};
  run_task(
      call, std::move(request),
      [question, options](const pipelines::TextModel& text_model, std::vector<std::string_view> given) {
        return std::make_unique<pipelines::AnswerRun>(pipelines::answerer_of(text_model), question, std::move(given),
                                                      options);
      },
      [form = form_of(infer, model, {"answers"})](TaskAnswer& answer) {
        std::vector<std::string> lists;
        for (const auto& answers : static_cast<pipelines::AnswerRun&>(*answer.run).answers())
          lists.push_back(pipelines::answers_json(answers));
        return respond(form, answer, [&](const std::string&) { return texts({extent(lists.size())}, lists); });
      });
}

ExtractSchema schema_of(const std::string& json) {
  try {
    return ExtractSchema::parse(json);
  } catch (const Error& error) {
    invalid(error.message(), "inputs");
  }
}

void extract_by_schema(Call& call, const std::string& model, InferRequest infer) {
  require_inputs(infer, {"text", "schema"});
  TaskRequest request;
  read_request(infer, model, request);
  request.texts = take_texts(infer, "text");
  const std::string json = take_one(infer, "schema");
  request.text_bytes = json.size();
  const ExtractSchema schema = schema_of(json);
  const ExtractOptions options{.long_texts = long_texts(request)};
  const pipelines::ExtractionForm written{.confidence = flag(infer, "include_confidence", false),
                                          .spans = flag(infer, "include_spans", false)};
  run_task(
      call, std::move(request),
      [schema, options](const pipelines::TextModel& text_model, std::vector<std::string_view> given) {
        return std::make_unique<pipelines::ExtractRun>(pipelines::extractor_of(text_model), std::move(given), schema,
                                                       options);
      },
      [form = form_of(infer, model, {"results"}), written](TaskAnswer& answer) {
        std::vector<std::string> results;
        for (const Extraction& each : static_cast<pipelines::ExtractRun&>(*answer.run).extractions())
          results.push_back(pipelines::extraction_json(each, written));
        return respond(form, answer, [&](const std::string&) { return texts({extent(results.size())}, results); });
      });
}

void run_named(Call& call, const std::string& model, std::string_view task, InferRequest infer) {
  if (task == pipelines::to_string(Task::rerank)) return rerank_texts(call, model, std::move(infer));
  if (task == pipelines::to_string(Task::classify)) return classify_texts(call, model, std::move(infer));
  if (task == pipelines::to_string(Task::recognize)) return recognize_texts(call, model, std::move(infer));
  if (task == pipelines::to_string(Task::answer)) return answer_question(call, model, std::move(infer));
  if (task == pipelines::to_string(Task::extract)) return extract_by_schema(call, model, std::move(infer));
  if (task == kRedact) return redact_texts(call, model, std::move(infer));
  invalid("parameters.task is " + formats::quoted_name(task) +
              "; texts go through embed, rerank, classify, recognize, redact, answer and extract",
          "parameters");
}

}  // namespace

void kserve_task(Call& call, const std::string& model, InferRequest request) {
  const std::string named = text_parameter(request, "task");
  if (named.empty() && request.input("query") != nullptr) return rerank_texts(call, model, std::move(request));
  if (!named.empty() && named != pipelines::to_string(Task::embed))
    return run_named(call, model, named, std::move(request));
  call.body = Json::Object{{"backend", text_parameter(request, "backend")}};
  const auto held = std::make_shared<InferRequest>(std::move(request));
  go_on_with_model(call, model, [model, named, held](Call& with_model, const HostedModel& hosted) {
    const Task task = named.empty() ? usual_task(hosted.pipelines) : Task::embed;
    if (task == Task::rerank)
      refuse(Problem::Kind::impossible,
             "the model is a reranker, and reads an input query, of one text, beside the input text", "inputs");
    if (task == Task::embed) return embed_texts(with_model, model, std::move(*held), usual_kinds(hosted.pipelines));
    run_named(with_model, model, pipelines::to_string(task), std::move(*held));
  });
}

}  // namespace alate::server
