#include <utility>

#include "alate/rerank.h"
#include "server/api/rerank.h"
#include "server/api/route_schemas.h"
#include "server/api/tei.h"
#include "server/exchange/json_response.h"
#include "server/exchange/refuse.h"
#include "server/models/rerank_service.h"
#include "server/models/services.h"

namespace alate::server {
namespace {

using formats::Json;

// [{"index", "score", "text"?}, …], the best first; `texts` may be empty.
std::string tei_ranks(const RerankAnswer& answer, const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::size_t index : answer.best_first()) {
    if (out.size() > 1) out += ',';
    out += R"({"index":)" + std::to_string(index) + R"(,"score":)";
    formats::append_json_number(out, answer.scores[index]);
    if (!texts.empty()) {
      out += R"(,"text":)";
      formats::append_json_string(out, texts[index]);
    }
    out += '}';
  }
  return out += ']';
}

}  // namespace

void rerank_as_tei(Call& call) {
  const Json *query = call.body.find("query"), *texts = call.body.find("texts");
  if (query == nullptr || query->is_null()) refuse(Problem::Kind::invalid, "query is missing", "query");
  if (texts == nullptr || texts->is_null()) refuse(Problem::Kind::invalid, "texts is missing", "texts");
  RerankRequest request;
  request.model = tei_model_of(call);
  request.purpose.tasks = {pipelines::Task::rerank};
  request.parameter = "texts";
  request.query = query->as_string("query");
  for (const Json& text : texts->as_array("texts")) request.texts.push_back(text.as_string("texts"));
  if (request.texts.empty())
    refuse(Problem::Kind::empty, "texts is an empty list; it must hold at least one entry", "texts");
  request.options.raw_scores = call.body.get_bool("raw_scores", false);
  read_tei_truncation(call.body, request);
  std::vector<std::string> returned;
  if (call.body.get_bool("return_text", false)) returned = request.texts;
  rerank(call, std::move(request), [returned = std::move(returned)](const RerankAnswer& answer) {
    return json_response(tei_ranks(answer, returned));
  });
}

Route tei_rerank_route() {
  return {.method = Method::post,
          .path = "/rerank",
          .family = Family::tei,
          .id = "teiRerank",
          .summary = "Scores how well texts answer a query, as text-embeddings-inference does",
          .handle = rerank_as_tei,
          .body = route_schema(Family::tei, "rerank_body"),
          .answers = {{.description = "The texts' indices with their scores, the best first",
                       .schema = route_schema(Family::tei, "ranks")}},
          .computes = true,
          .aliases = {"/models/{model}/rerank"}};
}

}  // namespace alate::server
