// Cohere's routes to rerank, of which Jina's clients use the first: its answers have what both read.
#include <utility>

#include "alate/rerank.h"
#include "server/api/cohere.h"
#include "server/api/rerank.h"
#include "server/api/route_schemas.h"
#include "server/exchange/json_response.h"
#include "server/exchange/refuse.h"
#include "server/models/rerank_service.h"
#include "server/models/services.h"

namespace alate::server {
namespace {

using formats::Json;

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
           .body = route_schema(Family::cohere, "rerank_body_v2"),
           .answers = {{.description = "The documents' indices with their scores, the best first",
                        .schema = route_schema(Family::cohere, "rerank_answer")}},
           .computes = true},
          {.method = Method::post,
           .path = "/v1/rerank",
           .family = Family::cohere,
           .id = "cohereRerankV1",
           .summary = "Scores how well documents answer a query, also for clients of Jina",
           .handle = rank_as_version_1,
           .body = route_schema(Family::cohere, "rerank_body_v1"),
           .answers = {{.description = "The documents' indices with their scores, the best first",
                        .schema = route_schema(Family::cohere, "rerank_answer")}},
           .computes = true}};
}

}  // namespace alate::server
