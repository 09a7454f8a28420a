// alate redact
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/redact.h"
#include "apps/alate/field_text.h"
#include "apps/alate/texts/recognize_options.h"
#include "apps/alate/texts/task_verb.h"
#include "apps/alate/verb.h"
#include "hub/builtin_models.h"
#include "pipelines/recognize/entities_json.h"
#include "pipelines/redact/redact_run.h"

namespace alate::app {
namespace {

using pipelines::RedactRun;

RedactRun& run_of(const AnsweredText& answered) { return static_cast<RedactRun&>(answered.run); }

// Names of models have no spaces, and paths rarely do.
bool is_text(const std::string& argument) {
  std::error_code error;
  return argument.find_first_of(" \t\n") != std::string::npos && !std::filesystem::exists(argument, error);
}

// The first argument is a model, unless it can only be a text.
void choose_model(TaskArguments& given) {
  if (is_text(given.model)) given.input.arguments.insert(given.input.arguments.begin(), std::exchange(given.model, {}));
  if (given.model.empty()) given.model = hub::kBuiltinRecognizer;
}

}  // namespace

void run_redact(Arguments& arguments) {
  TaskArguments given;
  RecognizeOptions recognize = RedactOptions().recognize;
  bool pseudonyms = false;
  declare_inputs(arguments, given, true);
  declare(arguments, recognize);
  arguments.flag("--pseudonyms", "number labels: the same text has the same number in all texts", pseudonyms);
  declare_options(arguments, given);
  if (!arguments.parse()) return;
  recognize.long_texts = given.long_texts;
  pipelines::check_redaction(recognize);
  choose_model(given);
  const auto redactor = std::make_shared<Redactor>(pseudonyms);
  const auto on = [&](const pipelines::TextModel& model) -> TaskVerb::Begin {
    return [pipeline = pipelines::recognizer_of(model), recognize, redactor](std::vector<std::string_view> texts) {
      return std::make_unique<RedactRun>(pipeline, std::move(texts), recognize, redactor);
    };
  };
  const auto redacted = [](const AnsweredText& answered) { return run_of(answered).texts()[answered.index]; };
  run_task_verb(
      arguments, given,
      {.name = "redact",
       .items = "entities",
       .task = pipelines::Task::recognize,
       .on = on,
       .identity =
           [&](FingerprintBuilder& identity) {
             add(identity, recognize);
             identity.add(std::uint64_t{pseudonyms});
           },
       .json =
           [](const AnsweredText& answered) {
             return pipelines::entities_json(run_of(answered).entities()[answered.index]);
           },
       .lines = [&](const AnsweredText& answered) { return on_one_line(redacted(answered)) + '\n'; },
       .csv =
           [&](const AnsweredText& answered) {
             return std::to_string(answered.number) + ',' + csv_field(redacted(answered)) + '\n';
           },
       .csv_head = "index,text\n",
       .changed_text = redacted,
       .changed_texts = "texts",
       .not_resumable = pseudonyms ? "the numbers of pseudonyms are those of one run; leave out --pseudonyms" : ""});
}

}  // namespace alate::app
