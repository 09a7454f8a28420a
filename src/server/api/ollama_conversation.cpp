#include "server/api/ollama_conversation.h"

#include <deque>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii_case.h"
#include "server/api/ollama_options.h"
#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::ChatRequest;

// Gives calls ids, and results those of their calls. A conversation may have a million calls without results.
class CallIds {
 public:
  std::string of_call(const std::string& given, const std::string& tool) {
    std::string id = given.empty() ? next() : given;
    by_tool_[tool].push_back(calls_.size());
    by_id_[id].push_back(calls_.size());
    calls_.push_back({.id = id});
    return id;
  }

  /// As given, else that of the first call of the tool, or of any if it has no name, that has no result yet. Empty
  /// where there is none.
  std::string of_result(const std::string& given, const std::string& tool) {
    if (!given.empty()) {
      take_first(by_id_[given]);
      return given;
    }
    if (!tool.empty()) return take_first(by_tool_[tool]);
    while (first_open_ < calls_.size() && calls_[first_open_].has_result) ++first_open_;
    if (first_open_ == calls_.size()) return {};
    calls_[first_open_].has_result = true;
    return calls_[first_open_].id;
  }

 private:
  struct Call {
    std::string id;
    bool has_result = false;
  };
  using Places = std::deque<std::size_t>;

  std::string take_first(Places& places) {
    while (!places.empty() && calls_[places.front()].has_result) places.pop_front();
    if (places.empty()) return {};
    Call& call = calls_[places.front()];
    call.has_result = true;
    return call.id;
  }

  std::string next() { return "call" + std::to_string(++made_); }

  std::vector<Call> calls_;
  std::map<std::string, Places, std::less<>> by_tool_, by_id_;
  std::size_t first_open_ = 0, made_ = 0;
};

Json read_calls(const Json::Array& calls, CallIds& ids) {
  Json::Array read;
  for (const Json& call : calls) {
    const Json& given = *call.find("function");
    const std::string name = given.get_string("name", "");
    const Json* arguments = given.find_value("arguments");
    const Json function =
        Json::Object{{"name", name}, {"arguments", arguments == nullptr ? "{}" : formats::to_json_text(*arguments)}};
    read.push_back(Json::Object{
        {"id", ids.of_call(call.get_string("id", ""), name)}, {"type", "function"}, {"function", function}});
  }
  return read;
}

void refuse_images(const Json& object, const std::string& place) {
  const Json* images = object.find_value("images");
  if (images == nullptr || (images->is_array() && images->as_array("images").empty())) return;
  refuse(Problem::Kind::unsupported, place + " is not read by this server: its models take text",
         place.substr(0, place.find('[')));
}

Json read_message(const Json& message, const std::string& place, CallIds& ids) {
  refuse_images(message, place + ".images");
  const std::string role = base::ascii_lower(message.get_string("role", ""));
  Json::Object read{{"role", role}, {"content", message.get_string("content", "")}};
  if (std::string thinking = message.get_string("thinking", ""); !thinking.empty())
    read.emplace_back("reasoning_content", std::move(thinking));
  if (const Json* calls = message.find_value("tool_calls"); calls != nullptr && !calls->as_array("tool_calls").empty())
    read.emplace_back("tool_calls", read_calls(calls->as_array("tool_calls"), ids));
  if (role != "tool") return read;
  const std::string tool = message.get_string("tool_name", "");
  if (std::string id = ids.of_result(message.get_string("tool_call_id", ""), tool); !id.empty())
    read.emplace_back("tool_call_id", std::move(id));
  if (!tool.empty()) read.emplace_back("name", tool);
  return read;
}

bool has_role(const Json& message, std::string_view role) { return message.get_string("role", "") == role; }

}  // namespace

ChatRequest read_ollama_chat(const Json& body) {
  ChatRequest request;
  CallIds ids;
  Json::Array read;
  const Json::Array& messages = body.find("messages")->as_array("messages");
  for (std::size_t i = 0; i < messages.size(); ++i)
    read.push_back(read_message(messages[i], "messages[" + std::to_string(i) + "]", ids));
  request.continues_last = has_role(read.back(), "assistant") && read.back().find("tool_calls") == nullptr;
  request.messages = std::move(read);
  if (const Json* tools = body.find_value("tools"); tools != nullptr && !tools->as_array("tools").empty())
    request.tools = *tools;
  read_ollama_wishes(body, request);
  return request;
}

ChatRequest read_ollama_prompt(const Json& body) {
  ChatRequest request;
  Json::Array messages;
  if (std::string system = body.get_string("system", ""); !system.empty())
    messages.push_back(Json::Object{{"role", "system"}, {"content", std::move(system)}});
  messages.push_back(Json::Object{{"role", "user"}, {"content", body.get_string("prompt", "")}});
  request.messages = std::move(messages);
  read_ollama_wishes(body, request);
  return request;
}

}  // namespace alate::server
