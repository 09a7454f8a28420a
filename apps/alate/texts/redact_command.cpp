// alate redact
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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
#include "base/log.h"
#include "folders/builtin_models.h"
#include "folders/hub_models.h"
#include "folders/model_reference.h"
#include "pipelines/recognize/entities_json.h"
#include "pipelines/redact/redact_run.h"

namespace alate::app {
namespace {

using pipelines::RedactRun;

RedactRun& run_of(const AnsweredText& answered) { return static_cast<RedactRun&>(answered.run); }

// Of names and paths of models, whether or not there are such.
constexpr std::array<std::string_view, 6> kPrefixes = {
    folders::kBuiltinPrefix, folders::kHubPrefix, "./", "../", "/", "~/"};

bool is_found(const CommonOptions& options, const std::string& reference) {
  try {
    (void)find_model(options, reference);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Whether the first argument is a model: a folder or file, "builtin:NAME", "owner/name", or a name that there is. A
// word or a sentence is a text.
bool is_model(const CommonOptions& options, const std::string& argument) {
  std::error_code ignored;
  if (std::filesystem::exists(argument, ignored)) return true;
  if (argument.find_first_of(" \t\r\n") != std::string::npos) return false;
  const auto begins = [&](std::string_view prefix) { return argument.starts_with(prefix); };
  if (std::ranges::any_of(kPrefixes, begins)) return true;
  const bool is_name_with_owner = std::ranges::count(argument, '/') == 1 && folders::is_model_name(argument);
  return is_name_with_owner || is_found(options, argument);
}

// Without --model the first argument may be the model, as of other verbs.
void choose_model(TaskArguments& given, const std::optional<std::string>& named) {
  std::vector<std::string>& texts = given.input.arguments;
  const bool is_text = !given.model.empty() && (named || !is_model(given.common, given.model));
  if (is_text) texts.insert(texts.begin(), std::exchange(given.model, {}));
  if (named) given.model = *named;
  if (given.model.empty()) {
    given.model = folders::kBuiltinRecognizer;
  } else if (!named) {
    try {
      (void)find_model(given.common, given.model);
    } catch (const Error& error) {
      throw Error(error.code(), error.message() + "; if it is a text, name the model: --model " +
                                    std::string(folders::kBuiltinRecognizer));
    }
  }
}

// Nothing else tells a reader of the result that it is not all.
void warn_of_gaps(std::string_view model) {
  if (folders::split_variant(model).model != folders::kBuiltinRecognizer) return;
  base::log(base::LogLevel::warn, "the model overlooks personal data",
            {{"model", std::string(model)}, {"documentation", "docs/recognition.md"}},
            "builtin:pii finds names, addresses, phone numbers and the like in English text, and overlooks some, mail "
            "addresses and IBANs too; it does not look for IP addresses, card numbers, passwords or keys: read the "
            "result before you pass it on (--quiet: without this note)");
}

}  // namespace

void run_redact(Arguments& arguments) {
  TaskArguments given;
  RecognizeOptions recognize;
  bool pseudonyms = false;
  std::optional<std::string> model;
  declare_inputs(arguments, given, true);
  arguments.option("--model", "MODEL", "the model; all arguments are then texts", model);
  declare(arguments, recognize);
  arguments.flag("--pseudonyms", "number labels: the same text has the same number in all texts", pseudonyms);
  declare_options(arguments, given);
  if (!arguments.parse()) return;
  recognize.long_texts = given.long_texts;
  pipelines::check_redaction(recognize);
  choose_model(given, model);
  const auto redactor = std::make_shared<Redactor>(pseudonyms);
  const auto on = [&](const pipelines::TextModel& model) -> TaskVerb::Begin {
    warn_of_gaps(given.model);
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
