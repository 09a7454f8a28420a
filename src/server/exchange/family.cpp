#include "server/exchange/family.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "formats/json.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::server {
namespace {

using formats::Json;
using Kind = Problem::Kind;

// Families that share the same status rules.
enum class Manner { plain, openai, tei, cohere };

Manner manner_of(Family family) {
  switch (family) {
    case Family::openai:
    case Family::anthropic: return Manner::openai;
    case Family::cohere: return Manner::cohere;
    case Family::tei: return Manner::tei;
    default: return Manner::plain;
  }
}

struct Row {
  Kind kind;
  int plain, openai, cohere, tei;  // statuses
  std::string_view code;           // for native, Ollama, KServe and operations
  std::string_view openai_type;
  std::string_view openai_code;  // empty: null
  std::string_view anthropic_type;
  std::string_view tei_type;
};

constexpr std::string_view kRequest = "invalid_request_error";

// As answered by the services of OpenAI and Anthropic and by text-embeddings-inference, where they have the case.
constexpr std::array<Row, 19> kRows = {{
    {Kind::malformed, 400, 400, 400, 400, "malformed", kRequest, "", kRequest, "Validation"},
    {Kind::invalid, 400, 400, 400, 422, "invalid_argument", kRequest, "", kRequest, "Validation"},
    {Kind::empty, 400, 400, 400, 400, "invalid_argument", kRequest, "", kRequest, "Empty"},
    {Kind::impossible, 422, 400, 400, 422, "invalid_argument", kRequest, "", kRequest, "Validation"},
    {Kind::too_long, 422, 400, 400, 413, "too_long", kRequest, "context_length_exceeded", kRequest, "Validation"},
    {Kind::too_many, 413, 400, 400, 413, "too_many", kRequest, "", kRequest, "Validation"},
    {Kind::unauthenticated, 401, 401, 401, 401, "unauthenticated", kRequest, "invalid_api_key", "authentication_error",
     "Unauthorized"},
    {Kind::forbidden, 403, 403, 403, 403, "forbidden", "request_forbidden", "", "permission_error", "Forbidden"},
    {Kind::not_found, 404, 404, 404, 404, "not_found", kRequest, "unknown_url", "not_found_error", "NotFound"},
    {Kind::no_model, 404, 404, 404, 404, "not_found", kRequest, "model_not_found", "not_found_error", "NotFound"},
    {Kind::not_allowed, 405, 405, 405, 405, "not_allowed", kRequest, "method_not_supported", kRequest, "Validation"},
    {Kind::timeout_reading, 408, 408, 408, 408, "timeout", kRequest, "timeout", "timeout_error", "Timeout"},
    {Kind::too_large, 413, 413, 413, 413, "too_large", kRequest, "request_too_large", "request_too_large",
     "Validation"},
    {Kind::wrong_type, 415, 415, 415, 415, "wrong_type", kRequest, "unsupported_content_type", kRequest, "Validation"},
    {Kind::overloaded, 503, 429, 429, 429, "overloaded", "rate_limit_error", "rate_limit_exceeded", "rate_limit_error",
     "Overloaded"},
    {Kind::not_ready, 503, 503, 503, 503, "unavailable", "server_error", "service_unavailable", "overloaded_error",
     "Unhealthy"},
    {Kind::unsupported, 501, 400, 400, 422, "unsupported", kRequest, "unsupported", kRequest, "Validation"},
    {Kind::timeout, 504, 504, 504, 504, "timeout", "server_error", "timeout", "timeout_error", "Backend"},
    {Kind::internal, 500, 500, 500, 424, "internal", "server_error", "internal_error", "api_error", "Backend"},
}};

const Row& row_of(Kind kind) {
  const auto* const row = std::ranges::find(kRows, kind, &Row::kind);
  return row == kRows.end() ? kRows.back() : *row;
}

Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

Json body_of(Family family, const Problem& problem) {
  const Row& row = row_of(problem.kind);
  switch (family) {
    case Family::openai:
      return Json::Object{{"error", Json::Object{{"message", problem.message},
                                                 {"type", row.openai_type},
                                                 {"param", text_or_null(problem.parameter)},
                                                 {"code", text_or_null(row.openai_code)}}}};
    case Family::anthropic:
      return Json::Object{{"type", "error"},
                          {"error", Json::Object{{"type", row.anthropic_type},
                                                 {"message", problem.message},
                                                 {"param", text_or_null(problem.parameter)},
                                                 {"code", text_or_null(row.openai_code)}}}};
    case Family::tei: return Json::Object{{"error", problem.message}, {"error_type", row.tei_type}};
    case Family::cohere: return Json::Object{{"message", problem.message}};
    case Family::native:
    case Family::ollama:
    case Family::kserve:
    case Family::operations: break;
  }
  return Json::Object{{"error", problem.message}, {"code", row.code}};
}

// Paths are printed bare and names in quotes, so a client's own "/etc/passwd" echoed in a message does not count;
// neither does a route of ours, which is preceded by its method.
bool names_path(std::string_view message) {
  for (std::size_t i = 0; i + 1 < message.size(); ++i) {
    if (message[i] != '/' || std::isgraph(static_cast<unsigned char>(message[i + 1])) == 0) continue;
    const std::string_view before = message.substr(0, i);
    if (before.ends_with("GET ") || before.ends_with("POST ")) continue;
    if (before.empty() || std::string_view(" (=:,'").find(before.back()) != std::string_view::npos) return true;
  }
  return false;
}

Kind kind_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::invalid_argument: return Kind::impossible;
    case ErrorCode::not_found: return Kind::no_model;
    case ErrorCode::unsupported: return Kind::unsupported;
    case ErrorCode::resource_exhausted:
      // Memory may become free later; exceeding a limit is permanent.
      return error.message().find("memory") != std::string::npos ? Kind::overloaded : Kind::too_large;
    case ErrorCode::unavailable:
    case ErrorCode::cancelled: return Kind::not_ready;
    case ErrorCode::deadline_exceeded: return Kind::timeout;
    case ErrorCode::unauthenticated: return Kind::unauthenticated;
    case ErrorCode::corrupt:
    case ErrorCode::internal: break;
  }
  return Kind::internal;
}

