#include "tokenizers/chat_templates/conversation.h"

#include <algorithm>
#include <array>

#include "alate/error.h"
#include "tokenizers/chat_templates/methods/methods.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

using formats::Json;

constexpr std::string_view kMark = "CONTINUE_FINAL_MESSAGE_TAG ";
// Names under which reasoning is passed; templates read the first.
constexpr std::array<std::string_view, 3> kReasoning = {"reasoning_content", "thinking", "reasoning"};

std::string_view trimmed(std::string_view text) { return stripped(text, nullptr, true, true); }

struct FromJson {
  Value operator()(std::monostate) const { return Value::none(); }
  Value operator()(bool value) const { return Value::boolean(value); }
  Value operator()(std::int64_t value) const { return Value::integer(value); }
  Value operator()(std::uint64_t value) const { return Value::integer(value); }
  Value operator()(double value) const { return Value::real(value); }
  Value operator()(const std::string& value) const { return constant_text(value); }
  Value operator()(const Json::Array& array) const {
    auto list = std::make_shared<Sequence>();
    list->items.reserve(array.size());
    int deepest = 0;
    for (const Json& item : array) {
      list->items.push_back(from_json(item));
      deepest = std::max(deepest, depth_of(list->items.back()));
    }
    list->depth = deepest + 1;
    return Value(std::shared_ptr<const Sequence>(std::move(list)));
  }
  Value operator()(const Json::Object& object) const {
    Entries entries;
    entries.reserve(object.size());
    for (const auto& [key, value] : object) entries.emplace_back(constant_text(key), from_json(value));
    return Value(std::shared_ptr<const Mapping>(std::make_shared<Mapping>(std::move(entries), Charge())));
  }
};

Json prepared(const Json& message) {
  if (!message.is_object()) {
    throw make_error(ErrorCode::invalid_argument, "a message of a conversation is ", message.kind(),
                     " where an object with a role is expected");
  }
  Json::Object members;
  for (const auto& [key, value] : message.as_object("message")) {
    if (!value.is_null()) members.emplace_back(key, value);
  }
  const Json filtered(members);
  const Json* reasoning = nullptr;
  for (const std::string_view name : kReasoning) {
    reasoning = filtered.find(name);
    if (reasoning != nullptr) break;
  }
  if (reasoning == nullptr) return Json(std::move(members));
  // "thinking" comes first unless it is there, "reasoning_content" in its place or last.
  Json::Object aliased;
  if (filtered.find("thinking") == nullptr) {
    aliased.emplace_back("thinking", *reasoning);
  } else {
    aliased.emplace_back("thinking", *filtered.find("thinking"));
  }
  for (auto& member : members) {
    if (member.first == "thinking") continue;
    aliased.push_back(member.first == "reasoning_content" ? Json::Member(member.first, *reasoning) : member);
  }
  if (filtered.find("reasoning_content") == nullptr) aliased.emplace_back("reasoning_content", *reasoning);
  return Json(std::move(aliased));
}

// The message with a member changed.
Json with_member(const Json& message, std::string_view name, const Json& changed) {
  Json::Object members = message.as_object("message");
  for (auto& [key, value] : members) {
    if (key == name) value = changed;
  }
  return Json(std::move(members));
}

[[noreturn]] void refuse(std::string_view message) {
  throw make_error(ErrorCode::invalid_argument, "continue_final_message is set but ", message);
}

}  // namespace

Value from_json(const Json& json) { return json.visit(FromJson()); }

Json prepared_messages(const Json& messages) {
  if (!messages.is_array() || messages.as_array("messages").empty()) {
    throw Error(ErrorCode::invalid_argument, "a conversation must be a list of at least one message");
  }
  Json::Array all;
  for (const Json& message : messages.as_array("messages")) all.push_back(prepared(message));
  return Json(std::move(all));
}

Continuation::Continuation(Json& messages, std::string_view field, std::string_view template_text) {
  Json::Array all = messages.as_array("messages");
  Json& last = all.back();
  const Json* content = last.find(field);
  if (content == nullptr) refuse("the final message has no \"" + std::string(field) + "\" to continue");
  std::vector<std::string> fields{std::string(field)};
  if (std::ranges::find(kReasoning, field) != kReasoning.end()) {
    fields.clear();
    for (const std::string_view name : kReasoning) {
      const Json* other = last.find(name);
      if (other != nullptr && formats::to_json_text(*other) == formats::to_json_text(*content))
        fields.emplace_back(name);
    }
  }
  if (std::ranges::none_of(
          fields, [&](const std::string& name) { return template_text.find(name) != std::string_view::npos; })) {
    refuse("\"" + std::string(field) + "\" is no field that the chat template reads");
  }
  if (content->is_array()) {
    Json::Array parts = content->as_array("content");
    const auto is_text = [](const Json& part) {
      return part.find("text") != nullptr && part.find("text")->is_string();
    };
    const auto text = std::ranges::find_if(parts.rbegin(), parts.rend(), is_text);
    if (text == parts.rend()) refuse("there is no text to continue in the final message");
    final_text_ = text->find("text")->as_string("text");
    *text = with_member(*text, "text", Json(final_text_ + std::string(kMark)));
    last = with_member(last, field, Json(std::move(parts)));
  } else if (content->is_string()) {
    final_text_ = content->as_string(field);
    for (const std::string& name : fields) last = with_member(last, name, Json(final_text_ + std::string(kMark)));
  } else {
    refuse("the field of the final message is " + std::string(content->kind()) + " where text is expected");
  }
  messages = Json(std::move(all));
}

std::string Continuation::cut(std::string rendered) const {
  const std::string_view mark = trimmed(kMark);
  const std::size_t at = rendered.rfind(mark);
  if (at == std::string::npos || rendered.find(trimmed(final_text_)) == std::string::npos) {
    refuse("the final message does not appear in what the chat template writes");
  }
  const bool keeps_spaces = rendered.compare(at, kMark.size(), kMark) == 0;
  rendered.resize(at);
  if (!keeps_spaces) rendered.resize(stripped(rendered, nullptr, false, true).size());
  return rendered;
}

}  // namespace alate::tokenizers::chat_templates
