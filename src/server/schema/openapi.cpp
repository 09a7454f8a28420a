#include "server/schema/openapi.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "server/schema/schema.h"

namespace alate::server {
namespace {

using formats::Json;
using Kind = Problem::Kind;
using Kinds = std::vector<Kind>;

Json reference(std::string_view section, std::string_view name) {
  return Json::Object{{"$ref", "#/components/" + std::string(section) + "/" + std::string(name)}};
}

// The family's display name, and a description of its routes.
struct FamilyPage {
  std::string_view title, description, error;
};

FamilyPage page_of(Family family) {
  constexpr std::string_view kPlain = "Error";
  switch (family) {
    case Family::native: return {"Native", "Alate's own routes, also under /ai/v1.", kPlain};
    case Family::openai: return {"OpenAI", "What clients of OpenAI's API call.", "OpenAIError"};
    case Family::anthropic: return {"Anthropic", "What clients of Anthropic's API call.", "AnthropicError"};
    case Family::tei: return {"TEI", "What clients of Hugging Face's text-embeddings-inference call.", "TEIError"};
    case Family::cohere: return {"Cohere", "What clients of Cohere's and Jina's APIs call.", "CohereError"};
    case Family::ollama: return {"Ollama", "What clients of Ollama call.", kPlain};
    case Family::kserve: return {"KServe", "The open inference protocol, version 2.", kPlain};
    case Family::operations: break;
  }
  return {"Operations", "Health, metrics and these pages.", kPlain};
}

Json text_type(std::string_view description) { return Json::Object{{"type", "string"}, {"description", description}}; }

Json object_type(Json::Object properties) {
  Json::Array required;
  for (const auto& [name, schema] : properties) required.emplace_back(name);
  return Json::Object{
      {"type", "object"}, {"required", std::move(required)}, {"properties", Json(std::move(properties))}};
}

Json nullable_text(std::string_view description) {
  return Json::Object{{"type", Json::Array{"string", "null"}}, {"description", description}};
}

Json error_schema(Family family) {
  constexpr std::string_view kMessage = "What is wrong, where, and what to do.";
  switch (family) {
    case Family::openai:
      return object_type({{"error", object_type({{"message", text_type(kMessage)},
                                                 {"type", text_type("The kind of error.")},
                                                 {"param", nullable_text("The field that is wrong.")},
                                                 {"code", nullable_text("The error by name.")}})}});
    case Family::anthropic:
      return object_type({{"type", text_type("Always \"error\".")},
                          {"error", object_type({{"type", text_type("The kind of error.")},
                                                 {"message", text_type(kMessage)},
                                                 {"param", nullable_text("The field that is wrong.")},
                                                 {"code", nullable_text("The error by name.")}})}});
    case Family::tei:
      return object_type({{"error", text_type(kMessage)}, {"error_type", text_type("The kind of error.")}});
    case Family::cohere: return object_type({{"message", text_type(kMessage)}});
    case Family::native:
    case Family::ollama:
    case Family::kserve:
    case Family::operations: break;
  }
  return object_type({{"error", text_type(kMessage)}, {"code", text_type("The kind of error in one word.")}});
}

std::string_view description_of(Kind kind) {
  switch (kind) {
    case Kind::malformed: return "The request is no HTTP or no JSON.";
    case Kind::invalid: return "The body does not fit its schema.";
    case Kind::empty: return "There is no text.";
    case Kind::impossible: return "The model cannot do what is asked.";
    case Kind::too_long: return "A text is longer than the model takes, and must not be cut.";
    case Kind::too_many: return "There are more inputs than the server takes in one request.";
    case Kind::unauthenticated: return "The key is absent or wrong.";
    case Kind::forbidden: return "The request comes from a web page or names a host that this server does not serve.";
    case Kind::not_found: return "There is no such route.";
    case Kind::no_model: return "There is no such model.";
    case Kind::not_allowed: return "The route does not take this method.";
    case Kind::timeout_reading: return "The request came too slowly.";
    case Kind::too_large: return "The body is larger than the server takes.";
    case Kind::wrong_type: return "The body has a Content-Type that the route does not take.";
    case Kind::overloaded: return "The server has too much to do.";
    case Kind::not_ready: return "The server is loading or shutting down.";
    case Kind::unsupported: return "This version cannot run the model or lacks what is asked.";
    case Kind::timeout: return "The answer was not there in time.";
    case Kind::internal: return "Something failed inside the server.";
  }
  return "";
}

bool has_parameters(const Route& route) { return route.path.find('{') != std::string_view::npos; }

bool has_model(const Json& body) {
  const Json* properties = body.find("properties");
  if (properties != nullptr && properties->find("model") != nullptr) return true;
  const Json* any = body.find("anyOf");
  return any != nullptr && std::ranges::any_of(any->as_array("anyOf"), has_model);
}

bool names_model(const Route& route, const Json& body) {
  return route.path.find("{model}") != std::string_view::npos || has_model(body);
}

// Possible errors of a route, derived from its properties. Methods and paths missing from the table are not errors of
// any operation.
Kinds problems_of(const Route& route, const Json& body, bool has_keys) {
  Kinds kinds{Kind::malformed};
  const auto add = [&](std::initializer_list<Kind> more) { kinds.insert(kinds.end(), more); };
  if (route.access != Access::open) {
    add({Kind::forbidden, Kind::not_ready});
    if (has_keys) add({Kind::unauthenticated});
  }
  if (!route.body.empty())
    add({Kind::invalid, Kind::timeout_reading, Kind::too_large, Kind::wrong_type, Kind::overloaded, Kind::internal});
  if (names_model(route, body) || route.computes)
    add({Kind::no_model, Kind::impossible, Kind::unsupported, Kind::internal});
  if (has_parameters(route)) add({Kind::not_found});
  if (route.computes)
    add({Kind::empty, Kind::too_long, Kind::too_many, Kind::too_large, Kind::overloaded, Kind::timeout});
  return kinds;
}

Json header_references(const std::vector<std::string_view>& names) {
  Json::Object headers;
  for (const std::string_view name : names) headers.emplace_back(name, reference("headers", name));
  return Json(std::move(headers));
}

Json answer_object(std::string description, const std::vector<std::string_view>& headers, Json::Object content) {
  Json::Object answer{{"description", std::move(description)}, {"headers", header_references(headers)}};
  if (!content.empty()) answer.emplace_back("content", std::move(content));
  return Json(std::move(answer));
}

// The row's own answers; those with the same status become one entry with several content types.
void add_answers(std::map<int, Json>& answers, const Route& route) {
  std::map<int, std::pair<std::string, Json::Object>> merged;
  for (const RouteAnswer& answer : route.answers) {
    auto& [description, content] = merged[answer.status];
    if (!description.empty()) description += " ";
    description += answer.description;
    if (answer.content_type.empty()) continue;
    Json schema = Json(Json::Object{});
    if (!answer.schema.empty()) schema = formats::parse_json(answer.schema, route.id);
    content.emplace_back(answer.content_type, Json::Object{{"schema", std::move(schema)}});
  }
  for (auto& [status, answer] : merged) {
    std::vector<std::string_view> headers{"X-Request-Id"};
    if (route.computes) headers.insert(headers.end(), {"Server-Timing", "X-Model-Fingerprint", "X-Keep-Alive-Ignored"});
    if (status == 503) headers.emplace_back("Retry-After");
    answers[status] = answer_object(std::move(answer.first), headers, std::move(answer.second));
  }
}

void add_errors(std::map<int, Json>& answers, const Route& route, const Kinds& kinds) {
  std::map<int, std::vector<std::string_view>> by_status;
  for (const Kind kind : kinds) {
    auto& sentences = by_status[status_of(route.family, kind)];
    const std::string_view sentence = description_of(kind);
    if (std::ranges::find(sentences, sentence) == sentences.end()) sentences.push_back(sentence);
  }
  if (has_parameters(route)) by_status[414].push_back("The address is longer than the server takes.");
  for (const auto& [status, sentences] : by_status) {
    if (answers.contains(status)) continue;
    std::string description;
    for (const std::string_view sentence : sentences) (description += description.empty() ? "" : " ") += sentence;
    std::vector<std::string_view> headers{"X-Request-Id"};
    if (status == 401) headers.emplace_back("WWW-Authenticate");
    if (status == 415) headers.emplace_back("Accept");
    if (status == 429 || status == 503) headers.emplace_back("Retry-After");
    Json content = Json::Object{{"schema", reference("schemas", page_of(route.family).error)}};
    answers[status] =
        answer_object(std::move(description), headers, Json::Object{{"application/json", std::move(content)}});
  }
}

Json path_parameters(std::string_view path) {
  Json::Array parameters;
  for (std::size_t open = path.find('{'); open != std::string_view::npos; open = path.find('{', open + 1)) {
    const std::string_view name = path.substr(open + 1, path.find('}', open) - open - 1);
    const std::string_view description =
        name == "model" ? "The model's name: \"name\", or \"owner/name\" with its slash as it is or as %2F." : "";
    Json::Object parameter{{"name", name}, {"in", "path"}, {"required", true}};
    if (!description.empty()) parameter.emplace_back("description", description);
    parameter.emplace_back("schema", Json::Object{{"type", "string"}, {"minLength", 1}});
    parameters.emplace_back(std::move(parameter));
  }
  return Json(std::move(parameters));
}

Json operation(const Route& route, bool has_keys) {
  const Json body = route.body.empty() ? Json() : Schema::parse(route.body).json();
  Json::Object operation{
      {"operationId", route.id}, {"summary", route.summary}, {"tags", Json::Array{page_of(route.family).title}}};
  if (has_parameters(route)) operation.emplace_back("parameters", path_parameters(route.path));
  if (!body.is_null()) {
    Json content = Json::Object{{"schema", with_nullable_members(body)}};
    const bool optional = route.reads_body_itself && body.find("required") == nullptr && body.find("anyOf") == nullptr;
    operation.emplace_back(
        "requestBody",
        Json::Object{{"required", !optional}, {"content", Json::Object{{"application/json", std::move(content)}}}});
  }
  std::map<int, Json> answers;
  add_answers(answers, route);
  add_errors(answers, route, problems_of(route, body, has_keys));
  Json::Object responses;
  for (auto& [status, answer] : answers) responses.emplace_back(std::to_string(status), std::move(answer));
  operation.emplace_back("responses", std::move(responses));
  // Health checks need no key.
  if (has_keys && route.access == Access::open) operation.emplace_back("security", Json::Array{});
  return Json(std::move(operation));
}

std::string_view name_of(Method method) {
  switch (method) {
    case Method::get: return "get";
    case Method::head: return "head";
    case Method::post: return "post";
    case Method::put: return "put";
    case Method::patch: return "patch";
    case Method::delete_: return "delete";
    case Method::options:
    case Method::other: break;
  }
  return "options";
}

Json paths(std::span<const Route> routes, bool has_keys) {
  Json::Object paths;
  for (const Route& route : routes) {
    auto path = std::ranges::find(paths, route.path, &Json::Member::first);
    if (path == paths.end()) path = paths.insert(paths.end(), {std::string(route.path), Json(Json::Object{})});
    Json::Object methods = path->second.as_object("path");
    methods.emplace_back(name_of(route.method), operation(route, has_keys));
    path->second = Json(std::move(methods));
  }
  return Json(std::move(paths));
}

Json header(std::string_view description, std::string_view type = "string") {
  return Json::Object{{"description", description}, {"schema", Json::Object{{"type", type}}}};
}

Json components(const std::set<Family>& used, bool has_keys) {
  std::map<std::string_view, Json> errors;
  for (const Family family : used) errors.emplace(page_of(family).error, error_schema(family));
  Json::Object schemas;
  for (auto& [name, schema] : errors) schemas.emplace_back(name, std::move(schema));
  Json::Object components{
      {"schemas", Json(std::move(schemas))},
      {"headers",
       Json::Object{{"X-Request-Id", header("The request's, or one made for it; also in the server's log.")},
                    {"Server-Timing", header("Milliseconds in queue, tokenizing and compute.")},
                    {"X-Model-Fingerprint", header("Of the model's weights, dtype and backend.")},
                    {"X-Keep-Alive-Ignored", header("Why keep_alive was not taken into account; absent where it was.")},
                    {"Retry-After", header("Seconds until it is worth trying again.", "integer")},
                    {"Accept", header("The media types that the route takes.")},
                    {"WWW-Authenticate", header("How to send the key.")}}}};
  if (has_keys) {
    components.emplace_back(
        "securitySchemes",
        Json::Object{{"bearer", Json::Object{{"type", "http"}, {"scheme", "bearer"}}},
                     {"header", Json::Object{{"type", "apiKey"}, {"in", "header"}, {"name", "X-API-Key"}}}});
  }
  return Json(std::move(components));
}

// Normalized as the router does: a leading slash and no trailing one.
std::string server_address(std::string base_path) {
  while (base_path.ends_with('/')) base_path.pop_back();
  return base_path.starts_with('/') ? base_path : "/" + base_path;
}

Json tags(const std::set<Family>& used) {
  Json::Array tags;
  for (const Family family : families()) {
    if (!used.contains(family)) continue;
    const FamilyPage page = page_of(family);
    tags.emplace_back(Json::Object{{"name", page.title}, {"description", page.description}});
  }
  return Json(std::move(tags));
}

}  // namespace

std::string openapi_document(std::span<const Route> routes, const Settings& settings, std::string_view version) {
  const bool has_keys = !settings.api_keys.empty();
  std::set<Family> used;
  for (const Route& route : routes) used.insert(route.family);
  Json::Object document{
      {"openapi", "3.1.0"},
      {"info", Json::Object{{"title", "Alate"},
                            {"version", version},
                            {"description", "Text models on your own machine, behind the routes that clients know."},
                            {"license", Json::Object{{"name", "Apache 2.0"}, {"identifier", "Apache-2.0"}}}}},
      {"servers", Json::Array{Json::Object{{"url", server_address(settings.base_path)}}}},
      {"tags", tags(used)},
      {"paths", paths(routes, has_keys)},
      {"components", components(used, has_keys)}};
  if (has_keys) {
    document.emplace_back(
        "security", Json::Array{Json::Object{{"bearer", Json::Array{}}}, Json::Object{{"header", Json::Array{}}}});
  }
  return formats::to_json_text(Json(std::move(document)));
}

}  // namespace alate::server
