#include "server/api/openai_conversation.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::ChatRequest;
using pipelines::ToolChoice;

std::string parameter_of(const std::string& place) { return place.substr(0, place.find_first_of(".[")); }

[[noreturn]] void refuse_at(const std::string& place, const std::string& what) {
  refuse(Problem::Kind::invalid, place + what, parameter_of(place));
}

const std::string& text_at(const Json& value, const std::string& place) {
  if (!value.is_string()) refuse_at(place, " is a " + std::string(value.kind()) + "; it must be a text");
  return value.as_string(place);
}

const Json& member_at(const Json& object, std::string_view name, const std::string& place) {
  if (const Json* value = object.find_value(name)) return *value;
  refuse_at(place, " has no " + std::string(name));
}

Json text_part(const Json& part, const std::string& place) {
  const std::string& type = text_at(member_at(part, "type", place), place + ".type");
  if (type == "text" || type == "refusal")
    return Json::Object{{"type", "text"}, {"text", text_at(member_at(part, type, place), place + "." + type)}};
  refuse(Problem::Kind::unsupported,
         place + " is of the type " + formats::quoted_name(type) +
             ", which this server does not read; give parts of "
             "the type \"text\"",
         parameter_of(place));
}

Json content_of(const Json& content, const std::string& place) {
  if (!content.is_array()) return text_at(content, place);
  Json::Array parts;
  const Json::Array& given = content.as_array(place);
  for (std::size_t i = 0; i < given.size(); ++i)
    parts.push_back(text_part(given[i], place + "[" + std::to_string(i) + "]"));
  return parts;
}

Json tool_call_of(const Json& call, const std::string& place) {
  if (call.get_string("type", "function") != "function") refuse_at(place, " is of a type other than \"function\"");
  const Json& function = member_at(call, "function", place);
  Json::Object copied{{"name", text_at(member_at(function, "name", place + ".function"), place + ".function.name")}};
  const Json* arguments = function.find_value("arguments");
  // OpenAI's arguments are JSON text; some clients send the object.
  copied.emplace_back("arguments", arguments == nullptr     ? std::string("{}")
                                   : arguments->is_string() ? arguments->as_string(place)
                                                            : formats::to_json_text(*arguments));
  return Json::Object{{"id", call.get_string("id", "")}, {"type", "function"}, {"function", Json(std::move(copied))}};
}

// Of an assistant's message.
void add_tool_calls(const Json& message, const std::string& place, Json::Object& copied) {
  const Json* calls = message.find_value("tool_calls");
  if (calls == nullptr) return;
  const Json::Array& given = calls->as_array(place);
  if (given.empty()) return;
  Json::Array list;
  for (std::size_t i = 0; i < given.size(); ++i)
    list.push_back(tool_call_of(given[i], place + ".tool_calls[" + std::to_string(i) + "]"));
  copied.emplace_back("tool_calls", Json(std::move(list)));
}

constexpr std::array<std::string_view, 5> kRoles = {"system", "developer", "user", "assistant", "tool"};

Json message_of(const Json& message, const std::string& place) {
  const std::string& role = text_at(member_at(message, "role", place), place + ".role");
  if (std::ranges::find(kRoles, role) == kRoles.end())
    refuse_at(place, " has the role " + formats::quoted_name(role) +
                         "; it must be \"system\", \"developer\", \"user\", \"assistant\" or \"tool\"");
  Json::Object copied{{"role", role}};
  const Json* content = message.find_value("content");
  const bool is_assistant = role == "assistant";
  if (content != nullptr) {
    copied.emplace_back("content", content_of(*content, place + ".content"));
  } else if (is_assistant) {
    copied.emplace_back("content", Json());
  } else {
    refuse_at(place, " has no content");
  }
  if (is_assistant) {
    add_tool_calls(message, place, copied);
    for (const char* name : {"reasoning_content", "reasoning"}) {  // the second is vLLM's newer name
      const Json* reasoning = message.find_value(name);
      if (reasoning == nullptr) continue;
      copied.emplace_back("reasoning_content", text_at(*reasoning, place + "." + name));
      break;
    }
  }
  if (const Json* id = message.find_value("tool_call_id"))
    copied.emplace_back("tool_call_id", text_at(*id, place + ".tool_call_id"));
  if (const Json* name = message.find_value("name")) copied.emplace_back("name", text_at(*name, place + ".name"));
  return copied;
}

Json tools_of(const Json& tools) {
  Json::Array list;
  const Json::Array& given = tools.as_array("tools");
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string place = "tools[" + std::to_string(i) + "]";
    const std::string& type = text_at(member_at(given[i], "type", place), place + ".type");
    if (type != "function")
      refuse(Problem::Kind::unsupported,
             place + " is of the type " + formats::quoted_name(type) +
                 ", which this server does not have; give "
                 "tools of the type \"function\"",
             "tools");
    const Json& function = member_at(given[i], "function", place);
    if (!function.is_object()) refuse_at(place, ".function must be an object");
    if (text_at(member_at(function, "name", place + ".function"), place + ".function.name").empty())
      refuse_at(place, ".function.name is empty");
    list.push_back(given[i]);
  }
  return list.empty() ? Json() : Json(std::move(list));
}

