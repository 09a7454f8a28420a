// Verbs of tasks over texts: pipelines::TaskRun over any number of them.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "alate/long_texts.h"
#include "alate/model.h"
#include "apps/alate/arguments.h"
#include "apps/alate/common_options.h"
#include "apps/alate/texts/big_job.h"
#include "apps/alate/texts/text_source.h"
#include "pipelines/calls/task_run.h"
#include "pipelines/calls/text_model.h"

namespace alate::app {

/// What all these verbs take.
struct TaskArguments {
  std::string model;
  TextInput input = {};
  LongTextOptions long_texts = {};
  BigJobOptions job = {};
  CommonOptions common = {};
};
/// MODEL, which must be given unless it is optional, and the texts; declare the verb's own options after it.
void declare_inputs(Arguments& arguments, TaskArguments& given, bool is_optional = false);
/// --long, --stride, those of big jobs and the shared ones; declare them last.
void declare_options(Arguments& arguments, TaskArguments& given);

/// The formats that declare_options offers.
inline constexpr std::initializer_list<OutputFormat> kTaskFormats = {OutputFormat::text, OutputFormat::json,
                                                                     OutputFormat::jsonl, OutputFormat::csv};

/// The error of a job that a text ends: `index` in the job, from 0; `excess` as TaskRun::excess.
Error too_long_error(std::size_t index, const std::string& excess);
/// {"error": {"code": …, "message": …}}, in place of the answer of a text that has none.
std::string refusal_json(const std::string& message);

/// What answers depend on.
void add(FingerprintBuilder& identity, const LongTextOptions& options);

/// A text with its answer.
struct AnsweredText {
  pipelines::TaskRun& run;
  std::size_t index;  // in the run
  std::string_view text;
  std::size_t number = 0;  // in the whole job, from 0
};

/// What a task adds.
struct TaskVerb {
  using Begin = std::function<std::unique_ptr<pipelines::TaskRun>(std::vector<std::string_view> texts)>;
  using Write = std::function<std::string(const AnsweredText& answered)>;

  std::string_view name;                                            // "classify"
  std::string_view items;                                           // of answers in JSON: "classifications"
  pipelines::Task task = {};                                        // that the model is loaded for
  std::function<Begin(const pipelines::TextModel& model)> on = {};  // its runs on a loaded model
  std::function<void(FingerprintBuilder& identity)> identity = {};  // adds the options that answers depend on
  // Why a text has no answer, though it is not too long: " has no mask"; empty where it has one. Absent: all have.
  Write refusal = {};
  Write json = {};   // the answer as one JSON value
  Write lines = {};  // as lines for people
  Write csv = {};    // as lines of csv
  std::string_view csv_head = {};
  // Of tasks that change texts: the text in lines of jsonl, in place of the one that was given, and the name of the
  // list that json has of them.
  std::function<std::string(const AnsweredText& answered)> changed_text = {};
  std::string_view changed_texts = {};
  std::string_view not_resumable = {};  // why a job cannot be continued, and what can; empty: it can
};

/// After the arguments have been parsed. Texts that are too long, where that is an error, and those that the verb
/// refuses end the job; with --on-error skip they have an error in their place, and a warning says how many they are.
void run_task_verb(Arguments& arguments, TaskArguments& given, const TaskVerb& verb);

}  // namespace alate::app
