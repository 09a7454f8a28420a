#include "server/api/openai_response_input.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "server/api/openai_conversation.h"
#include "server/api/output_formats.h"
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

[[noreturn]] void refuse_type(const std::string& place, std::string_view type, const std::string& advice) {
  refuse(Problem::Kind::unsupported,
         place + " is of the type " + formats::quoted_name(type) + ", which this server does not have; " + advice,
         parameter_of(place));
}

const std::string& text_of(const Json& object, std::string_view name, const std::string& place) {
  const Json* value = object.find_value(name);
  if (value == nullptr) refuse_at(place, " has no " + std::string(name));
  if (!value->is_string())
    refuse_at(place + "." + std::string(name), " is a " + std::string(value->kind()) + "; it must be a text");
  return value->as_string(name);
}

// Parts of the types that are text, joined.
std::string joined_parts(const Json& content, const std::string& place) {
  if (content.is_string()) return content.as_string(place);
  if (!content.is_array())
    refuse_at(place, " is a " + std::string(content.kind()) + "; it must be a text or a list of parts");
  std::string text;
  const Json::Array& parts = content.as_array(place);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string where = place + "[" + std::to_string(i) + "]";
    const std::string& type = text_of(parts[i], "type", where);
    if (type == "refusal") {
      text += text_of(parts[i], "refusal", where);
    } else if (type == "input_text" || type == "output_text" || type == "text" || type == "reasoning_text" ||
               type == "summary_text") {
      text += text_of(parts[i], "text", where);
    } else {
      refuse_type(where, type, "give parts of the type \"input_text\"");
    }
  }
  return text;
}

// Makes messages of items. Reasoning, text and calls of one turn of the assistant, which are items of their own, are
// one message.
class Messages {
 public:
  void add_item(const Json& item, const std::string& place) {
    if (!item.is_object()) refuse_at(place, " is a " + std::string(item.kind()) + "; it must be an object");
    const std::string type = item.get_string("type", "message");
    if (type == "message") return add_message(item, place);
    if (type == "function_call") return add_call(item, place);
    if (type == "function_call_output") return add_output(item, place);
    if (type == "reasoning") return add_reasoning(item, place);
    if (type == "item_reference")
      refuse(Problem::Kind::unsupported, place + " refers to an item, but nothing is stored here; send the item itself",
             parameter_of(place));
    refuse_type(place, type, "give messages, function calls and their outputs");
  }
  void add_text(std::string_view role, std::string text) {
    end_turn();
    list_.emplace_back(Json::Object{{"role", role}, {"content", std::move(text)}});
  }

  Json finish() {
    end_turn();
    return Json(std::move(list_));
  }

 private:
  struct Turn {
    std::string reasoning;
    bool has_text = false;
    std::string text;
    Json::Array calls;

    bool is_empty() const { return reasoning.empty() && !has_text && calls.empty(); }
  };

  void add_message(const Json& item, const std::string& place) {
    const std::string& role = text_of(item, "role", place);
    const Json* content = item.find_value("content");
    if (content == nullptr) refuse_at(place, " has no content");
    std::string text = joined_parts(*content, place + ".content");
    if (role == "assistant") {
      if (turn_.has_text || !turn_.calls.empty()) end_turn();
      turn_.text = std::move(text);
      turn_.has_text = true;
      return;
    }
    if (role != "user" && role != "system" && role != "developer")
      refuse_at(place, " has the role " + formats::quoted_name(role) +
                           "; it must be \"user\", \"assistant\", \"system\" or \"developer\"");
    add_text(role, std::move(text));
  }
  void add_call(const Json& item, const std::string& place) {
    Json function =
        Json::Object{{"name", text_of(item, "name", place)}, {"arguments", text_of(item, "arguments", place)}};
    turn_.calls.emplace_back(
        Json::Object{{"id", text_of(item, "call_id", place)}, {"type", "function"}, {"function", std::move(function)}});
  }
  void add_output(const Json& item, const std::string& place) {
    end_turn();
    const Json* output = item.find_value("output");
    if (output == nullptr) refuse_at(place, " has no output");
    list_.emplace_back(Json::Object{{"role", "tool"},
                                    {"tool_call_id", text_of(item, "call_id", place)},
                                    {"content", joined_parts(*output, place + ".output")}});
  }
  void add_reasoning(const Json& item, const std::string& place) {
    if (turn_.has_text || !turn_.calls.empty()) end_turn();
    const Json* content = item.find_value("content");
    if (content != nullptr) turn_.reasoning += joined_parts(*content, place + ".content");
  }
  void end_turn() {
    if (turn_.is_empty()) return;
    Json::Object message{{"role", "assistant"}, {"content", turn_.has_text ? Json(std::move(turn_.text)) : Json()}};
    if (!turn_.reasoning.empty()) message.emplace_back("reasoning_content", std::move(turn_.reasoning));
    if (!turn_.calls.empty()) message.emplace_back("tool_calls", Json(std::move(turn_.calls)));
    turn_ = {};
    list_.emplace_back(std::move(message));
  }