ToolChoice read_tool_choice(const Json& choice) {
  if (choice.is_string()) return tool_choice_of(choice.as_string("tool_choice"));
  const std::string& type = text_at(member_at(choice, "type", "tool_choice"), "tool_choice.type");
  if (type != "function")
    refuse(Problem::Kind::unsupported,
           "tool_choice is of the type " + formats::quoted_name(type) + "; this server takes \"function\"",
           "tool_choice");
  const Json& function = member_at(choice, "function", "tool_choice");
  return {ToolChoice::Kind::named,
          text_at(member_at(function, "name", "tool_choice.function"), "tool_choice.function.name")};
}

// What would change the answer if it were ignored.
struct Refused {
  std::string_view name, advice;
};
constexpr std::array kRefused = std::to_array<Refused>({
    {"functions", "give the functions as tools"},
    {"function_call", "give tool_choice"},
    {"audio", "this server answers with text"},
    {"web_search_options", "this server searches no web"},
    {"chat_template", "conversations are written by the model's own template"},
});

void read_template_variables(const Json& body, ChatRequest& request) {
  const Json* variables = body.find_value("chat_template_kwargs");
  if (variables == nullptr) return;
  if (!variables->is_object()) refuse_at("chat_template_kwargs", " must be an object");
  request.variables = *variables;
  for (const char* name : {"enable_thinking", "thinking"})
    if (const Json* thinks = variables->find_value(name); thinks != nullptr && thinks->is_bool())
      request.thinks = thinks->as_bool(name);
}

}  // namespace

Json read_messages(const Json& messages, const std::string& name) {
  Json::Array list;
  const Json::Array& given = messages.as_array(name);
  for (std::size_t i = 0; i < given.size(); ++i)
    list.push_back(message_of(given[i], name + "[" + std::to_string(i) + "]"));
  return list;
}

ToolChoice tool_choice_of(std::string_view name) {
  if (name == "auto") return {ToolChoice::Kind::automatic};
  if (name == "none") return {ToolChoice::Kind::none};
  if (name == "required") return {ToolChoice::Kind::required};
  refuse_at("tool_choice",
            " is " + formats::quoted_name(name) + "; it must be \"auto\", \"none\", \"required\" or name a function");
}

void check_tool_choice(const ToolChoice& choice, const Json& tools) {
  if (choice.kind == ToolChoice::Kind::required && tools.is_null())
    refuse_at("tool_choice", " is \"required\", but there are no tools");
  if (choice.kind != ToolChoice::Kind::named) return;
  const auto is_named = [&](const Json& tool) {
    const Json* function = tool.find("function");
    return function != nullptr && function->get_string("name", "") == choice.name;
  };
  if (tools.is_null() || std::ranges::none_of(tools.as_array("tools"), is_named))
    refuse_at("tool_choice", " names " + formats::quoted_name(choice.name) + ", which is not among tools");
}

void read_reasoning_effort(const Json* effort, const std::string& name, ChatRequest& request) {
  if (effort == nullptr || effort->is_null()) return;
  const std::string& level = text_at(*effort, name);
  request.thinks = level != "none";
  if (*request.thinks) request.reasoning_effort = level;
}

ChatRequest read_conversation(const Json& body) {
  for (const Refused& refused : kRefused) {
    if (body.find_value(refused.name) != nullptr)
      refuse(Problem::Kind::unsupported, std::string(refused.name) + " is not taken: " + std::string(refused.advice),
             std::string(refused.name));
  }
  if (const Json* modalities = body.find_value("modalities")) {
    for (const Json& one : modalities->as_array("modalities"))
      if (text_at(one, "modalities") != "text")
        refuse(
            Problem::Kind::unsupported,
            "modalities has " + formats::quoted_name(one.as_string("modalities")) + "; this server answers with text",
            "modalities");
  }
  ChatRequest request;
  request.messages = read_messages(*body.find("messages"), "messages");
  if (const Json* tools = body.find_value("tools")) request.tools = tools_of(*tools);
  if (const Json* choice = body.find_value("tool_choice")) request.tool_choice = read_tool_choice(*choice);
  check_tool_choice(request.tool_choice, request.tools);
  request.parallel_tool_calls = body.get_bool("parallel_tool_calls", true);
  read_reasoning_effort(body.find("reasoning_effort"), "reasoning_effort", request);
  read_template_variables(body, request);
  request.continues_last = body.get_bool("continue_final_message", false);
  if (request.continues_last && request.messages.as_array("messages").back().get_string("role", "") != "assistant")
    refuse_at("continue_final_message", " is true, but the last message is not the assistant's");
  return request;
}

}  // namespace alate::server
