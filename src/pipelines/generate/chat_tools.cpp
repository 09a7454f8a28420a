#include "pipelines/generate/chat_tools.h"

#include <set>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "pipelines/generate/call_format.h"
#include "pipelines/generate/call_sink.h"

namespace alate::pipelines {
namespace {

using formats::Json;

template <typename... Parts>
Error refused_tool(std::size_t index, const Parts&... parts) {
  return make_error(ErrorCode::invalid_argument, "tools[", index, "]", parts...);
}

Json checked_tool(const Json& tool, std::size_t index) {
  if (!tool.is_object()) throw refused_tool(index, " is ", tool.kind(), " where an object is expected");
  const std::string type = tool.get_string("type", "function");
  if (type != "function")
    throw refused_tool(index, ".type is ", formats::quoted_name(type),
                       ": only tools of the type function can be called");
  const Json* function = tool.find_value("function");
  if (function == nullptr || !function->is_object())
    throw refused_tool(index, ".function is missing: an object with a name is expected");
  const Json* name = function->find_value("name");
  if (name == nullptr || !name->is_string()) throw refused_tool(index, ".function.name is missing: a text is expected");
  if (!is_tool_name(name->as_string("name")))
    throw refused_tool(index, ".function.name is ", formats::quoted_name(name->as_string("name")),
                       ": names have up to ", kMostToolName, " letters, digits, \"_\", \"-\" and \".\"");
  Json::Object shown{{"name", *name}};
  const Json* description = function->find_value("description");
  if (description != nullptr && !description->is_string())
    throw refused_tool(index, ".function.description is ", description->kind(), " where a text is expected");
  // Templates add it to text.
  shown.emplace_back("description", description == nullptr ? Json("") : *description);
  const Json* parameters = function->find_value("parameters");
  if (parameters != nullptr && !parameters->is_object())
    throw refused_tool(index, ".function.parameters is ", parameters->kind(),
                       " where a JSON schema of an object is expected");
  if (parameters == nullptr) {
    shown.emplace_back("parameters", Json::Object{{"type", "object"}, {"properties", Json::Object()}});
  } else {
    Json::Object schema = parameters->as_object("parameters");
    // Templates go through the properties.
    if (const Json* properties = parameters->find_value("properties");
        properties != nullptr && !properties->is_object())
      throw refused_tool(index, ".function.parameters.properties is ", properties->kind(),
                         " where an object is expected");
    if (parameters->find_value("properties") == nullptr) {
      std::erase_if(schema, [](const Json::Member& member) { return member.first == "properties"; });
      schema.emplace_back("properties", Json::Object());
    }
    if (parameters->find_value("type") == nullptr) {
      std::erase_if(schema, [](const Json::Member& member) { return member.first == "type"; });
      schema.insert(schema.begin(), {"type", "object"});
    }
    shown.emplace_back("parameters", std::move(schema));
  }
  return Json::Object{{"type", "function"}, {"function", std::move(shown)}};
}

}  // namespace

Json::Array checked_tools(const Json& tools, const ToolChoice& choice) {
  Json::Array checked;
  if (!tools.is_null()) {
    const Json::Array& all = tools.as_array("tools");
    if (all.size() > kMostTools)
      throw make_error(ErrorCode::invalid_argument, "tools has ", all.size(), " entries, more than ", kMostTools);
    std::set<std::string> names;
    for (std::size_t i = 0; i < all.size(); ++i) {
      checked.push_back(checked_tool(all[i], i));
      const std::string name = checked.back().find("function")->get_string("name", "");
      if (!names.insert(name).second)
        throw refused_tool(i, ".function.name ", formats::quoted_name(name), " occurs twice: names must differ");
    }
    if (choice.kind == ToolChoice::Kind::named && !names.contains(choice.name))
      throw make_error(ErrorCode::invalid_argument, "tool_choice names ", formats::quoted_name(choice.name),
                       ", which is none of the tools");
  }
  if (checked.empty() && (choice.kind == ToolChoice::Kind::required || choice.kind == ToolChoice::Kind::named))
    throw Error(ErrorCode::invalid_argument, "tool_choice asks for a call of a tool, but there are no tools");
  if (choice.kind == ToolChoice::Kind::none) checked.clear();
  return checked;
}

std::string tools_as_text(const Json::Array& tools, const ToolChoice& choice) {
  const CallFormat& format = general_call_format();
  std::string text =
      "You can call tools. These are the tools, as JSON, with a JSON schema of their arguments:\n<tools>\n";
  for (const Json& tool : tools) text += formats::to_json_text(tool) + '\n';
  text +=
      "</tools>\nTo call a tool, write a JSON object with its name and its arguments between these tags, and nothing "
      "after it:\n";
  text += std::string(format.open) + "\n{\"name\": \"TOOL\", \"arguments\": {\"ARGUMENT\": VALUE}}\n" +
          std::string(format.close) + '\n';
  text +=
      "To call several tools, write one such block after the other. You then get their results between "
      "<tool_response> and </tool_response>.";
  switch (choice.kind) {
    case ToolChoice::Kind::required: text += " You must call a tool now."; break;
    case ToolChoice::Kind::named: text += " You must call " + choice.name + " now."; break;
    case ToolChoice::Kind::automatic:
    case ToolChoice::Kind::none: text += " Where no tool is of use, answer the user as usual."; break;
  }
  return text;
}

}  // namespace alate::pipelines
