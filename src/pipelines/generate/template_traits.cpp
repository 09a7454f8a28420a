#include "pipelines/generate/template_traits.h"

#include <optional>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "formats/json.h"

namespace alate::pipelines {
namespace {

using formats::Json;

// Words that no template has.
constexpr std::string_view kUser = "alate_user_words", kSystem = "alate_system_words", kTool = "alate_tool",
                           kOtherTool = "alate_other_tool", kKey = "alate_key", kValue = "alate_value",
                           kResult = "alate_result";
constexpr std::string_view kLongId = "call_0123456789", kShortId = "call00001";

bool has(const std::optional<std::string>& text, std::string_view word) {
  return text.has_value() && text->find(word) != std::string::npos;
}

Json probe_tools() {
  const Json parameters = Json::Object{
      {"type", "object"},
      {"properties", Json::Object{{std::string(kKey), Json::Object{{"type", "string"}, {"description", "d"}}}}},
      {"required", Json::Array{Json(kKey)}}};
  return Json::Array{Json::Object{
      {"type", "function"},
      {"function", Json::Object{{"name", Json(kTool)}, {"description", "d"}, {"parameters", parameters}}}}};
}

// Renders small conversations.
class TemplateProbe {
 public:
  explicit TemplateProbe(const ChatTemplate& chat_template) : template_(chat_template) {}

