#include "pipelines/generate/call_grammar.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"

namespace alate::pipelines {
namespace {

using formats::Json;
using generation::Expression;
using generation::GrammarBuilder;

constexpr std::uint32_t kMostBlanks = 8;

const Json& function_of(const Json& tool) { return *tool.find("function"); }
std::string name_of(const Json& tool) { return function_of(tool).get_string("name", ""); }

// As the request has it: what templates see lacks it.
bool is_strict(const ChatRequest& request, const std::string& name) {
  for (const Json& tool : request.tools.as_array("tools")) {
    const Json* function = tool.find("function");
    if (function->get_string("name", "") == name) return function->get_bool("strict", false);
  }
  return false;
}

std::string json_string(std::string_view text) {
  std::string result;
  formats::append_json_string(result, text);
  return result;
}

}  // namespace

Expression marker_of(GrammarBuilder& builder, const AnswerSyntax& syntax, std::string_view marker) {
  std::vector<Expression> parts;
  while (!marker.empty()) {
    std::size_t first = marker.size();
    const AnswerSyntax::SpecialToken* found = nullptr;
    for (const AnswerSyntax::SpecialToken& token : syntax.shown_tokens()) {
      const std::size_t at = marker.find(token.text);
      if (at == std::string_view::npos || (found != nullptr && at >= first)) continue;
      first = at;
      found = &token;
    }
    if (first > 0) parts.push_back(builder.text(marker.substr(0, first)));
    if (found == nullptr) break;
    parts.push_back(builder.token(found->id));
    marker.remove_prefix(first + found->text.size());
  }
  return builder.sequence(parts);
}

Expression blanks_of(GrammarBuilder& builder) {
  return builder.repeat(builder.choice({builder.text(" "), builder.text("\n")}), 0, kMostBlanks);
}

CallGrammar::CallGrammar(GrammarBuilder& builder, const AnswerSyntax& syntax, const ChatRequest& request,
                         const Json::Array& tools, Arguments arguments)
    : builder_(builder),
      syntax_(syntax),
      format_(*syntax.calls()),
      request_(request),
      tools_(tools),
      arguments_(arguments),
      blanks_(blanks_of(builder)) {}

Expression CallGrammar::any_of(Expression (CallGrammar::*part)(const Json& tool)) {
  std::vector<Expression> ways;
  for (const Json& tool : tools_) {
    if (request_.tool_choice.kind == ToolChoice::Kind::named && name_of(tool) != request_.tool_choice.name) continue;
    ways.push_back((this->*part)(tool));
  }
  return builder_.choice(ways);
}

Expression CallGrammar::arguments(const Json& tool) {
  if (arguments_ == Arguments::any_object) return builder_.json_object();
  const std::string name = name_of(tool);
  const std::string what = "the parameters of the tool " + name;
  try {
    return builder_.json_schema(*function_of(tool).find("parameters"), what);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument || is_strict(request_, name)) throw;
    return builder_.json_object();
  }
}

Expression CallGrammar::object(const Json& tool) {
  std::vector<Expression> parts{builder_.text("{"), blanks()};
  const auto member = [&](std::string_view key, Expression value) {
    parts.insert(parts.end(),
                 {builder_.text(json_string(key)), blanks(), builder_.text(":"), blanks(), value, blanks()});
  };
  member(format_.name_key, builder_.text(json_string(name_of(tool))));
  parts.insert(parts.end(), {builder_.text(","), blanks()});
  member(format_.arguments_key, arguments(tool));
  parts.push_back(builder_.text("}"));
  return builder_.sequence(parts);
}

Expression CallGrammar::named_json(const Json& tool) {
  std::vector<Expression> parts{builder_.text(name_of(tool))};
  if (format_.numbers_calls)
    parts.insert(parts.end(), {builder_.text(format_.name_tail), builder_.regex("[0-9]{1,4}", "the number of a call")});
  parts.insert(parts.end(), {marker(format_.name_end), blanks(), arguments(tool)});
  return builder_.sequence(parts);
}

