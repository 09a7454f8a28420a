// Cohere's routes to rerank, of which Jina's clients use the first: its answers have what both read.
#include <utility>

#include "alate/rerank.h"
#include "server/api/cohere.h"
#include "server/api/rerank.h"
#include "server/models/rerank_service.h"
#include "server/refuse.h"
#include "server/schema/joined.h"
#include "server/services.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::string_view kBodyBegin = R"({
  "type": "object",
  "required": ["query", "documents"],
  "examples": [
    {"model": "cross-encoder/ms-marco-MiniLM-L6-v2", "query": "Where is the cat?",
     "documents": ["The cat sits on the mat.", "Shares fell on Monday."], "top_n": 1}
  ],
  "properties": {
    "model": {"type": "string", "minLength": 1, "nullable": false, "description": "A name of /v1/models; the default model if absent."},
    "query": {"type": "string"},
    "documents": {"type": "array", "minItems": 1, "description": "Texts, or objects with a text.",
      "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}},
    "top_n": {"type": "integer", "minimum": 1, "maximum": 2147483647, "description": "How many results; all if absent."},)";

// Cohere's later API, and Jina's.
constexpr std::string_view kReturnedIfAsked = R"(
    "return_documents": {"type": "boolean", "default": false, "description": "Whether results have the documents' texts."},)";
constexpr std::string_view kReturnedUnlessRefused = R"(
    "return_documents": {"type": "boolean", "default": true, "description": "Whether results have the documents' texts, as in Jina's API."},)";

constexpr std::string_view kBodyEnd = R"(
    "truncation": {"type": "boolean", "default": true,
      "description": "Whether documents that are, with the query, over the model's length are cut, or refused."},
    "rank_fields": {"type": "array", "items": {"type": "string"}, "description": "Only text is supported."},
    "max_tokens_per_doc": {"type": "integer", "description": "Taken and not used: documents are cut at the model's length."},
    "max_chunks_per_doc": {"type": "integer", "description": "Taken and not used: a document is one chunk."},
    "priority": {"type": "integer", "description": "Taken and not used."}
  }
})";

constexpr std::string_view kAnswer = R"({
  "type": "object",
  "required": ["id", "results", "meta"],
  "properties": {
    "id": {"type": "string"},
    "model": {"type": "string"},
    "results": {"type": "array", "description": "The best first.", "items": {
      "type": "object",
      "required": ["index", "relevance_score"],
      "properties": {
        "index": {"type": "integer"},
        "relevance_score": {"type": "number"},
        "document": {"type": "object", "properties": {"text": {"type": "string"}}}
      }
    }},
    "usage": {"type": "object", "description": "As Jina's API has it.",
      "properties": {"total_tokens": {"type": "integer"}, "prompt_tokens": {"type": "integer"}}},
    "meta": {
      "type": "object",
      "properties": {
        "api_version": {"type": "object", "properties": {"version": {"type": "string"}}},
        "billed_units": {"type": "object", "properties": {"search_units": {"type": "integer"}}},
        "tokens": {"type": "object", "properties": {"input_tokens": {"type": "integer"}}},
        "warnings": {"type": "array", "items": {"type": "string"}}
      }
    }
  }
})";

struct Manner {
  bool is_first_version = false;
  std::string model;  // as the request names it; may be empty
  std::optional<std::size_t> count;
  std::vector<std::string> documents;  // empty: not returned
};

std::string body_of(const RerankAnswer& answer, const Manner& manner) {
  std::string out = R"({"id":")" + random_uuid() + R"(","model":)";
  formats::append_json_string(out, manner.model.empty() ? answer.task.model->name : manner.model);
  out += R"(,"results":[)";
  for (const std::size_t index : answer.best_first(manner.count)) {
    if (out.back() != '[') out += ',';
    out += R"({"index":)" + std::to_string(index) + R"(,"relevance_score":)";
    formats::append_json_number(out, answer.scores[index]);
    if (!manner.documents.empty()) {
      out += R"(,"document":{"text":)";
      formats::append_json_string(out, manner.documents[index]);
      out += '}';
    }
    out += '}';
  }
  const std::string tokens = std::to_string(answer.task.tokens);
  out += "]";
  if (manner.is_first_version) out += R"(,"usage":{"total_tokens":)" + tokens + R"(,"prompt_tokens":)" + tokens + '}';
  out += R"(,"meta":{"api_version":{"version":")" + std::string(manner.is_first_version ? "1" : "2") +
         R"("},"billed_units":{"search_units":1},"tokens":{"input_tokens":)" + tokens + '}';
  if (!answer.task.truncated.empty())
    out += R"(,"warnings":[")" + std::to_string(answer.task.truncated.size()) + R"( of the documents were cut"])";
  return out += "}}";
}

void rank_documents(Call& call, bool is_first_version) {
  if (const Json* fields = call.body.find_value("rank_fields")) {
    for (const Json& field : fields->as_array("rank_fields")) {
      if (field.as_string("rank_fields") != "text")
        refuse(Problem::Kind::unsupported, "rank_fields may only name text; put the other fields into the text",
               "rank_fields");
    }
  }
  RerankRequest request;
  request.model = call.body.get_string("model", "");
  request.parameter = "documents";
  request.query = call.body.find("query")->as_string("query");
  request.texts = read_documents(call.body.find("documents")->as_array("documents"), "documents");
  request.truncate = call.body.get_bool("truncation", true);
  Manner manner{.is_first_version = is_first_version,
                .model = request.model,
                .count = read_count(call.body, "top_n"),
                .documents = {}};
  if (call.body.get_bool("return_documents", is_first_version)) manner.documents = request.texts;
  rerank(call, std::move(request),
         [manner = std::move(manner)](const RerankAnswer& answer) { return json_response(body_of(answer, manner)); });
}

void rank_as_version_1(Call& call) { rank_documents(call, true); }
void rank_as_version_2(Call& call) { rank_documents(call, false); }

}  // namespace

std::vector<Route> cohere_rerank_routes() {
  return {{.method = Method::post,
           .path = "/v2/rerank",
           .family = Family::cohere,
           .id = "cohereRerank",
           .summary = "Scores how well documents answer a query",
           .handle = rank_as_version_2,
           .body = kJoined<kBodyBegin, kReturnedIfAsked, kBodyEnd>,
           .answers = {{.description = "The documents' indices with their scores, the best first", .schema = kAnswer}},
           .computes = true},
          {.method = Method::post,
           .path = "/v1/rerank",
           .family = Family::cohere,
           .id = "cohereRerankV1",
           .summary = "Scores how well documents answer a query, also for clients of Jina",
           .handle = rank_as_version_1,
           .body = kJoined<kBodyBegin, kReturnedUnlessRefused, kBodyEnd>,
           .answers = {{.description = "The documents' indices with their scores, the best first", .schema = kAnswer}},
           .computes = true}};
}

}  // namespace alate::server
