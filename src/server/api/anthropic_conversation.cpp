#include "server/api/anthropic_conversation.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/api/openai_conversation.h"
#include "server/api/output_formats.h"
#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::ChatRequest;
using pipelines::ToolChoice;

std::string entry(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

std::string field_of(std::string_view place) { return std::string(place.substr(0, place.find_first_of("[."))); }

[[noreturn]] void refuse_at(Problem::Kind kind, const std::string& place, std::string_view what) {
  refuse(kind, place + std::string(what), field_of(place));
}

const std::string& text_of(const Json& object, std::string_view member, const std::string& place) {
  const Json* value = object.find_value(member);
  if (value == nullptr || !value->is_string())
    refuse_at(Problem::Kind::invalid, place + "." + std::string(member), " is missing; it must be a string");
  return value->as_string(member);
}

// Reads a conversation turn by turn.
class ConversationReader {
 public:
  void read_system(const Json& system) {
    if (system.is_string()) {
      if (!system.as_string("system").empty()) add_text("system", system.as_string("system"));
      return;
    }
    const Json::Array& blocks = system.as_array("system");
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::string place = entry("system", i);
      if (const std::string& type = text_of(blocks[i], "type", place); type != "text")
        refuse_at(Problem::Kind::unsupported, place,
                  " has the type " + formats::quoted_name(type) + "; only text is read");
      add_text("system", text_of(blocks[i], "text", place));
    }
  }

  void read_message(const Json& message, const std::string& place) {
    const std::string& role = text_of(message, "role", place);
    const Json& content = *message.find("content");
    if (content.is_string()) {
      of(role);  // also where its text is empty
      return add_text(role, content.as_string("content"));
    }
    const Json::Array& blocks = content.as_array("content");
    if (blocks.empty()) of(role);
    for (std::size_t i = 0; i < blocks.size(); ++i) read_block(role, blocks[i], entry(place + ".content", i));
  }

  /// Whether the answer goes on with the last message.
  bool ends_with_assistant() const {
    if (messages_.empty() || messages_.back().role != "assistant") return false;
    if (!messages_.back().calls.empty())
      refuse_at(Problem::Kind::invalid, "messages", " ends with a tool_use; a tool_result of it must follow");
    return true;
  }

  Json finish() const {
    Json::Array messages;
    for (const Message& message : messages_) messages.push_back(to_json(message));
    return messages;
  }

 private:
  struct Message {
    std::string role;
    Json::Array parts = {}, calls = {};
    std::string reasoning = {};
    std::string tool_call_id = {}, tool = {};  // of a result
  };

  Message& of(std::string_view role) {
    if (messages_.empty() || messages_.back().role != role) messages_.push_back({.role = std::string(role)});
    return messages_.back();
  }

  void add_text(std::string_view role, const std::string& text) {
    of(role).parts.push_back(Json::Object{{"type", "text"}, {"text", text}});
  }

  void read_block(const std::string& role, const Json& block, const std::string& place) {
    const std::string& type = text_of(block, "type", place);
    if (type == "text") return add_text(role, text_of(block, "text", place));
    if (type == "tool_result" && role == "user") return read_result(block, place);
    if (type == "thinking" && role == "assistant") {
      of(role).reasoning += text_of(block, "thinking", place);
      return;
    }
    if (type == "tool_use" && role == "assistant") return read_call(block, place);
    refuse_at(Problem::Kind::unsupported, place,
              " has the type " + formats::quoted_name(type) + "; of the role " + role + " this server reads " +
                  (role == "assistant" ? "text, thinking and tool_use"
                   : role == "user"    ? "text and tool_result"
                                       : "text"));
  }

  void read_call(const Json& block, const std::string& place) {
    const std::string &id = text_of(block, "id", place), &name = text_of(block, "name", place);
    const Json* input = block.find_value("input");
    if (input == nullptr || !input->is_object())
      refuse_at(Problem::Kind::invalid, place + ".input", " is missing; it must be an object");
    called_.insert_or_assign(id, name);
    const Json function = Json::Object{{"name", name}, {"arguments", formats::to_json_text(*input)}};
    of("assistant").calls.push_back(Json::Object{{"id", id}, {"type", "function"}, {"function", function}});
  }

  void read_result(const Json& block, const std::string& place) {
    const std::string& id = text_of(block, "tool_use_id", place);
    const auto call = called_.find(id);
    if (call == called_.end())
      refuse_at(Problem::Kind::invalid, place + ".tool_use_id",
                " is " + formats::quoted_name(id) + ", which no earlier tool_use has as its id");
    Message result{.role = "tool", .tool_call_id = id, .tool = call->second};
    // Templates have no place for it.
    if (block.get_bool("is_error", false)) result.parts.push_back(Json::Object{{"type", "text"}, {"text", "Error: "}});
    if (const Json* content = block.find_value("content")) read_result_content(*content, place + ".content", result);
    messages_.push_back(std::move(result));
  }

  static void read_result_content(const Json& content, const std::string& place, Message& result) {
    if (content.is_string()) {
      result.parts.push_back(Json::Object{{"type", "text"}, {"text", content}});
      return;
    }
    if (!content.is_array()) refuse_at(Problem::Kind::invalid, place, " must be a string or a list of blocks");
    const Json::Array& blocks = content.as_array("content");
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::string& type = text_of(blocks[i], "type", entry(place, i));
      if (type != "text")
        refuse_at(Problem::Kind::unsupported, entry(place, i),
                  " has the type " + formats::quoted_name(type) + "; of a tool's result this server reads text");
      const std::string& text = text_of(blocks[i], "text", entry(place, i));
      result.parts.push_back(Json::Object{{"type", "text"}, {"text", text}});
    }
  }

  static Json content_of(const Message& message) {
    // Many templates know only text.
    if (message.role == "tool" || message.parts.size() < 2) {
      std::string text;
      for (const Json& part : message.parts) text += part.find("text")->as_string("text");
      return text;
    }
    return message.parts;
  }

  static Json to_json(const Message& message) {
    Json::Object object{{"role", message.role}, {"content", content_of(message)}};
    if (!message.reasoning.empty()) object.emplace_back("reasoning_content", message.reasoning);
    if (!message.calls.empty()) object.emplace_back("tool_calls", message.calls);
    if (message.role == "tool") {
      object.emplace_back("tool_call_id", message.tool_call_id);
      object.emplace_back("name", message.tool);
    }
    return object;
  }

  std::vector<Message> messages_;
  std::map<std::string, std::string, std::less<>> called_;  // the tool of each call, by its id
};