  Json::Array list_;
  Turn turn_;  // of the assistant, that has begun
};

Json tools_of(const Json& tools) {
  Json::Array list;
  const Json::Array& given = tools.as_array("tools");
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string place = "tools[" + std::to_string(i) + "]";
    const std::string& type = text_of(given[i], "type", place);
    if (type != "function") refuse_type(place, type, "give tools of the type \"function\"");
    Json::Object function{{"name", text_of(given[i], "name", place)}};
    for (const char* name : {"description", "parameters", "strict"})
      if (const Json* value = given[i].find_value(name)) function.emplace_back(name, *value);
    list.emplace_back(Json::Object{{"type", "function"}, {"function", Json(std::move(function))}});
  }
  return list.empty() ? Json() : Json(std::move(list));
}

ToolChoice choice_of(const Json& choice) {
  if (choice.is_string()) return tool_choice_of(choice.as_string("tool_choice"));
  const std::string& type = text_of(choice, "type", "tool_choice");
  if (type != "function") refuse_type("tool_choice", type, "give \"function\" with a name");
  return {ToolChoice::Kind::named, text_of(choice, "name", "tool_choice")};
}

// What would change the answer if it were ignored.
struct Refused {
  std::string_view name, reason;
};
constexpr std::array kRefused = std::to_array<Refused>({
    {"previous_response_id", "names a response, but nothing is stored here: send the whole conversation as input"},
    {"conversation", "names a conversation, but nothing is stored here: send it as input"},
    {"prompt", "names a stored prompt, but nothing is stored here: send instructions and input"},
});

}  // namespace

ChatRequest read_response_input(const Json& body) {
  for (const Refused& refused : kRefused)
    if (body.find_value(refused.name) != nullptr)
      refuse(Problem::Kind::unsupported, std::string(refused.name) + " " + std::string(refused.reason),
             std::string(refused.name));
  if (body.get_bool("background", false))
    refuse(Problem::Kind::unsupported,
           "background is true, but nothing is stored here: wait for the answer, or stream it", "background");

  ChatRequest request;
  Messages messages;
  if (const Json* instructions = body.find_value("instructions"))
    messages.add_text("system", joined_parts(*instructions, "instructions"));
  const Json& input = *body.find("input");
  if (input.is_string()) {
    messages.add_text("user", input.as_string("input"));
  } else {
    const Json::Array& items = input.as_array("input");
    for (std::size_t i = 0; i < items.size(); ++i) messages.add_item(items[i], "input[" + std::to_string(i) + "]");
  }
  request.messages = messages.finish();
  if (request.messages.as_array("input").empty()) refuse(Problem::Kind::empty, "input has no messages", "input");
  if (const Json* tools = body.find_value("tools")) request.tools = tools_of(*tools);
  if (const Json* choice = body.find_value("tool_choice")) request.tool_choice = choice_of(*choice);
  check_tool_choice(request.tool_choice, request.tools);
  request.parallel_tool_calls = body.get_bool("parallel_tool_calls", true);
  if (const Json* reasoning = body.find_value("reasoning"))
    read_reasoning_effort(reasoning->find("effort"), "reasoning.effort", request);
  if (const Json* text = body.find_value("text"))
    if (const Json* format = text->find_value("format")) request.format = read_response_format(*format, "text.format");
  return request;
}

}  // namespace alate::server
