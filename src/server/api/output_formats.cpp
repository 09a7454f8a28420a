#include "server/api/output_formats.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

using formats::Json;
using Kind = OutputFormat::Kind;

constexpr std::size_t kMostChoices = 1024;

[[noreturn]] void refuse_at(std::string_view place, const std::string& what) {
  refuse(Problem::Kind::invalid, std::string(place) + what, std::string(place.substr(0, place.find('.'))));
}

const std::string& text_at(const Json& value, std::string_view place) {
  if (!value.is_string()) refuse_at(place, " is a " + std::string(value.kind()) + "; it must be a text");
  return value.as_string(place);
}

// A schema as JSON or as its text.
OutputFormat schema_format(const Json& schema, std::string_view place) {
  if (schema.is_string()) return {Kind::json_schema, schema.as_string(place)};
  if (!schema.is_object() && !schema.is_bool())
    refuse_at(place, " is a " + std::string(schema.kind()) + "; it must be a JSON schema");
  return {Kind::json_schema, formats::to_json_text(schema)};
}

void append_literal(std::string& grammar, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  grammar += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      grammar += '\\';
      grammar += c;
    } else if (byte < 0x20) {
      grammar += "\\x";
      grammar += kDigits[byte >> 4];
      grammar += kDigits[byte & 15];
    } else {
      grammar += c;
    }
  }
  grammar += '"';
}

// One of these texts.
OutputFormat choice_format(const Json& choices, std::string_view place) {
  if (!choices.is_array()) refuse_at(place, " is a " + std::string(choices.kind()) + "; it must be a list of texts");
  const Json::Array& texts = choices.as_array(place);
  if (texts.empty() || texts.size() > kMostChoices)
    refuse_at(place, " has " + std::to_string(texts.size()) + " texts; it must have from 1 to " +
                         std::to_string(kMostChoices));
  std::string grammar = "root ::=";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    grammar += i == 0 ? " " : " | ";
    append_literal(grammar, text_at(texts[i], place));
  }
  return {Kind::grammar, std::move(grammar)};
}

OutputFormat json_format(const Json& wanted, std::string_view place) {
  if (!wanted.is_bool()) refuse_at(place, " is a " + std::string(wanted.kind()) + "; it must be true or false");
  return {wanted.as_bool(place) ? Kind::json : Kind::text, {}};
}

OutputFormat regex_format(const Json& value, std::string_view place) { return {Kind::regex, text_at(value, place)}; }
OutputFormat grammar_format(const Json& value, std::string_view place) {
  return {Kind::grammar, text_at(value, place)};
}

// A member that has a format by itself.
struct FormatMember {
  std::string_view name;
  OutputFormat (*read)(const Json& value, std::string_view place);
};

constexpr std::array kMembers = std::to_array<FormatMember>({
    {"response_format", read_response_format},
    {"json_schema", schema_format},
    {"grammar", grammar_format},
    {"guided_json", schema_format},
    {"guided_regex", regex_format},
    {"guided_choice", choice_format},
    {"guided_grammar", grammar_format},
});
// Of vLLM's structured_outputs.
constexpr std::array kStructured = std::to_array<FormatMember>({
    {"json", schema_format},
    {"json_object", json_format},
    {"regex", regex_format},
    {"choice", choice_format},
    {"grammar", grammar_format},
});

void read_members(const Json& object, std::span<const FormatMember> members, const std::string& prefix,
                  std::string& found_at, OutputFormat& format) {
  for (const FormatMember& member : members) {
    const Json* value = object.find_value(member.name);
    if (value == nullptr) continue;
    const std::string place = prefix + std::string(member.name);
    OutputFormat read = member.read(*value, place);
    if (read.kind == Kind::text) continue;
    if (format.kind != Kind::text)
      refuse_at(place, " and " + found_at + " both say what the text must look like: give one");
    format = std::move(read);
    found_at = place;
  }
}

const Json& member_of(const Json& format, std::string_view member, std::string_view name) {
  if (const Json* value = format.find_value(member)) return *value;
  refuse_at(name, " has no " + std::string(member));
}

}  // namespace

OutputFormat read_response_format(const Json& format, std::string_view name) {
  if (!format.is_object())
    refuse_at(name, " is a " + std::string(format.kind()) + "; it must be an object with a type");
  const std::string place = std::string(name) + ".type";
  const std::string& type = text_at(member_of(format, "type", name), place);
  if (type == "text") return {};
  if (type == "json_object") {  // with a schema in llama.cpp
    const Json* schema = format.find_value("schema");
    return schema != nullptr ? schema_format(*schema, std::string(name) + ".schema") : OutputFormat{Kind::json, {}};
  }
  if (type == "json_schema") {
    const Json* inner = format.find_value("json_schema");
    const Json& holder = inner != nullptr ? *inner : format;
    const std::string where = std::string(name) + (inner != nullptr ? ".json_schema" : "");
    if (const Json* schema = holder.find_value("schema")) return schema_format(*schema, where + ".schema");
    // OpenAI's schema may be absent: then any JSON object fits. One of TGI's has it as a value.
    if (const Json* value = format.find_value("value")) return schema_format(*value, std::string(name) + ".value");
    return {Kind::json, {}};
  }
  if (type == "json") return schema_format(member_of(format, "value", name), std::string(name) + ".value");
  if (type == "regex") return regex_format(member_of(format, "value", name), std::string(name) + ".value");
  if (type == "grammar") {
    const Json* grammar = format.find_value("grammar");
    return grammar_format(grammar != nullptr ? *grammar : member_of(format, "value", name), std::string(name));
  }
  refuse_at(place, " is " + formats::quoted_name(type) +
                       "; it must be \"text\", \"json_object\", \"json_schema\", \"regex\" or \"grammar\"");
}

OutputFormat read_output_format(const Json& body) {
  OutputFormat format;
  std::string found_at;
  read_members(body, kMembers, "", found_at, format);
  if (const Json* structured = body.find_value("structured_outputs")) {
    if (!structured->is_object()) refuse_at("structured_outputs", " must be an object");
    read_members(*structured, kStructured, "structured_outputs.", found_at, format);
  }
  return format;
}

OutputFormat read_ollama_format(const Json& format) {
  if (format.is_null()) return {};
  if (format.is_object()) return schema_format(format, "format");
  const std::string& name = text_at(format, "format");
  if (name.empty()) return {};
  if (name == "json") return {Kind::json, {}};
  refuse_at("format", " is " + formats::quoted_name(name) + "; it must be \"json\" or a JSON schema");
}

}  // namespace alate::server