Json read_tools(const Json::Array& tools) {
  Json::Array functions;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const Json& tool = tools[i];
    const std::string place = entry("tools", i);
    if (const std::string type = tool.get_string("type", "custom"); type != "custom")
      refuse_at(Problem::Kind::unsupported, place,
                " has the type " + formats::quoted_name(type) +
                    "; this server runs no tools itself: describe yours with name, description and input_schema");
    Json::Object function{{"name", text_of(tool, "name", place)}};
    if (const Json* description = tool.find_value("description")) function.emplace_back("description", *description);
    const Json* schema = tool.find_value("input_schema");
    if (schema == nullptr || !schema->is_object())
      refuse_at(Problem::Kind::invalid, place + ".input_schema", " is missing; it must be an object");
    function.emplace_back("parameters", *schema);
    if (const Json* strict = tool.find_value("strict")) function.emplace_back("strict", *strict);
    functions.push_back(Json::Object{{"type", "function"}, {"function", std::move(function)}});
  }
  return functions.empty() ? Json() : Json(std::move(functions));
}

void read_tool_choice(const Json& choice, ChatRequest& request) {
  const std::string& type = text_of(choice, "type", "tool_choice");
  if (type == "any") request.tool_choice.kind = ToolChoice::Kind::required;
  if (type == "none") request.tool_choice.kind = ToolChoice::Kind::none;
  if (type == "tool")
    request.tool_choice = {.kind = ToolChoice::Kind::named, .name = text_of(choice, "name", "tool_choice")};
  request.parallel_tool_calls = !choice.get_bool("disable_parallel_tool_use", false);
}

void read_output(const Json& output, ChatRequest& request) {
  // Templates know three levels.
  const std::string effort = output.get_string("effort", "");
  request.reasoning_effort = effort == "xhigh" || effort == "max" ? "high" : effort;
  if (const Json* format = output.find_value("format"))
    request.format = read_response_format(*format, "output_config.format");
}

// What would need a service behind the model.
void refuse_services(const Json& body) {
  for (const std::string_view name : {"container", "mcp_servers", "context_management"}) {
    const Json* value = body.find_value(name);
    if (value == nullptr || (value->is_array() && value->as_array(name).empty())) continue;
    refuse_at(Problem::Kind::unsupported, std::string(name), " is not taken by this server; leave it out");
  }
}

}  // namespace

ChatRequest read_anthropic_conversation(const Json& body) {
  refuse_services(body);
  ConversationReader reader;
  if (const Json* system = body.find_value("system")) reader.read_system(*system);
  const Json::Array& messages = body.find("messages")->as_array("messages");
  for (std::size_t i = 0; i < messages.size(); ++i) reader.read_message(messages[i], entry("messages", i));
  ChatRequest request;
  request.messages = reader.finish();
  request.continues_last = reader.ends_with_assistant();
  if (const Json* tools = body.find_value("tools")) request.tools = read_tools(tools->as_array("tools"));
  if (const Json* choice = body.find_value("tool_choice")) read_tool_choice(*choice, request);
  check_tool_choice(request.tool_choice, request.tools);
  if (const Json* thinking = body.find_value("thinking")) {
    const std::string& type = text_of(*thinking, "type", "thinking");
    if (type == "disabled" || type == "enabled") request.thinks = type == "enabled";
  }
  if (const Json* output = body.find_value("output_config")) read_output(*output, request);
  return request;
}

}  // namespace alate::server