Expression CallGrammar::parameter(const Json::Object& schema, std::string_view key) {
  std::vector<Expression> parts{blanks(), marker(format_.key_open), builder_.text(key), marker(format_.key_end)};
  if (!format_.value_open.empty()) parts.insert(parts.end(), {blanks(), marker(format_.value_open)});
  const Json::Member* property = nullptr;
  if (const auto found = std::ranges::find(schema, key, &Json::Member::first); found != schema.end())
    property = &*found;
  const Json* type = property == nullptr ? nullptr : property->second.find("type");
  const std::string end(format_.value_end);
  if (type != nullptr && type->is_string() && type->as_string("type") == "string") {
    const Json* values = property->second.find("enum");
    if (values != nullptr && values->is_array() && !values->as_array("enum").empty()) {
      std::vector<Expression> ways;
      for (const Json& value : values->as_array("enum"))
        if (value.is_string()) ways.push_back(builder_.text(value.as_string("enum")));
      parts.insert(parts.end(), {builder_.optional(builder_.text("\n")), builder_.choice(ways),
                                 builder_.optional(builder_.text("\n"))});
    } else {
      parts.push_back(builder_.free_text({&end, 1}));
    }
  } else {
    // A property by itself may refer to what its schema defines elsewhere: then any value will do.
    Expression value = builder_.json_value();
    try {
      if (arguments_ == Arguments::by_schema && property != nullptr &&
          formats::to_json_text(property->second).find("\"$ref\"") == std::string::npos)
        value = builder_.json_schema(property->second, "a parameter of a tool");
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument) throw;
    }
    parts.insert(parts.end(), {blanks(), value, blanks()});
  }
  parts.push_back(marker(format_.value_end));
  return builder_.sequence(parts);
}

Expression CallGrammar::named_parameters(const Json& tool) {
  std::vector<Expression> parts{builder_.text(name_of(tool))};
  if (!format_.name_end.empty()) parts.push_back(marker(format_.name_end));
  const Json& schema = *function_of(tool).find("parameters");
  const Json* properties = schema.find("properties");
  const Json* required = schema.find("required");
  const Json::Object& all = properties->as_object("properties");
  for (const auto& [key, property] : all) {
    const bool is_required = required != nullptr && required->is_array() &&
                             std::ranges::any_of(required->as_array("required"), [&](const Json& name) {
                               return name.is_string() && name.as_string("required") == key;
                             });
    const Expression one = parameter(all, key);
    parts.push_back(is_required ? one : builder_.optional(one));
  }
  return builder_.sequence(parts);
}

Expression CallGrammar::more(Expression one) {
  return builder_.sequence({one, builder_.repeat(builder_.sequence({blanks(), one}), 0)});
}

Expression CallGrammar::body() {
  std::vector<Expression> parts{};
  switch (format_.body) {
    case CallFormat::Body::objects: {
      const Expression one = any_of(&CallGrammar::object);
      parts.push_back(blanks());
      if (!format_.is_list) {
        parts.push_back(one);
        break;
      }
      parts.insert(parts.end(), {builder_.text("["), blanks(), one, blanks()});
      if (request_.parallel_tool_calls)
        parts.push_back(builder_.repeat(builder_.sequence({builder_.text(","), blanks(), one, blanks()}), 0));
      parts.push_back(builder_.text("]"));
      break;
    }
    case CallFormat::Body::json: parts.push_back(any_of(&CallGrammar::named_json)); break;
    case CallFormat::Body::parameters: parts.push_back(any_of(&CallGrammar::named_parameters)); break;
  }
  if (!format_.close.empty()) parts.insert(parts.end(), {blanks(), marker(format_.close)});
  return builder_.sequence(parts);
}

std::string_view CallGrammar::first_marker() const { return format_.section.empty() ? format_.open : format_.section; }

Expression CallGrammar::after_marker() {
  const Expression call = body();
  if (format_.section.empty()) return call;
  const Expression opened = builder_.sequence({marker(format_.open), call});
  const bool may_have_more = !format_.section_of_each && request_.parallel_tool_calls;
  return builder_.sequence({blanks(), may_have_more ? more(opened) : opened, blanks(), marker(format_.section_end)});
}

Expression CallGrammar::calls() {
  // A list, and a section around all calls, have all of them.
  const bool has_all = format_.is_list || (!format_.section.empty() && !format_.section_of_each);
  const Expression group = format_.is_bare ? body() : builder_.sequence({marker(first_marker()), after_marker()});
  return has_all || !request_.parallel_tool_calls ? group : more(group);
}

Expression CallGrammar::text_with_calls() {
  const generation::Trigger trigger{marker(first_marker()), after_marker()};
  return builder_.triggered({&trigger, 1}, false, request_.parallel_tool_calls);
}

}  // namespace alate::pipelines
