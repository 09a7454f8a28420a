#include "server/schema/schema_file.h"

#include <cstddef>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::string_view kDefinitions = "#/$defs/";
constexpr std::size_t kMostReferences = 16;  // one inside the other

[[noreturn]] void wrong_reference(std::string_view what, std::string_view reference) {
  throw make_error(ErrorCode::internal, "a schema refers to '", reference, "', ", what);
}

// `inside`: the references that led here.
Json resolved(const Json& value, const Json& definitions, std::size_t inside) {
  if (value.is_array()) {
    Json::Array items;
    for (const Json& item : value.as_array("array")) items.push_back(resolved(item, definitions, inside));
    return items;
  }
  if (!value.is_object()) return value;
  if (const Json* reference = value.find("$ref")) {
    const std::string& target = reference->as_string("$ref");
    if (inside == kMostReferences) wrong_reference("which leads to itself", target);
    const Json* found =
        target.starts_with(kDefinitions) ? definitions.find(target.substr(kDefinitions.size())) : nullptr;
    if (found == nullptr) wrong_reference("which is not in its file", target);
    if (value.as_object("object").size() > 1) wrong_reference("and has other members beside the reference", target);
    return resolved(*found, definitions, inside + 1);
  }
  Json::Object members;
  for (const auto& [name, member] : value.as_object("object"))
    members.emplace_back(name, resolved(member, definitions, inside));
  return members;
}

}  // namespace

SchemaFile::SchemaFile(std::string_view text) {
  try {
    const Json file = formats::parse_json(text, "a file of schemas");
    const Json* definitions = file.find("$defs");
    if (definitions == nullptr) throw make_error(ErrorCode::internal, "a file of schemas has no $defs");
    for (const auto& [name, schema] : definitions->as_object("$defs"))
      texts_.emplace(name, formats::to_json_text(resolved(schema, *definitions, 0)));
  } catch (const Error& error) {
    throw Error(ErrorCode::internal, error.message());
  }
}

std::string_view SchemaFile::schema(std::string_view name) const {
  const auto found = texts_.find(name);
  if (found == texts_.end()) throw make_error(ErrorCode::internal, "a file of schemas has no '", name, "'");
  return found->second;
}

}  // namespace alate::server
