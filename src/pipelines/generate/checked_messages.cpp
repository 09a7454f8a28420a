#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "pipelines/generate/call_sink.h"
#include "pipelines/generate/chat_messages.h"

namespace alate::pipelines {
namespace {

using formats::Json;

constexpr std::array<std::string_view, 6> kRoles = {"system", "developer", "user", "assistant", "tool", "function"};

// A field of a message, for errors.
template <typename... Parts>
Error refused_message(std::size_t index, const Parts&... parts) {
  return make_error(ErrorCode::invalid_argument, "messages[", index, "]", parts...);
}

std::string message_text(const Json& message, std::string_view key, std::size_t index) {
  const Json* value = message.find_value(key);
  if (value == nullptr) return {};
  if (!value->is_string()) throw refused_message(index, ".", key, " is ", value->kind(), " where a text is expected");
  return value->as_string(key);
}

std::string text_of_part(const Json& part, std::size_t index, std::size_t place) {
  if (!part.is_object())
    throw refused_message(index, ".content[", place, "] is ", part.kind(), " where an object with a type is expected");
  const Json* type = part.find_value("type");
  if (type == nullptr || !type->is_string())
    throw refused_message(index, ".content[", place, "].type is missing: a text is expected");
  const std::string& name = type->as_string("type");
  if (name != "text" && name != "refusal")
    throw refused_message(index, ".content[", place, "] is of the type ", formats::quoted_name(name),
                          ", which is not supported: only parts of the type text are");
  const Json* text = part.find_value(name);
  if (text == nullptr || !text->is_string())
    throw refused_message(index, ".content[", place, "].", name, " is missing: a text is expected");
  return text->as_string(name);
}

// The parts of a content are paragraphs.
std::string content_of(const Json& message, std::size_t index, bool may_be_absent) {
  const Json* content = message.find_value("content");
  if (content == nullptr) {
    if (!may_be_absent) throw refused_message(index, ".content is missing: a text or a list of parts is expected");
    return message_text(message, "refusal", index);
  }
  if (content->is_string()) return content->as_string("content");
  if (!content->is_array())
    throw refused_message(index, ".content is ", content->kind(), " where a text or a list of parts is expected");
  std::string text;
  const Json::Array& parts = content->as_array("content");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += '\n';
    text += text_of_part(parts[i], index, i);
  }
  return text;
}

// `where` is the call's field, for errors.
MadeCall made_call(const Json& function, std::string id, std::size_t index, const std::string& where) {
  if (!function.is_object())
    throw refused_message(index, where, " is ", function.kind(), " where an object is expected");
  MadeCall call{std::move(id), function.get_string("name", ""), {}};
  if (!is_tool_name(call.name))
    throw refused_message(index, where, ".name is ", formats::quoted_name(call.name), ", which is no name of a tool");
  const Json* arguments = function.find_value("arguments");
  if (arguments == nullptr) {
    call.arguments = Json::Object();
  } else if (arguments->is_string()) {
    const std::string& text = arguments->as_string("arguments");
    try {
      call.arguments = text.empty() ? Json(Json::Object()) : formats::parse_json(text, "arguments");
    } catch (const Error&) {
      throw refused_message(index, where, ".arguments is not valid JSON: the JSON text of an object is expected");
    }
  } else {
    call.arguments = *arguments;
  }
  if (!call.arguments.is_object())
    throw refused_message(index, where, ".arguments is ", call.arguments.kind(), " where an object is expected");
  return call;
}

std::vector<MadeCall> calls_of(const Json& message, std::size_t index) {
  std::vector<MadeCall> calls;
  if (const Json* list = message.find_value("tool_calls")) {
    if (!list->is_array())
      throw refused_message(index, ".tool_calls is ", list->kind(), " where a list of calls is expected");
    const Json::Array& all = list->as_array("tool_calls");
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string where = ".tool_calls[" + std::to_string(i) + "]";
      const Json* function = all[i].find_value("function");
      if (function == nullptr) throw refused_message(index, where, ".function is missing: an object is expected");
      const Json* id = all[i].find_value("id");
      if (id != nullptr && !id->is_string())
        throw refused_message(index, where, ".id is ", id->kind(), " where a text is expected");
      calls.push_back(made_call(*function, id == nullptr ? "" : id->as_string("id"), index, where + ".function"));
    }
  }
  if (const Json* function = message.find_value("function_call"))
    calls.push_back(made_call(*function, "", index, ".function_call"));
  return calls;
}

