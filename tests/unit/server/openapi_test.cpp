#include "server/schema/openapi.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <string>

#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "server/api/family_routes.h"
#include "server/schema/schema.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"

namespace alate::server {
namespace {

using formats::Json;

std::vector<Route> all_routes() {
  std::vector<Route> routes;
  for (auto family : {native_routes(), openai_routes(), anthropic_routes(), tei_routes(), cohere_routes(),
                      jina_routes(), ollama_routes(), kserve_routes(), operations_routes()}) {
    std::ranges::move(family, std::back_inserter(routes));
  }
  return routes;
}

Json document(std::span<const Route> routes, const Settings& settings = {}) {
  return formats::parse_json(openapi_document(routes, settings, "1.2.3"), "the document");
}

// The value at a path of keys; a failed expectation and null where there is none.
Json at(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* found = &value;
  for (const std::string_view key : keys) {
    found = found->find(key);
    if (found == nullptr) {
      ADD_FAILURE() << "there is no " << key;
      return {};
    }
  }
  return *found;
}

std::string nullable(std::string_view schema) {
  return formats::to_json_text(with_nullable_members(formats::parse_json(schema, "schema")));
}

std::string compact(std::string_view json) { return formats::to_json_text(formats::parse_json(json, "json")); }

std::string_view name_of(Method method) {
  return method == Method::get ? "get" : method == Method::post ? "post" : method == Method::delete_ ? "delete" : "?";
}

TEST(OpenApi, HasEveryRouteOfTheTables) {
  const auto routes = all_routes();
  const Json made = document(routes);
  EXPECT_GT(routes.size(), 10U);
  for (const Route& route : routes) {
    const Json operation = at(made, {"paths", route.path, name_of(route.method)});
    EXPECT_EQ(at(operation, {"operationId"}).as_string("id"), route.id);
    EXPECT_EQ(operation.find("requestBody") != nullptr, !route.body.empty()) << route.id;
    for (const RouteAnswer& answer : route.answers)
      at(operation, {"responses", std::to_string(answer.status), "content", answer.content_type});
  }
}

// What clients may send and get changes only where that is meant: then tests/golden/record_openapi.py records it.
TEST(OpenApi, IsAsItWasRecorded) {
  const std::string recorded = base::read_text_file(source_folder() / "tests/golden/server/openapi.json");
  EXPECT_TRUE(openapi_document(all_routes(), Settings{}, "recorded") == compact(recorded))
      << "The document of /openapi.json is another than tests/golden/server/openapi.json; if that is meant, record it "
         "with tests/golden/record_openapi.py";
}

TEST(OpenApi, OperationsHaveDifferentNames) {
  std::set<std::string_view> ids;
  for (const Route& route : all_routes()) EXPECT_TRUE(ids.insert(route.id).second) << route.id;
}

TEST(OpenApi, EverySchemaOfTheTablesParses) {
  for (const Route& route : all_routes()) {
    EXPECT_FALSE(route.answers.empty()) << route.id;
    EXPECT_NE(route.handle, nullptr) << route.id;
    if (!route.body.empty()) {
      EXPECT_NO_THROW(Schema::parse(route.body)) << route.id;
    }
    for (const RouteAnswer& answer : route.answers) {
      if (!answer.schema.empty()) {
        EXPECT_NO_THROW(formats::parse_json(answer.schema, "an answer")) << route.id;
      }
    }
  }
}

TEST(OpenApi, ExamplesOfBodiesFitTheirSchemas) {
  for (const Route& route : all_routes()) {
    if (route.body.empty()) continue;
    const Schema schema = Schema::parse(route.body);
    const Json* example = schema.json().find("example");
    if (example == nullptr) continue;
    const auto violation = schema.check(*example);
    EXPECT_FALSE(violation) << route.id << ": " << violation->message;
  }
}

TEST(OpenApi, ErrorsHaveTheStatusesAndShapeOfTheFamily) {
  const auto routes = all_routes();
  const Json made = document(routes);
  const Json openai = at(made, {"paths", "/v1/embeddings", "post", "responses"});
  for (const char* status : {"200", "400", "403", "404", "408", "413", "415", "429", "500", "503", "504"})
    EXPECT_NE(openai.find(status), nullptr) << status;
  for (const char* status : {"401", "422", "501"}) EXPECT_EQ(openai.find(status), nullptr) << status;
  EXPECT_EQ(at(openai, {"404", "content", "application/json", "schema", "$ref"}).as_string("ref"),
            "#/components/schemas/OpenAIError");
  EXPECT_EQ(at(openai, {"429", "headers", "Retry-After", "$ref"}).as_string("ref"), "#/components/headers/Retry-After");

  const Json native = at(made, {"paths", "/api/embed", "post", "responses"});
  for (const char* status : {"200", "400", "404", "413", "422", "500", "501", "503", "504"})
    EXPECT_NE(native.find(status), nullptr) << status;
  EXPECT_EQ(native.find("429"), nullptr);
  at(made, {"components", "schemas", "Error", "properties", "code"});
  at(made, {"components", "schemas", "TEIError", "properties", "error_type"});
}

TEST(OpenApi, ABodyThatNamesAModelInAnAlternativeMayNameNone) {
  const auto routes = ollama_routes();
  const Json answers = at(document(routes), {"paths", "/api/show", "post", "responses"});
  EXPECT_NE(answers.find("404"), nullptr);
}

TEST(OpenApi, ARoutesOwnAnswerWinsOverAnErrorOfItsStatus) {
  const auto routes = operations_routes();
  const Json ready = at(document(routes), {"paths", "/readyz", "get", "responses", "503"});
  EXPECT_EQ(at(ready, {"content", "application/json", "schema"}).find("$ref"), nullptr);
  at(ready, {"headers", "Retry-After"});
}

TEST(OpenApi, AnswersOfOneStatusAreTypesOfOneAnswer) {
  const auto routes = native_routes();
  const Json content = at(document(routes), {"paths", "/api/embed", "post", "responses", "200", "content"});
  EXPECT_NE(content.find("application/json"), nullptr);
  EXPECT_NE(content.find("application/octet-stream"), nullptr);
}

TEST(OpenApi, KeysAreWantedWhereThereAreSome) {
  const auto routes = all_routes();
  const Json open = document(routes);
  EXPECT_EQ(open.find("security"), nullptr);
  EXPECT_EQ(at(open, {"components"}).find("securitySchemes"), nullptr);

  Settings settings;
  settings.api_keys = {"secret"};
  const Json keyed = document(routes, settings);
  EXPECT_EQ(at(keyed, {"security"}).as_array("security").size(), 2U);
  at(keyed, {"components", "securitySchemes", "bearer"});
  at(keyed, {"paths", "/v1/models", "get", "responses", "401", "headers", "WWW-Authenticate"});
  EXPECT_TRUE(at(keyed, {"paths", "/health", "get", "security"}).as_array("security").empty());
  EXPECT_EQ(at(keyed, {"paths", "/health", "get", "responses"}).find("401"), nullptr);
  EXPECT_EQ(formats::to_json_text(keyed).find("secret"), std::string::npos);
}

TEST(OpenApi, ABodyIsRequiredUnlessItsRouteDoesWithoutOne) {
  auto routes = native_routes();
  const auto required = [&] {
    return at(document(routes), {"paths", "/api/embed", "post", "requestBody", "required"}).as_bool("required");
  };
  EXPECT_TRUE(required());
  routes.front().reads_body_itself = true;
  EXPECT_TRUE(required());
  routes.front().body = R"({"type": "object"})";
  EXPECT_FALSE(required());
}

TEST(OpenApi, NamesThePathsParameters) {
  const auto routes = openai_routes();
  const Json parameters = at(document(routes), {"paths", "/v1/models/{model}", "get", "parameters"});
  ASSERT_EQ(parameters.as_array("parameters").size(), 1U);
  const Json& parameter = parameters.as_array("parameters").front();
  EXPECT_EQ(at(parameter, {"name"}).as_string("name"), "model");
  EXPECT_TRUE(at(parameter, {"required"}).as_bool("required"));
}

TEST(OpenApi, TellsWhereTheServerIs) {
  const auto routes = operations_routes();
  EXPECT_EQ(formats::to_json_text(at(document(routes), {"servers"})), R"([{"url":"/"}])");
  for (const char* base : {"/llm", "llm/"}) {
    Settings settings;
    settings.base_path = base;
    EXPECT_EQ(formats::to_json_text(at(document(routes, settings), {"servers"})), R"([{"url":"/llm"}])");
  }
}

TEST(OpenApi, ARowWhoseSchemaIsNoneIsAFaultOfOurs) {
  auto routes = native_routes();
  routes.front().body = R"({"oneOf": []})";
  EXPECT_EQ(base::error_of([&] { document(routes); }).code(), ErrorCode::internal);
}

TEST(NullableMembers, AreThoseThatMayBeLeftOut) {
  EXPECT_EQ(
      nullable(R"({"required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}})"),
      compact(R"({"required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": ["string", "null"]}}})"));
}

