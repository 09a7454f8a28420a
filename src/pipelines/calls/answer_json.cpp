#include "pipelines/calls/answer_json.h"

#include "formats/json.h"

namespace alate::pipelines {

std::string begin_answer(std::string_view model) {
  std::string out = R"({"model":)";
  formats::append_json_string(out, model);
  return out;
}

void finish_answer(std::string& out, const AnswerFacts& facts) {
  out += R"(,"total_duration":)" + std::to_string(facts.total_ns);
  out += R"(,"load_duration":)" + std::to_string(facts.load_ns);
  out += R"(,"prompt_eval_count":)" + std::to_string(facts.tokens);
  for (std::size_t i = 0; i < facts.truncated.size(); ++i)
    out += (i == 0 ? R"(,"truncated":[)" : ",") + std::to_string(facts.truncated[i]);
  if (!facts.truncated.empty()) out += ']';
  out += '}';
}

void append_list(std::string& out, std::string_view name, std::span<const std::string> items) {
  out += ",\"" + std::string(name) + "\":[";
  for (const std::string& item : items) {
    if (out.back() != '[') out += ',';
    out += item;
  }
  out += ']';
}

std::string list_answer(std::string_view name, std::span<const std::string> items, const AnswerFacts& facts) {
  std::string out = begin_answer(facts.model);
  append_list(out, name, items);
  finish_answer(out, facts);
  return out;
}

}  // namespace alate::pipelines
