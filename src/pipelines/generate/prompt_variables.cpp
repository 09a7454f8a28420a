#include "pipelines/generate/prompt_variables.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "alate/error.h"

namespace alate::pipelines {
namespace {

using formats::Json;

constexpr std::size_t kMostVariableName = 64;
// What a prompt is made of: a request has fields of their own for it, or no say.
constexpr std::string_view kTaken[] = {"messages",
                                       "conversation",
                                       "tools",
                                       "xml_tools",
                                       "custom_tools",
                                       "available_tools",
                                       "functions",
                                       "chat_template",
                                       "add_generation_prompt",
                                       "continue_final_message",
                                       "tokenize",
                                       "raise_exception",
                                       "strftime_now",
                                       "namespace",
                                       "range",
                                       "dict",
                                       "cycler",
                                       "joiner",
                                       "lipsum",
                                       "loop",
                                       "caller",
                                       "self",
                                       "varargs",
                                       "kwargs"};

bool is_identifier(std::string_view name) {
  return !name.empty() && name.size() <= kMostVariableName && (name[0] < '0' || name[0] > '9') &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

void set(Json::Object& variables, std::string_view name, Json value) {
  const auto found = std::ranges::find(variables, name, &Json::Member::first);
  if (found != variables.end()) return;  // the request's own
  variables.emplace_back(std::string(name), std::move(value));
}

}  // namespace

Json::Object prompt_variables(const ChatRequest& request, const ChatTemplate& chat_template) {
  Json::Object variables;
  if (!request.variables.is_null()) {
    for (const auto& [name, value] : request.variables.as_object("variables of the chat template")) {
      if (!is_identifier(name))
        throw make_error(ErrorCode::invalid_argument, "a variable of the chat template is named ",
                         formats::quoted_name(name), ": names have up to ", kMostVariableName,
                         " letters, digits and \"_\"");
      if (name.ends_with("_token") || name.ends_with("_tokens") || chat_template.special_tokens().contains(name) ||
          std::ranges::find(kTaken, name) != std::end(kTaken))
        throw make_error(ErrorCode::invalid_argument, "the variable ", formats::quoted_name(name),
                         " of the chat template cannot be set by a request");
      variables.emplace_back(name, value);
    }
  }
  std::optional<bool> thinks = request.thinks;
  if (!request.reasoning_effort.empty()) {
    if (request.reasoning_effort == "none" && !thinks) thinks = false;
    set(variables, "reasoning_effort", Json(request.reasoning_effort));
  }
  if (thinks) {
    set(variables, "enable_thinking", Json(*thinks));
    set(variables, "thinking", Json(*thinks));  // Granite, DeepSeek
  }
  return variables;
}

}  // namespace alate::pipelines