TEST(NullableMembers, GetNullInEveryKeywordThatWouldRefuseIt) {
  EXPECT_EQ(nullable(R"({"properties": {"a": {"type": "string", "enum": ["x"]}}})"),
            compact(R"({"properties": {"a": {"type": ["string", "null"], "enum": ["x", null]}}})"));
  EXPECT_EQ(nullable(R"({"properties": {"a": {"anyOf": [{"type": "string"}]}}})"),
            compact(R"({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}})"));
  EXPECT_EQ(nullable(R"({"properties": {"a": {"type": "object", "anyOf": [{"required": ["b"]}]}}})"),
            compact(R"({"properties": {"a": {"anyOf": [{"type": "object", "anyOf": [{"required": ["b"]}]},
                                                       {"type": "null"}]}}})"));
}

TEST(NullableMembers, KeepWhatTakesNullAlready) {
  for (const char* schema : {R"({"properties": {"a": {}}})", R"({"properties": {"a": {"type": ["string", "null"]}}})",
                             R"({"properties": {"a": {"anyOf": [{"type": "null"}, {"type": "string"}]}}})"}) {
    EXPECT_EQ(nullable(schema), compact(schema));
  }
}

TEST(NullableMembers, AreNoneThatRefuseNull) {
  EXPECT_EQ(nullable(R"({"properties": {"a": {"type": "string", "nullable": false}}})"),
            compact(R"({"properties": {"a": {"type": "string"}}})"));
}

TEST(NullableMembers, AreFoundAtAnyDepth) {
  EXPECT_EQ(nullable(R"({"items": {"properties": {"a": {"type": "string"}}}})"),
            compact(R"({"items": {"properties": {"a": {"type": ["string", "null"]}}}})"));
  EXPECT_EQ(nullable(R"({"anyOf": [{"properties": {"type": {"type": "string"}}}]})"),
            compact(R"({"anyOf": [{"properties": {"type": {"type": ["string", "null"]}}}]})"));
}

TEST(NullableMembers, AreTakenByTheCheckToo) {
  const Schema schema = Schema::parse(R"({"required": ["a"], "properties": {"a": {}, "b": {"type": "string"}}})");
  EXPECT_FALSE(schema.check(formats::parse_json(R"({"a": 1, "b": null})", "value")));
}

}  // namespace
}  // namespace alate::server