// The calls of the latest message that made some, and which of them have a result.
class OpenCalls {
 public:
  void begin(const std::vector<MadeCall>& calls) {
    calls_.clear();
    by_id_.clear();
    by_name_.clear();
    in_order_.clear();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      calls_.push_back({calls[i].id, calls[i].name});
      by_id_[calls[i].id].push_back(i);
      by_name_[calls[i].name].push_back(i);
      in_order_.push_back(i);
    }
  }

  // Gives a result the id and the name of its call.
  void answer(CheckedMessage& result, std::size_t index) {
    Places* places = &in_order_;
    if (!result.call_id.empty()) {
      places = find(by_id_, result.call_id);
    } else if (!result.name.empty()) {
      places = find(by_name_, result.name);
    }
    while (places != nullptr && !places->empty() && calls_[places->front()].is_answered) places->pop_front();
    if (places == nullptr || places->empty()) {
      if (result.call_id.empty())
        throw refused_message(index, " is the result of a tool, but the messages before it leave no call open");
      throw refused_message(index, ".tool_call_id is ", formats::quoted_name(result.call_id),
                            ", which is no open call of the assistant's message before it");
    }
    OpenCall& call = calls_[places->front()];
    call.is_answered = true;
    result.call_id = call.id;
    result.name = call.name;
  }

 private:
  struct OpenCall {
    std::string id, name;
    bool is_answered = false;
  };
  using Places = std::deque<std::size_t>;

  static Places* find(std::map<std::string, Places>& places, const std::string& key) {
    const auto found = places.find(key);
    return found == places.end() ? nullptr : &found->second;
  }

  std::vector<OpenCall> calls_;
  std::map<std::string, Places> by_id_, by_name_;
  Places in_order_;
};

}  // namespace

std::vector<CheckedMessage> checked_messages(const Json& messages) {
  if (!messages.is_array() || messages.as_array("messages").empty())
    throw Error(ErrorCode::invalid_argument, "messages must be a list of at least one message");
  std::vector<CheckedMessage> checked;
  OpenCalls open;
  std::size_t calls = 0;
  for (const Json& message : messages.as_array("messages")) {
    const std::size_t index = checked.size();
    if (!message.is_object()) throw refused_message(index, " is ", message.kind(), " where an object is expected");
    CheckedMessage result;
    result.role = message_text(message, "role", index);
    if (std::ranges::find(kRoles, result.role) == kRoles.end())
      throw refused_message(index, ".role is ", formats::quoted_name(result.role),
                            ": it may be system, developer, user, assistant or tool");
    const bool is_assistant = result.role == "assistant";
    result.content = content_of(message, index, is_assistant);
    result.name = message_text(message, "name", index);
    if (is_assistant) {
      if (std::string text = message_text(message, "reasoning_content", index); !text.empty())
        result.reasoning = std::move(text);
      result.calls = calls_of(message, index);
      for (MadeCall& call : result.calls) {
        if (call.id.empty()) call.id = "call_" + std::to_string(calls);
        ++calls;
      }
      if (!result.calls.empty()) open.begin(result.calls);
    } else if (message.find_value("tool_calls") != nullptr) {
      throw refused_message(index, ".tool_calls: only messages of the assistant have calls");
    }
    if (result.role == "tool" || result.role == "function") {
      result.role = "tool";
      result.call_id = message_text(message, "tool_call_id", index);
      open.answer(result, index);
    }
    checked.push_back(std::move(result));
  }
  return checked;
}

}  // namespace alate::pipelines
