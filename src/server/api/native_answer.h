// Parts that the bodies and answers of native routes over texts share.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/long_texts.h"
#include "formats/json.h"
#include "pipelines/calls/answer_json.h"
#include "server/exchange/http_message.h"
#include "server/models/model_call.h"
#include "server/models/task_service.h"

namespace alate::server {

/// `model` is the name given in the request; empty: the model's own. The result refers to both.
pipelines::AnswerFacts answer_facts(const ModelAnswer& answer, std::string_view model);

/// A list of the answer of a task: what `append` writes of each text, as JSON, or the error of one that has none. It is
/// called while the answer is sent, and owns what it reads: the run, which holds the model, is gone by then.
struct TaskList {
  std::string_view name;
  std::function<void(std::string& out, std::size_t text)> append;
};

/// The answer of a task with these lists.
Response task_response(const TaskAnswer& answer, std::string_view model, std::vector<TaskList> lists);

/// Reads what the bodies of all tasks have: model, keep_alive, on_error.
void read_task_members(const formats::Json& body, TaskRequest& request);
/// The same with the texts. Throws RequestError for a body without texts.
void read_task_request(const formats::Json& body, TaskRequest& request);
/// "long", "stride" and, for the treatment error, "truncate": false.
LongTextOptions read_long_texts(const formats::Json& body);

}  // namespace alate::server
