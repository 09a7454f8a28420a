#include <map>
#include <utility>

#include "pipelines/generate/chat_messages.h"

namespace alate::pipelines {
namespace {

using formats::Json;

// Adds a paragraph.
void append_paragraph(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) text += "\n\n";
  text += more;
}

std::string as_response(const CheckedMessage& result) {
  return "<tool_response>\n" + result.content + "\n</tool_response>";
}

// Calls and results as texts, for templates that cannot write them. Results of one turn are one message of the user.
std::vector<CheckedMessage> with_calls_as_text(std::vector<CheckedMessage> messages, const TemplateTraits& traits) {
  std::vector<CheckedMessage> written;
  bool follows_result = false;
  for (CheckedMessage& message : messages) {
    if (!traits.writes_calls && !message.calls.empty()) {
      std::vector<WrittenCall> calls;
      for (const MadeCall& call : message.calls) calls.push_back({call.name, call.arguments});
      if (!message.content.empty()) message.content += '\n';
      message.content += written_calls(*traits.calls, calls);
      message.calls.clear();
    }
    const bool is_result = message.role == "tool" && !traits.writes_results;
    if (is_result) {
      message.content = as_response(message);
      message.role = "user";
      message.name.clear();
      message.call_id.clear();
    }
    if (is_result && follows_result) {
      written.back().content += '\n' + message.content;
    } else {
      written.push_back(std::move(message));
    }
    follows_result = is_result;
  }
  return written;
}

// One call a message, each followed by its result, for templates that write no more.
std::vector<CheckedMessage> with_single_calls(std::vector<CheckedMessage> messages) {
  std::vector<CheckedMessage> written;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    CheckedMessage& message = messages[i];
    if (message.calls.size() < 2) {
      written.push_back(std::move(message));
      continue;
    }
    const std::vector<MadeCall> calls = std::exchange(message.calls, {});
    std::multimap<std::string, std::size_t> results;  // the messages of results, by their calls
    std::size_t next = i + 1;
    for (; next < messages.size() && messages[next].role == "tool"; ++next)
      results.emplace(messages[next].call_id, next);
    for (const MadeCall& call : calls) {
      CheckedMessage single = std::exchange(message, {"assistant", ""});
      single.calls = {call};
      written.push_back(std::move(single));
      const auto result = results.find(call.id);
      if (result == results.end()) continue;
      written.push_back(std::move(messages[result->second]));
      results.erase(result);
    }
    i = next - 1;
  }
  return written;
}

// Nine letters and digits for each id of a call.
void shorten_ids(std::vector<CheckedMessage>& messages) {
  std::map<std::string, std::string> ids;
  const auto shorten = [&](std::string& id) {
    const auto [entry, is_new] = ids.try_emplace(id);
    if (is_new) {
      const std::string number = std::to_string(ids.size() % 100000);
      entry->second = "call" + std::string(5 - number.size(), '0') + number;
    }
    id = entry->second;
  };
  for (CheckedMessage& message : messages) {
    for (MadeCall& call : message.calls) shorten(call.id);
    if (message.role == "tool") shorten(message.call_id);
  }
}

// The system's words at the beginning of the user's next message.
std::vector<CheckedMessage> without_system(std::vector<CheckedMessage> messages) {
  std::vector<CheckedMessage> written;
  std::string words;
  for (CheckedMessage& message : messages) {
    if (message.role == "system") {
      append_paragraph(words, message.content);
      continue;
    }
    if (message.role == "user" && !words.empty()) {
      append_paragraph(words, message.content);
      message.content = std::exchange(words, {});
    }
    written.push_back(std::move(message));
  }
  if (!words.empty()) written.push_back({"user", std::move(words)});
  return written;
}

Json as_json(CheckedMessage message, const TemplateTraits& traits) {
  Json::Object members{{"role", message.role}};
  if (!message.calls.empty() && message.content.empty() && !traits.needs_content) {
    // As transformers, which leaves out what is null.
  } else if (traits.needs_parts) {
    members.emplace_back("content", Json::Array{Json::Object{{"type", "text"}, {"text", std::move(message.content)}}});
  } else {
    members.emplace_back("content", std::move(message.content));
  }
  if (!message.name.empty()) members.emplace_back("name", std::move(message.name));
  if (message.reasoning) members.emplace_back("reasoning_content", std::move(*message.reasoning));
  if (message.role == "tool") members.emplace_back("tool_call_id", std::move(message.call_id));
  if (!message.calls.empty()) {
    Json::Array calls;
    for (MadeCall& call : message.calls) {
      Json arguments =
          traits.arguments_are_text ? Json(formats::to_json_text(call.arguments)) : std::move(call.arguments);
      calls.push_back(Json::Object{
          {"id", std::move(call.id)},
          {"type", "function"},
          {"function", Json::Object{{"name", std::move(call.name)}, {"arguments", std::move(arguments)}}}});
    }
    members.emplace_back("tool_calls", std::move(calls));
  }
  return members;
}

}  // namespace

Json::Array template_messages(std::vector<CheckedMessage> messages, const TemplateTraits& traits,
                              std::string tools_text, const Json& system_tools) {
  for (CheckedMessage& message : messages) {
    if (message.role == "developer" && !traits.has_developer) message.role = "system";
  }
  const bool needs_system = !tools_text.empty() || !system_tools.is_null();
  if (needs_system && messages.front().role != "system") messages.insert(messages.begin(), {"system", ""});
  if (!tools_text.empty()) append_paragraph(messages.front().content, tools_text);
  messages = with_calls_as_text(std::move(messages), traits);
  if (!traits.several_calls) messages = with_single_calls(std::move(messages));
  if (traits.short_ids) shorten_ids(messages);
  if (!traits.has_system) messages = without_system(std::move(messages));
  Json::Array written;
  for (CheckedMessage& message : messages) written.push_back(as_json(std::move(message), traits));
  if (!system_tools.is_null()) {
    Json::Object first = written.front().as_object("message");
    first.emplace_back("tools", formats::to_json_text(system_tools));
    written.front() = std::move(first);
  }
  return written;
}

}  // namespace alate::pipelines
