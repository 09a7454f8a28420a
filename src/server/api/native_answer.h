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
#include "pipelines/answer_json.h"
#include "server/http/http_message.h"
#include "server/models/model_call.h"
#include "server/models/task_service.h"
#include "server/schema/joined.h"

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

/// Schemas of these members, each with a comma behind it.
inline constexpr std::string_view kModelMembers = R"(
    "model": {"type": "string", "minLength": 1, "nullable": false, "description": "A name of /api/models; the default model if absent."},
    "backend": {"type": "string", "maxLength": 64, "description": "Where to compute, NAME or NAME:DEVICE (see /debug/backends); as the server is set up if absent."},
    "keep_alive": {"anyOf": [{"type": "number"},
        {"type": "string", "pattern": "^[+-]?([0-9]{1,5}([.][0-9]+)?|([0-9]{1,5}([.][0-9]+)?(ns|us|ms|s|m|h)){1,3})$"}],
      "description": "How long the model stays: seconds, or text such as \"5m\"; 0 unloads, below 0 is as long as the server allows. From clients that are no administrators only a longer time than the model has counts (X-Keep-Alive-Ignored)."},)";
inline constexpr std::string_view kTextMembers = R"(
    "texts": {"type": "array", "items": {"type": "string"}, "description": "An empty list loads the model, or unloads it where keep_alive is 0."},)";
inline constexpr std::string_view kLongTextMembers = R"(
    "long": {"type": "string", "enum": ["error", "cut", "cut-left", "windows"],
      "description": "What is done with a text that has more tokens than the model reads at once."},
    "stride": {"type": "integer", "minimum": 0, "maximum": 1048576,
      "description": "Tokens that a window shares with the one before it; a quarter of a window if absent."},
    "truncate": {"type": "boolean", "default": true, "description": "false is the same as long: error."},
    "on_error": {"type": "string", "enum": ["fail", "per_item"], "default": "fail",
      "description": "per_item: a text that cannot be answered has {\"error\": {\"code\", \"message\"}} in its place, and the others are answered."},)";
inline constexpr std::string_view kTaskMembers = kJoined<kModelMembers, kTextMembers, kLongTextMembers>;

/// The members that end every answer.
inline constexpr std::string_view kFactMembers = R"(
    "model": {"type": "string"},
    "total_duration": {"type": "integer", "description": "In nanoseconds."},
    "load_duration": {"type": "integer", "description": "In nanoseconds; 0 where the model was loaded already."},
    "prompt_eval_count": {"type": "integer", "description": "Tokens, special ones included."},
    "truncated": {"type": "array", "items": {"type": "integer"},
      "description": "The indices of texts that were cut; absent when none was."})";

/// The answer of a text that has none, with on_error per_item.
inline constexpr std::string_view kItemError = R"({"type": "object", "required": ["error"], "properties": {
        "error": {"type": "object", "required": ["code", "message"],
          "properties": {"code": {"type": "string"}, "message": {"type": "string"}}}}})";

}  // namespace alate::server