// Shown to clients in place of messages that they must not see.
std::string_view general_sentence(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found: return "the server lacks a file of the model; whoever runs it can complete the model";
    case ErrorCode::corrupt: return "a file of the model on the server is damaged; the server's log says which";
    case ErrorCode::unsupported: return "the server cannot run this model; ask for another";
    case ErrorCode::resource_exhausted: return "the server has no room for this model or request; try again later";
    case ErrorCode::unavailable: return "the server cannot get at a file or device that it needs; try again later";
    case ErrorCode::invalid_argument: return "the model on the server has settings that cannot be; ask for another";
    default: return "the request failed for a reason inside the server; its log says more";
  }
}

bool under(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

struct Prefix {
  std::string_view path;
  Family family;
};

// The first matching prefix wins; other paths are native.
constexpr Prefix kPrefixes[] = {
    {"/v1/messages", Family::anthropic},
    {"/v1/rerank", Family::cohere},
    {"/v1/multi-vector", Family::cohere},
    {"/v1", Family::openai},
    {"/v2/embed", Family::cohere},
    {"/v2/rerank", Family::cohere},
    {"/v2", Family::kserve},
    {"/api/tags", Family::ollama},
    {"/api/show", Family::ollama},
    {"/api/ps", Family::ollama},
    {"/api/pull", Family::ollama},
    {"/api/push", Family::ollama},
    {"/api/create", Family::ollama},
    {"/api/copy", Family::ollama},
    {"/api/delete", Family::ollama},
    {"/api/blobs", Family::ollama},
    {"/api/chat", Family::ollama},
    {"/api/embeddings", Family::ollama},
    {"/embed", Family::tei},
    {"/embed_all", Family::tei},
    {"/embed_sparse", Family::tei},
    {"/rerank", Family::tei},
    {"/predict", Family::tei},
    {"/tokenize", Family::tei},
    {"/decode", Family::tei},
    {"/info", Family::tei},
    {"/similarity", Family::tei},
    {"/models", Family::tei},
    {"/health", Family::operations},
    {"/healthz", Family::operations},
    {"/livez", Family::operations},
    {"/readyz", Family::operations},
    {"/metrics", Family::operations},
    {"/openapi.json", Family::operations},
    {"/docs", Family::operations},
    {"/debug", Family::operations},
};

constexpr Family kFamilies[] = {Family::native, Family::openai, Family::anthropic, Family::cohere,
                                Family::tei,    Family::ollama, Family::kserve,    Family::operations};

}  // namespace

std::span<const Family> families() { return kFamilies; }

std::string_view to_string(Family family) {
  switch (family) {
    case Family::native: return "native";
    case Family::openai: return "openai";
    case Family::anthropic: return "anthropic";
    case Family::tei: return "tei";
    case Family::cohere: return "cohere";
    case Family::ollama: return "ollama";
    case Family::kserve: return "kserve";
    case Family::operations: return "operations";
  }
  return "native";
}

Family family_of_path(std::string_view path) {
  if (path == "/" || path.empty()) return Family::tei;
  for (const Prefix& prefix : kPrefixes) {
    if (under(path, prefix.path)) return prefix.family;
  }
  return Family::native;
}

int status_of(Family family, Problem::Kind kind) {
  const Row& row = row_of(kind);
  switch (manner_of(family)) {
    case Manner::openai: return row.openai;
    case Manner::cohere: return row.cohere;
    case Manner::tei: return row.tei;
    case Manner::plain: break;
  }
  return row.plain;
}

Problem problem_of(const Error& error) {
  Problem problem;
  problem.kind = kind_of(error);
  const bool secret = problem.kind == Kind::internal || names_path(error.message());
  problem.message = secret ? std::string(general_sentence(error.code())) : error.message();
  if (problem.kind == Kind::no_model) problem.parameter = "model";
  return problem;
}

Response to_response(Family family, const Problem& problem) {
  Response response;
  response.status = problem.status.value_or(status_of(family, problem.kind));
  // Messages quote the client's bytes, such as a model's name in the path; JSON must be UTF-8.
  response.body = formats::to_json_text(body_of(family, problem));
  if (auto repaired = tokenizers::repair_utf8(response.body)) response.body = std::move(*repaired);
  if (response.status == 401) response.headers.add("WWW-Authenticate", "Bearer");
  if (!problem.accepted.empty()) {
    response.headers.add("Accept", problem.accepted);  // RFC 9110, 15.5.16
    response.headers.add("Accept-Post", problem.accepted);
  }
  const bool comes_back = problem.kind == Kind::overloaded || problem.kind == Kind::not_ready;
  if (comes_back || problem.retry_after)
    response.headers.add("Retry-After", std::to_string(problem.retry_after.value_or(1)));
  return response;
}

}  // namespace alate::server
