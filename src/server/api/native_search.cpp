#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "search/search_json.h"
#include "server/api/native.h"
#include "server/api/native_answer.h"
#include "server/api/route_schemas.h"
#include "server/api/search.h"
#include "server/exchange/json_response.h"
#include "server/exchange/refuse.h"
#include "server/models/search_service.h"
#include "server/models/services.h"

namespace alate::server {
namespace {

// The models as the request names them.
struct NamedModels {
  std::string model, reranker;
};

pipelines::AnswerFacts facts_of(const SearchAnswer& answer, const NamedModels& named) {
  pipelines::AnswerFacts facts = answer_facts(answer.model, named.model);
  if (answer.reranker == nullptr) return facts;
  facts.total_ns = answer.reranker->total.count();  // since the request arrived
  facts.load_ns += answer.reranker->load.count();
  facts.tokens += answer.reranker->tokens;
  return facts;
}

std::string search_answer_text(SearchAnswer answer, const NamedModels& named) {
  std::vector<std::string> items;
  for (SearchResult& result : answer.results) {
    const std::size_t file = static_cast<std::size_t>(answer.index.file().place(result.id).file);
    result.file = answer.index.shown_name(file);
    search::append_result(items.emplace_back(), result);
  }
  const pipelines::AnswerFacts facts = facts_of(answer, named);
  std::string out = pipelines::begin_answer(facts.model);
  if (answer.reranker != nullptr) formats::append_json_string(out += R"(,"rerank_model":)", named.reranker);
  pipelines::append_list(out, "results", items);
  pipelines::finish_answer(out, facts);
  return out;
}

void search_by_question(Call& call) {
  SearchRequest request;
  request.index = call.body.get_string("index", "");
  request.question = call.body.get_string("query", "");
  request.model = call.body.get_string("model", "");
  request.rerank_model = call.body.get_string("rerank_model", "");
  request.keep_alive = read_keep_alive(call.body);
  request.options.top = static_cast<std::size_t>(call.body.get_int("top_k", 10));
  if (const formats::Json* mode = call.body.find_value("mode"))
    request.options.mode = parse_search_mode(mode->as_string("mode"));
  request.parameter = "query";
  request.lone = true;
  NamedModels named{.model = request.model, .reranker = request.rerank_model};
  search_index(call, std::move(request), [named = std::move(named)](SearchAnswer answer) {
    return json_response(search_answer_text(std::move(answer), named));
  });
}

}  // namespace

Route native_search_route() {
  return {.method = Method::post,
          .path = "/api/search",
          .family = Family::native,
          .id = "search",
          .summary = "Finds the passages of an index that are nearest to a question",
          .handle = search_by_question,
          .body = route_schema(Family::native, "search_body"),
          .answers = {{.description = "The passages, the best first.",
                       .schema = route_schema(Family::native, "search_answer")}},
          .computes = true,
          .aliases = {"/ai/v1/search"}};
}

}  // namespace alate::server
