#include "server/exchange/family.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "formats/json.h"
#include "formats/utf8.h"

namespace alate::server {
namespace {

using formats::Json;
using Kind = Problem::Kind;

constexpr Kind kKinds[] = {Kind::malformed,   Kind::invalid,    Kind::empty,           Kind::impossible,
                           Kind::too_long,    Kind::too_many,   Kind::unauthenticated, Kind::forbidden,
                           Kind::not_found,   Kind::no_model,   Kind::not_allowed,     Kind::timeout_reading,
                           Kind::too_large,   Kind::wrong_type, Kind::overloaded,      Kind::not_ready,
                           Kind::unsupported, Kind::timeout,    Kind::internal};

Problem problem(Kind kind, std::string parameter = "") {
  Problem made;
  made.kind = kind;
  made.message = "what, where and \"what\" to do";
  made.parameter = std::move(parameter);
  return made;
}

Json body(Family family, const Problem& made) {
  return formats::parse_json(to_response(family, made).body, "the answer");
}

std::string text(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  if (value == nullptr) return "absent";
  return value->is_null() ? "null" : value->as_string(key);
}

std::string header(const Response& response, std::string_view name) {
  const std::string* value = response.headers.find(name);
  return value == nullptr ? "" : *value;
}

TEST(FamilyOfPath, GoesByThePrefix) {
  const std::map<std::string, Family> paths = {
      {"/v1/embeddings", Family::openai},
      {"/v1/nowhere", Family::openai},
      {"/v1", Family::openai},
      {"/v1/messages", Family::anthropic},
      {"/v1/messages/count_tokens", Family::anthropic},
      {"/v1/rerank", Family::cohere},
      {"/v1/multi-vector", Family::cohere},
      {"/v2/embed", Family::cohere},
      {"/v2/rerank", Family::cohere},
      {"/v2", Family::kserve},
      {"/v2/models/m/infer", Family::kserve},
      {"/v2/embeddings", Family::kserve},
      {"/api/tags", Family::ollama},
      {"/api/show", Family::ollama},
      {"/api/ps", Family::ollama},
      {"/api/pull", Family::ollama},
      {"/api/chat", Family::ollama},
      {"/api/embeddings", Family::ollama},
      {"/api/embed", Family::native},
      {"/api/nowhere", Family::native},
      {"/ai/v1/embed", Family::native},
      {"/embed", Family::tei},
      {"/embed_all", Family::tei},
      {"/embed_sparse", Family::tei},
      {"/rerank", Family::tei},
      {"/predict", Family::tei},
      {"/tokenize", Family::tei},
      {"/decode", Family::tei},
      {"/info", Family::tei},
      {"/similarity", Family::tei},
      {"/models/owner/name", Family::tei},
      {"/", Family::tei},
      {"/health", Family::operations},
      {"/healthz", Family::operations},
      {"/livez", Family::operations},
      {"/readyz", Family::operations},
      {"/metrics", Family::operations},
      {"/openapi.json", Family::operations},
      {"/docs", Family::operations},
      {"/debug/backends", Family::operations},
      {"/embedding", Family::native},
      {"/v10/models", Family::native},
      {"/favicon.ico", Family::native},
      {"*", Family::native},
  };
  for (const auto& [path, family] : paths) EXPECT_EQ(family_of_path(path), family) << path;
}

TEST(Families, HaveDifferentNames) {
  std::map<std::string_view, Family> names;
  for (const Family family : families()) names.emplace(to_string(family), family);
  EXPECT_EQ(names.size(), 8U);
  EXPECT_EQ(families().size(), 8U);
}

TEST(Problems, NeverQuoteBytesThatAreNotUtf8) {
  Problem problem;
  problem.kind = Problem::Kind::no_model;
  problem.message = "there is no model \"a\xFF\xE2\x82\"";
  problem.parameter = "\xC3";
  for (const Family family : families()) {
    SCOPED_TRACE(to_string(family));
    const Response response = to_response(family, problem);
    EXPECT_EQ(formats::valid_utf8_prefix(response.body), response.body.size()) << response.body;
    EXPECT_NE(response.body.find("a\uFFFD\uFFFD\\\""), std::string::npos) << response.body;
    EXPECT_NO_THROW(formats::parse_json(response.body, "the answer"));
  }
}

TEST(Problems, HaveTheStatusOfTheirFamily) {
  struct Row {
    Kind kind;
    int plain, openai, cohere, tei;
  };
  const Row rows[] = {
      {Kind::malformed, 400, 400, 400, 400},       {Kind::invalid, 400, 400, 400, 422},
      {Kind::empty, 400, 400, 400, 400},           {Kind::impossible, 422, 400, 400, 422},
      {Kind::too_long, 422, 400, 400, 413},        {Kind::too_many, 413, 400, 400, 413},
      {Kind::unauthenticated, 401, 401, 401, 401}, {Kind::forbidden, 403, 403, 403, 403},
      {Kind::not_found, 404, 404, 404, 404},       {Kind::no_model, 404, 404, 404, 404},
      {Kind::not_allowed, 405, 405, 405, 405},     {Kind::timeout_reading, 408, 408, 408, 408},
      {Kind::too_large, 413, 413, 413, 413},       {Kind::wrong_type, 415, 415, 415, 415},
      {Kind::overloaded, 503, 429, 429, 429},      {Kind::not_ready, 503, 503, 503, 503},
      {Kind::unsupported, 501, 400, 400, 422},     {Kind::timeout, 504, 504, 504, 504},
      {Kind::internal, 500, 500, 500, 424},
  };
  EXPECT_EQ(std::size(rows), std::size(kKinds));
  for (const Row& row : rows) {
    for (const Family family : {Family::native, Family::ollama, Family::kserve, Family::operations})
      EXPECT_EQ(to_response(family, problem(row.kind)).status, row.plain);
    for (const Family family : {Family::openai, Family::anthropic})
      EXPECT_EQ(to_response(family, problem(row.kind)).status, row.openai);
    EXPECT_EQ(to_response(Family::cohere, problem(row.kind)).status, row.cohere);
    EXPECT_EQ(to_response(Family::tei, problem(row.kind)).status, row.tei);
  }
}

TEST(Problems, NameTheirStatusThemselvesWhereHttpHasOneOfItsOwn) {
  Problem made = problem(Kind::malformed);
  made.status = 431;
  EXPECT_EQ(to_response(Family::openai, made).status, 431);
}

TEST(Problems, OfTheNativeFamilyAndItsLikeHaveAMessageAndACode) {
  for (const Kind kind : kKinds) {
    for (const Family family : {Family::native, Family::ollama, Family::kserve, Family::operations}) {
      const Json answer = body(family, problem(kind, "input"));
      EXPECT_EQ(answer.as_object("answer").size(), 2U);
      EXPECT_EQ(text(answer, "error"), problem(kind).message);
      EXPECT_FALSE(text(answer, "code").empty());
    }
  }
  EXPECT_EQ(text(body(Family::native, problem(Kind::no_model)), "code"), "not_found");
  EXPECT_EQ(text(body(Family::native, problem(Kind::invalid)), "code"), "invalid_argument");
  EXPECT_EQ(text(body(Family::native, problem(Kind::overloaded)), "code"), "overloaded");
  EXPECT_EQ(text(body(Family::native, problem(Kind::internal)), "code"), "internal");
}

TEST(Problems, OfOpenAiHaveTypeCodeAndParameter) {
  for (const Kind kind : kKinds) {
    const Json answer = body(Family::openai, problem(kind));
    EXPECT_EQ(answer.as_object("answer").size(), 1U);
    const Json& error = *answer.find("error");
    EXPECT_EQ(error.as_object("error").size(), 4U);
    EXPECT_EQ(text(error, "message"), problem(kind).message);
    EXPECT_FALSE(text(error, "type").empty());
    EXPECT_EQ(text(error, "param"), "null");
    EXPECT_NE(text(error, "code"), "absent");
  }
  const auto error = [](Kind kind) { return *body(Family::openai, problem(kind, "input")).find("error"); };
  EXPECT_EQ(text(error(Kind::invalid), "type"), "invalid_request_error");
  EXPECT_EQ(text(error(Kind::invalid), "code"), "null");
  EXPECT_EQ(text(error(Kind::invalid), "param"), "input");
  EXPECT_EQ(text(error(Kind::no_model), "code"), "model_not_found");
  EXPECT_EQ(text(error(Kind::unauthenticated), "code"), "invalid_api_key");
  EXPECT_EQ(text(error(Kind::overloaded), "code"), "rate_limit_exceeded");
  EXPECT_EQ(text(error(Kind::too_long), "code"), "context_length_exceeded");
  EXPECT_EQ(text(error(Kind::internal), "type"), "server_error");
}

TEST(Problems, OfAnthropicSayThatTheyAreErrors) {
  for (const Kind kind : kKinds) {
    const Json answer = body(Family::anthropic, problem(kind));
    EXPECT_EQ(text(answer, "type"), "error");
    EXPECT_EQ(text(*answer.find("error"), "message"), problem(kind).message);
    EXPECT_FALSE(text(*answer.find("error"), "type").empty());
  }
  const auto type = [](Kind kind) { return text(*body(Family::anthropic, problem(kind)).find("error"), "type"); };
  EXPECT_EQ(type(Kind::unauthenticated), "authentication_error");
  EXPECT_EQ(type(Kind::no_model), "not_found_error");
  EXPECT_EQ(type(Kind::internal), "api_error");
}

TEST(Problems, OfTeiHaveItsTypes) {
  for (const Kind kind : kKinds) {
    const Json answer = body(Family::tei, problem(kind));
    EXPECT_EQ(answer.as_object("answer").size(), 2U);
    EXPECT_EQ(text(answer, "error"), problem(kind).message);
    EXPECT_FALSE(text(answer, "error_type").empty());
  }
  const auto type = [](Kind kind) { return text(body(Family::tei, problem(kind)), "error_type"); };
  EXPECT_EQ(type(Kind::invalid), "Validation");
  EXPECT_EQ(type(Kind::empty), "Empty");
  EXPECT_EQ(type(Kind::overloaded), "Overloaded");
  EXPECT_EQ(type(Kind::not_ready), "Unhealthy");
  EXPECT_EQ(type(Kind::internal), "Backend");
}

TEST(Problems, OfCohereAreAMessage) {
  for (const Kind kind : kKinds) {
    const Json answer = body(Family::cohere, problem(kind));
    EXPECT_EQ(answer.as_object("answer").size(), 1U);
    EXPECT_EQ(text(answer, "message"), problem(kind).message);
  }
}

TEST(Problems, AskForAKey) {
  for (const Family family : families())
    EXPECT_EQ(header(to_response(family, problem(Kind::unauthenticated)), "WWW-Authenticate"), "Bearer");
  EXPECT_EQ(header(to_response(Family::openai, problem(Kind::invalid)), "WWW-Authenticate"), "");
}

TEST(Problems, SayWhenToComeBack) {
  for (const Family family : families()) {
    for (const Kind kind : {Kind::overloaded, Kind::not_ready}) {
      Problem made = problem(kind);
      EXPECT_EQ(header(to_response(family, made), "Retry-After"), "1");
      made.retry_after = 7;
      EXPECT_EQ(header(to_response(family, made), "Retry-After"), "7");
    }
    EXPECT_EQ(header(to_response(family, problem(Kind::internal)), "Retry-After"), "");
  }
}

TEST(ProblemOfError, HasAKindForEachCode) {
  const auto kind = [](ErrorCode code) { return problem_of(Error(code, "the reason")).kind; };
  EXPECT_EQ(kind(ErrorCode::invalid_argument), Kind::impossible);
  EXPECT_EQ(kind(ErrorCode::not_found), Kind::no_model);
  EXPECT_EQ(kind(ErrorCode::unsupported), Kind::unsupported);
  EXPECT_EQ(kind(ErrorCode::resource_exhausted), Kind::too_large);
  EXPECT_EQ(kind(ErrorCode::unavailable), Kind::not_ready);
  EXPECT_EQ(kind(ErrorCode::deadline_exceeded), Kind::timeout);
  EXPECT_EQ(kind(ErrorCode::cancelled), Kind::not_ready);
  EXPECT_EQ(kind(ErrorCode::unauthenticated), Kind::unauthenticated);
  EXPECT_EQ(kind(ErrorCode::corrupt), Kind::internal);
  EXPECT_EQ(kind(ErrorCode::internal), Kind::internal);
}

TEST(ProblemOfError, MemoryMayBeFreeAgainLater) {
  EXPECT_EQ(problem_of(Error(ErrorCode::resource_exhausted, "no memory for [3, 4]")).kind, Kind::overloaded);
}

TEST(ProblemOfError, KeepsAMessageThatTellsNothingOfTheMachine) {
  for (const char* message :
       {"there is no model called \"owner/name\"; owner/other is", "\"/etc/passwd\" is no model's name",
        "the text has 3 / 4 tokens", "there is no model \"a\"; GET /api/models lists what there is"}) {
    EXPECT_EQ(problem_of(Error(ErrorCode::not_found, message)).message, message);
  }
}

TEST(ProblemOfError, PathsOfThisMachineAreNotTold) {
  for (const char* message : {"/srv/models/a/config.json is not there", "loading a: /srv/models/a: no such file",
                              "cannot open (/srv/models/a)", "folder=/srv/models/a"}) {
    for (const ErrorCode code : {ErrorCode::not_found, ErrorCode::unavailable, ErrorCode::resource_exhausted,
                                 ErrorCode::unsupported, ErrorCode::invalid_argument}) {
      const Problem made = problem_of(Error(code, message));
      EXPECT_EQ(made.message.find("srv"), std::string::npos) << made.message;
      EXPECT_FALSE(made.message.empty());
    }
  }
}

TEST(ProblemOfError, WhatIsOurFaultIsToldInGeneral) {
  for (const ErrorCode code : {ErrorCode::corrupt, ErrorCode::internal}) {
    const Problem made = problem_of(Error(code, "relative/model.safetensors: the header is wrong"));
    EXPECT_EQ(made.message.find("safetensors"), std::string::npos);
    EXPECT_FALSE(made.message.empty());
  }
}

}  // namespace
}  // namespace alate::server
