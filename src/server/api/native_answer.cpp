#include "server/api/native_answer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "server/api/native.h"
#include "server/exchange/itemized_body.h"
#include "server/exchange/refuse.h"

namespace alate::server {

pipelines::AnswerFacts answer_facts(const ModelAnswer& answer, std::string_view model) {
  return {.model = model.empty() ? std::string_view(answer.model->name) : model,
          .total_ns = answer.total.count(),
          .load_ns = answer.load.count(),
          .tokens = answer.tokens,
          .truncated = answer.truncated};
}

Response task_response(const TaskAnswer& answer, std::string_view model, std::vector<TaskList> lists) {
  const std::size_t count = answer.run->size();
  ItemizedBody body;
  body.hold(answer.run->answer_bytes());
  body.add_text(pipelines::begin_answer(answer_facts(answer, model).model));
  for (TaskList& list : lists) {
    body.add_text(",\"" + std::string(list.name) + "\":[");
    const std::vector<std::size_t>& failed = answer.run->too_long();
    const std::string error = failed.empty() ? std::string() : answer.error_of(failed.front()).value();
    body.add_list(count, [append = std::move(list.append), failed, error](std::string& out, std::size_t text) {
      if (std::ranges::binary_search(failed, text)) {
        out += error;
      } else {
        append(out, text);
      }
    });
    body.add_text("]");
  }
  std::string end;
  pipelines::finish_answer(end, answer_facts(answer, model));
  body.add_text(std::move(end));
  return itemized_response(std::move(body));
}

void read_task_members(const formats::Json& body, TaskRequest& request) {
  request.model = body.get_string("model", "");
  request.keep_alive = read_keep_alive(body);
  request.per_item = body.get_string("on_error", "fail") == "per_item";
}

void read_task_request(const formats::Json& body, TaskRequest& request) {
  read_task_members(body, request);
  request.parameter = "texts";
  const formats::Json* texts = body.find_value("texts");
  if (texts == nullptr) refuse(Problem::Kind::invalid, "texts is missing: give a list of texts", "texts");
  for (const formats::Json& text : texts->as_array("texts")) request.texts.push_back(text.as_string("texts"));
}

LongTextOptions read_long_texts(const formats::Json& body) {
  LongTextOptions options;
  if (const formats::Json* name = body.find_value("long"))
    options.treatment = parse_long_texts(name->as_string("long"));
  if (!body.get_bool("truncate", true)) {
    if (options.treatment && options.treatment != LongTexts::error)
      refuse(Problem::Kind::invalid, "truncate is false, but long says what to do with long texts: give one of them",
             "truncate");
    options.treatment = LongTexts::error;
  }
  if (const std::int64_t stride = body.get_int("stride", -1); stride >= 0)
    options.stride = static_cast<std::size_t>(stride);
  return options;
}

}  // namespace alate::server