  std::optional<std::string> render(Json::Array messages, TemplateTraits::ToolsBy tools_by) const {
    const std::string tools = formats::to_json_text(probe_tools());
    std::string variables;
    if (tools_by == TemplateTraits::ToolsBy::xml_variable) variables = "{\"xml_tools\":" + tools + "}";
    if (tools_by == TemplateTraits::ToolsBy::system_message)
      messages.insert(messages.begin(), Json::Object{{"role", "system"}, {"content", Json(kSystem)}, {"tools", tools}});
    try {
      return template_
          .render(formats::to_json_text(messages),
                  {.tools = tools_by == TemplateTraits::ToolsBy::variable ? std::string_view(tools) : "",
                   .variables = variables,
                   .add_generation_prompt = true})
          .text;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  Json message(std::string_view role, std::string_view content) const {
    Json::Object members{{"role", Json(role)}};
    if (needs_parts) {
      members.emplace_back("content", Json::Array{Json::Object{{"type", "text"}, {"text", Json(content)}}});
    } else {
      members.emplace_back("content", Json(content));
    }
    return members;
  }

  bool needs_parts = false;

 private:
  const ChatTemplate& template_;
};

Json call_of(std::string_view tool, std::string_view id, bool arguments_are_text) {
  const Json arguments = Json::Object{{std::string(kKey), Json(kValue)}};
  return Json::Object{
      {"id", Json(id)},
      {"type", "function"},
      {"function",
       Json::Object{{"name", Json(tool)},
                    {"arguments", arguments_are_text ? Json(formats::to_json_text(arguments)) : arguments}}}};
}

// A conversation with a call, or two, and the result, written as the traits say.
Json::Array conversation_with_calls(const TemplateProbe& probe, const TemplateTraits& traits, bool has_two) {
  const std::string_view id = traits.short_ids ? kShortId : kLongId;
  Json::Array calls{call_of(kTool, id, traits.arguments_are_text)};
  if (has_two)
    calls.push_back(call_of(kOtherTool, traits.short_ids ? "call00002" : "call_other", traits.arguments_are_text));
  Json::Object turn{{"role", "assistant"}};
  if (traits.needs_content) turn.emplace_back("content", "");
  turn.emplace_back("tool_calls", std::move(calls));
  const Json result =
      Json::Object{{"role", "tool"}, {"tool_call_id", Json(id)}, {"name", Json(kTool)}, {"content", Json(kResult)}};
  return {probe.message("user", kUser), turn, result};
}

// How calls of a conversation must be given, so that the template writes them. Whether it writes none, or some in a
// format that is known.
bool probe_calls(const TemplateProbe& probe, TemplateTraits& traits) {
  bool writes_unknown = false;
  for (const bool arguments_are_text : {false, true}) {
    for (const bool needs_content : {false, true}) {
      for (const bool short_ids : {false, true}) {
        TemplateTraits tried = traits;
        tried.arguments_are_text = arguments_are_text;
        tried.needs_content = needs_content;
        tried.short_ids = short_ids;
        const auto text = probe.render(conversation_with_calls(probe, tried, false), traits.tools_by);
        if (!has(text, kUser)) continue;
        const std::string_view turn = std::string_view(*text).substr(text->find(kUser) + kUser.size());
        const std::size_t call = turn.find(kTool);
        if (call == std::string_view::npos || turn.find(kKey, call) == std::string_view::npos ||
            turn.find(kValue, call) == std::string_view::npos)
          continue;
        const CallFormat* format = call_format_of_turn(turn, kTool);
        writes_unknown |= format == nullptr;
        if (format == nullptr) continue;
        traits = tried;
        traits.calls = format;
        traits.writes_calls = true;
        const auto several = probe.render(conversation_with_calls(probe, tried, true), traits.tools_by);
        traits.several_calls = has(several, kTool) && has(several, kOtherTool);
        return true;
      }
    }
  }
  return !writes_unknown;
}

// How the model is told of tools; `none` where the template has no way, or one whose calls are not known here.
void probe_tool_lists(const TemplateProbe& probe, TemplateTraits& traits) {
  using ToolsBy = TemplateTraits::ToolsBy;
  const Json::Array user{probe.message("user", kUser)};
  const std::string without = probe.render(user, ToolsBy::none).value_or("");
  for (const ToolsBy tools_by : {ToolsBy::variable, ToolsBy::xml_variable, ToolsBy::system_message}) {
    const auto text = probe.render(user, tools_by);
    if (!has(text, kTool)) continue;
    TemplateTraits found = traits;
    found.tools_by = tools_by;
    if (!probe_calls(probe, found)) return;
    if (!found.writes_calls) {
      const CallFormat* format = call_format_of_prompt(*text, without);
      if (format == nullptr) return;
      found.calls = format;
    }
    Json::Array messages = found.writes_calls
                               ? conversation_with_calls(probe, found, false)
                               : Json::Array{probe.message("user", kUser), probe.message("assistant", "c"),
                                             Json::Object{{"role", "tool"}, {"content", Json(kResult)}}};
    found.writes_results = has(probe.render(std::move(messages), tools_by), kResult);
    traits = found;
    return;
  }
}

}  // namespace

TemplateTraits traits_of(const ChatTemplate& chat_template) {
  constexpr auto kNone = TemplateTraits::ToolsBy::none;
  TemplateProbe probe(chat_template);
  TemplateTraits traits;
  if (!has(probe.render({probe.message("user", kUser)}, kNone), kUser)) {
    probe.needs_parts = true;
    probe.needs_parts = has(probe.render({probe.message("user", kUser)}, kNone), kUser);
  }
  traits.needs_parts = probe.needs_parts;
  const auto with_role = [&](std::string_view role) {
    return probe.render({probe.message(role, kSystem), probe.message("user", kUser)}, kNone);
  };
  traits.has_system = has(with_role("system"), kSystem);
  // A template that writes any role as it stands knows nothing of this one.
  constexpr std::string_view kDeveloper = "developer", kNoRole = "alate_role";
  const auto developer = with_role(kDeveloper);
  if (has(developer, kSystem)) {
    std::string other = with_role(kNoRole).value_or("");
    for (std::size_t at = other.find(kNoRole); at != std::string::npos; at = other.find(kNoRole, at))
      other.replace(at, kNoRole.size(), kDeveloper);
    traits.has_developer = other != *developer;
  }
  probe_tool_lists(probe, traits);
  return traits;
}

}  // namespace alate::pipelines
