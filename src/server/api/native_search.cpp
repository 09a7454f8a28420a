#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "search/search_json.h"
#include "server/api/native.h"
#include "server/api/native_answer.h"
#include "server/api/search.h"
#include "server/models/search_service.h"
#include "server/refuse.h"
#include "server/schema/joined.h"
#include "server/services.h"

namespace alate::server {
namespace {

namespace parts {

constexpr std::string_view kSearchBodyBegin = R"({
  "type": "object",
  "required": ["index", "query"],
  "properties": {
    "index": {"type": "string", "maxLength": 64, "description": "A name of the server's setting indexes."},
    "query": {"type": "string", "minLength": 1, "maxLength": 65536, "description": "The question."},
    "top_k": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10, "description": "How many passages."},
    "mode": {"type": "string", "enum": ["dense", "sparse", "hybrid"],
      "description": "What is compared: vectors, weights of vocabulary entries, or both, joined by their ranks; all that the index has if absent."},
    "rerank_model": {"type": "string", "minLength": 1, "maxLength": 256,
      "description": "A cross-encoder of /api/models that reads the question with each of the best 50 passages (top_k, if that is more), and whose scores order them."},)";

// The name of the model is that of the index where it is absent.
constexpr std::string_view kSearchModel = R"(
    "model": {"type": "string", "minLength": 1, "maxLength": 256,
      "description": "The model that the index was made with, where the server has it under another name."},
    "backend": {"type": "string", "maxLength": 64, "description": "Where to compute, NAME or NAME:DEVICE (see /debug/backends); as the server is set up if absent."},
    "keep_alive": {"anyOf": [{"type": "number"},
        {"type": "string", "pattern": "^[+-]?([0-9]{1,5}([.][0-9]+)?|([0-9]{1,5}([.][0-9]+)?(ns|us|ms|s|m|h)){1,3})$"}],
      "description": "How long the models stay: seconds, or text such as \"5m\"; 0 unloads, below 0 is as long as the server allows. From clients that are no administrators only a longer time than the model has counts (X-Keep-Alive-Ignored)."}
  },
  "example": {"index": "notes", "query": "Where is the cat?", "top_k": 3}
})";

constexpr std::string_view kSearchAnswerBegin = R"({
  "type": "object",
  "required": ["model", "results", "total_duration", "load_duration", "prompt_eval_count"],
  "properties": {
    "rerank_model": {"type": "string", "description": "What ordered the passages; absent without a reranker. model is what read the question."},
    "results": {"type": "array", "description": "The best first.", "items": {
      "type": "object",
      "required": ["id", "file", "line", "start", "end", "byte_start", "byte_end", "text", "score", "spans"],
      "properties": {
        "id": {"type": "integer", "description": "The passage's place in the index."},
        "file": {"type": "string", "description": "Its name in the index; of absolute paths, without the folders that all files have in common."},
        "line": {"type": "integer"},
        "start": {"type": "integer", "description": "In code points of the file; of .jsonl, of the line's text."},
        "end": {"type": "integer"},
        "byte_start": {"type": "integer"},
        "byte_end": {"type": "integer"},
        "text": {"type": "string"},
        "score": {"type": "number", "description": "The cosine; of sparse vectors the dot product; of both the sum of 1 / (60 + rank); or the reranker's score."},
        "spans": {"type": "array", "description": "Where words of the question are, as start and end.",
          "items": {"type": "array", "items": {"type": "integer"}}}
      }
    }},)";

constexpr std::string_view kSearchAnswerEnd = "}}";

}  // namespace parts

constexpr std::string_view kSearchBody = kJoined<parts::kSearchBodyBegin, parts::kSearchModel>;
constexpr std::string_view kSearchAnswer = kJoined<parts::kSearchAnswerBegin, kFactMembers, parts::kSearchAnswerEnd>;

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
          .body = kSearchBody,
          .answers = {{.description = "The passages, the best first.", .schema = kSearchAnswer}},
          .computes = true,
          .aliases = {"/ai/v1/search"}};
}

}  // namespace alate::server
