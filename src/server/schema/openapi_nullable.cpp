#include <algorithm>
#include <utility>

#include "server/schema/openapi.h"

namespace alate::server {
namespace {

using formats::Json;

Json null_type() { return Json::Object{{"type", "null"}}; }

bool takes_null(const Json& schema) {
  const Json* type = schema.find("type");
  if (type == nullptr) return false;
  if (type->is_string()) return type->as_string("type") == "null";
  return std::ranges::any_of(type->as_array("type"), [](const Json& one) { return one.as_string("type") == "null"; });
}

Json list_with(const Json& list, Json last) {
  Json::Array entries = list.is_array() ? list.as_array("list") : Json::Array{list};
  entries.push_back(std::move(last));
  return Json(std::move(entries));
}

bool refuses_null(const Json& schema) {
  const Json* keyword = schema.find("nullable");
  return keyword != nullptr && !keyword->as_bool("nullable");
}

// The schema, extended to accept null.
Json nullable(const Json& schema) {
  const Json* any = schema.find("anyOf");
  const Json* type = schema.find("type");
  if (takes_null(schema) || (any == nullptr && type == nullptr && schema.find("enum") == nullptr)) return schema;
  if (any != nullptr && std::ranges::any_of(any->as_array("anyOf"), takes_null)) return schema;
  // Both keywords would have to accept null.
  if (any != nullptr && type != nullptr) return Json::Object{{"anyOf", Json::Array{schema, null_type()}}};
  Json::Object result = schema.as_object("schema");
  for (auto& [keyword, value] : result) {
    if (keyword == "type") value = list_with(value, "null");
    if (keyword == "enum") value = list_with(value, Json());
    if (keyword == "anyOf") value = list_with(value, null_type());
  }
  return Json(std::move(result));
}

bool is_required(const Json* required, std::string_view name) {
  return required != nullptr && std::ranges::any_of(required->as_array("required"),
                                                    [&](const Json& one) { return one.as_string("required") == name; });
}

}  // namespace

Json with_nullable_members(const Json& schema) {
  if (!schema.is_object()) return schema;
  const Json* required = schema.find("required");
  Json::Object result = schema.as_object("schema");
  if (refuses_null(schema)) std::erase_if(result, [](const Json::Member& each) { return each.first == "nullable"; });
  for (auto& [keyword, value] : result) {
    if (keyword == "properties") {
      Json::Object properties = value.as_object(keyword);
      for (auto& [name, property] : properties) {
        Json inner = with_nullable_members(property);
        const bool stays = is_required(required, name) || refuses_null(property);
        property = stays ? std::move(inner) : nullable(inner);
      }
      value = Json(std::move(properties));
    } else if (keyword == "items") {
      value = with_nullable_members(value);
    } else if (keyword == "additionalProperties" && value.is_object()) {
      value = nullable(with_nullable_members(value));
    } else if (keyword == "anyOf") {
      Json::Array alternatives;
      for (const Json& one : value.as_array(keyword)) alternatives.push_back(with_nullable_members(one));
      value = Json(std::move(alternatives));
    }
  }
  return Json(std::move(result));
}

}  // namespace alate::server
