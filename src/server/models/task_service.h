// Tasks over texts for all API families: pipelines::TaskRun as a request of the server.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipelines/calls/task_run.h"
#include "pipelines/calls/text_model.h"
#include "pipelines/task_pipelines.h"
#include "server/exchange/route.h"
#include "server/models/model_call.h"

namespace alate::server {

struct TaskRequest : ModelRequest {
  std::vector<std::string> texts;
  std::size_t other_inputs = 0;  // that the run has itself, in place of texts: rows of token ids
  std::size_t rows_of_text = 1;  // that the task makes at least: labels, for one
  std::size_t text_bytes = 0;    // that are tokenized with each text, besides its own
  bool per_item = false;         // a text that is too long has an error of its own, and fails no other
  bool quotes_texts = true;      // the answer needs the texts; else they are dropped once they have been tokenized
  // The answer is arithmetic on the model's numbers; of other tasks a model's files decide how long it takes.
  bool is_quick_to_answer = false;
  /// Refuses what has been prepared, before it is computed; empty: nothing is refused.
  std::function<void(const pipelines::TaskRun& run)> check = {};
};

struct TaskAnswer : ModelAnswer {
  /// The error in place of an answer, as JSON; nothing for a text that has an answer.
  std::optional<std::string> error_of(std::size_t text) const;

  std::unique_ptr<pipelines::TaskRun> run;
};

/// The run of one request over its texts. May throw as a pipeline's load: unsupported for a model of another task.
using BeginTask = std::function<std::unique_ptr<pipelines::TaskRun>(const pipelines::TextModel& model,
                                                                    std::vector<std::string_view> texts)>;

/// The same, of a model with the pipelines of its tasks.
using BeginTaskOfPipelines = std::function<std::unique_ptr<pipelines::TaskRun>(
    const pipelines::TaskPipelines& pipelines, std::vector<std::string_view> texts)>;

/// Runs the task and answers with the result of `format`, plus X-Model-Fingerprint; errors get the format of the call's
/// family: Problem::impossible for a model of another task. `format` may run on any thread and may throw like a route's
/// handler. Its response must not hold the model, which could otherwise not be unloaded until the client has read it.
/// The texts live as long as `format` runs, if the answer quotes them.
void run_task(Call& call, TaskRequest request, BeginTask begin, std::function<Response(TaskAnswer&)> format);
void run_task(Call& call, TaskRequest request, BeginTaskOfPipelines begin, std::function<Response(TaskAnswer&)> format);

}  // namespace alate::server
