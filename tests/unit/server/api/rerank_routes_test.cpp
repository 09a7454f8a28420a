// The routes to rerank of each family, over a tiny cross-encoder.
#include <gtest/gtest.h>

#include <algorithm>

#include "alate/rerank.h"
#include "formats/tensor_file.h"
#include "runtime/loading/loaded_model.h"
#include "tests/golden/tiny_kinds.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

std::vector<Route> all_routes() {
  std::vector<Route> routes = native_routes();
  for (auto family : {cohere_routes(), tei_routes()}) std::ranges::move(family, std::back_inserter(routes));
  return routes;
}

std::vector<Route> routes_of_all_families() {
  std::vector<Route> routes = all_routes();
  for (auto family : {openai_routes(), ollama_routes(), kserve_routes()})
    std::ranges::move(family, std::back_inserter(routes));
  return routes;
}

class RerankRoutes : public RouteTest {
 protected:
  RerankRoutes() {
    tests::write_tiny_reranker(settings.models_dir / "tiny/reranker");
    add("tiny/embedder");
    settings.default_model = "tiny/reranker";
  }

  Response post(std::string_view path, const std::string& members) {
    return call(all_routes(), Method::post, path, "{" + members + "}");
  }
  RerankScores library(const RerankOptions& options = {}) const {
    return RerankPipeline::load(settings.models_dir / "tiny/reranker")
        .rerank(recorded_.query, recorded_.texts, options);
  }
  // "query" and the recorded texts under a name.
  std::string question(const std::string& name) const {
    Json::Array texts;
    for (const std::string& text : recorded_.texts) texts.emplace_back(text);
    return R"("query":)" + formats::to_json_text(Json(recorded_.query)) + ",\"" + name +
           "\":" + formats::to_json_text(Json(texts));
  }
  // [{"index", "relevance_score" or "score"}, …] are the library's scores, the best first.
  static void expect_ranked(const Json& results, const std::string& key, const std::vector<float>& scores,
                            std::size_t count) {
    const Json::Array& list = results.as_array("results");
    const std::vector<std::size_t> order = best_first(scores);
    ASSERT_EQ(list.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(list[i].get_int("index", -1), static_cast<std::int64_t>(order[i]));
      EXPECT_EQ(static_cast<float>(list[i].find(key)->as_double(key)), scores[order[i]]);
    }
  }
  void expect_documented(const Response& response, std::string_view path) const {
    for (const Route& each : all_routes()) {
      if (each.path != path) continue;
      const auto violation = Schema::parse(each.answers.front().schema).check(json(response));
      EXPECT_FALSE(violation) << violation->message;
      return;
    }
    ADD_FAILURE() << "no route " << path;
  }

  const tests::RecordedRanking recorded_ = tests::recorded_ranking();
};

TEST_F(RerankRoutes, NativeGivesTheLibrarysScoresAndTheOrder) {
  for (const char* name : {"prompts", "texts", "documents"}) {
    const Response response = post("/api/rerank", R"("model":"tiny/reranker",)" + question(name));
    ASSERT_EQ(response.status, 200) << response.body;
    const Json answer = json(response);
    const RerankScores wanted = library();
    std::vector<float> scores;
    for (const Json& score : answer.find("scores")->as_array("scores"))
      scores.push_back(static_cast<float>(score.as_double("score")));
    EXPECT_EQ(scores, wanted.scores);
    expect_ranked(*answer.find("results"), "relevance_score", wanted.scores, 7);
    EXPECT_EQ(text(answer, "model"), R"("tiny/reranker")");
    EXPECT_EQ(text(answer, "truncated"), "[1]");
    EXPECT_EQ(text(answer, "prompt_eval_count"), std::to_string(recorded_.tokens));
    EXPECT_NE(header(response, "X-Model-Fingerprint"), "");
    expect_documented(response, "/api/rerank");
  }
}

TEST_F(RerankRoutes, TextsOfEqualScoresAreInTheOrderOfTheModelsOwnNumbers) {
  const std::filesystem::path file = settings.models_dir / "tiny/reranker/model.safetensors";
  std::vector<formats::NamedTensor> weights = formats::read_tensors(file);
  for (formats::NamedTensor& each : weights) {
    if (each.name == "classifier.bias")  // all sigmoids are 1
      each.tensor = Tensor::from<float>({1}, {each.tensor.values<float>()[0] + 30});
  }
  formats::write_tensors(file, weights);
  const std::vector<std::size_t> order = library({.raw_scores = true}).best_first();
  ASSERT_NE(order.front(), 0U);
  const auto expect_order = [&](const Json& results, std::size_t count) {
    ASSERT_EQ(results.as_array("results").size(), count);
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_EQ(results.as_array("results")[i].get_int("index", -1), static_cast<std::int64_t>(order[i])) << i;
  };
  for (const std::size_t count : {order.size(), std::size_t{1}}) {
    const std::string limit = R"(,"top_n":)" + std::to_string(count);
    for (const auto& [path, name] : {std::pair("/api/rerank", "prompts"), std::pair("/v1/rerank", "documents"),
                                     std::pair("/v2/rerank", "documents")}) {
      SCOPED_TRACE(path);
      const Response response = post(path, R"("model":"tiny/reranker",)" + question(name) + limit);
      ASSERT_EQ(response.status, 200) << response.body;
      expect_order(*json(response).find("results"), count);
    }
  }
  expect_order(json(post("/rerank", question("texts"))), order.size());
}

TEST_F(RerankRoutes, NativePassesItsOptionsOn) {
  const Response response =
      post("/ai/v1/rerank", question("prompts") + R"(,"top_n":2,"raw_scores":true,"keep_alive":null,"truncate":null)");
  ASSERT_EQ(response.status, 200) << response.body;
  expect_ranked(*json(response).find("results"), "relevance_score", library({.raw_scores = true}).scores, 2);
  EXPECT_EQ(json(response).find("scores")->as_array("scores").size(), 7U);
  EXPECT_EQ(text(json(response), "model"), R"("tiny/reranker")");  // the default one
}

TEST_F(RerankRoutes, ALongTextFailsAloneWhereItemsMayFail) {
  const std::string per_item = question("prompts") + R"(,"long":"error","on_error":"per_item")";
  const Response response = post("/api/rerank", per_item);
  ASSERT_EQ(response.status, 200) << response.body;
  expect_documented(response, "/api/rerank");
  const Json answer = json(response);
  const Json::Array& scores = answer.find("scores")->as_array("scores");
  EXPECT_EQ(scores[1].find("error")->get_string("code", ""), "too_long");
  EXPECT_EQ(static_cast<float>(scores[0].as_double("score")), library().scores[0]);
  EXPECT_EQ(answer.find("results")->as_array("results").size(), 6U);
  for (const Json& result : answer.find("results")->as_array("results")) EXPECT_NE(result.get_int("index", -1), 1);
}

TEST_F(RerankRoutes, NativeReadsWindowsAndPrompts) {
  const Response windows = post("/api/rerank", question("prompts") + R"(,"long":"windows","stride":5)");
  ASSERT_EQ(windows.status, 200) << windows.body;
  EXPECT_EQ(text(json(windows), "truncated"), "absent");
  expect_ranked(*json(windows).find("results"), "relevance_score",
                library({.long_texts = {.treatment = LongTexts::windows, .stride = 5}}).scores, 7);
  const Response prompted = post("/api/rerank", question("prompts") + R"(,"prompt":"a b ","model_scores":true)");
  expect_ranked(*json(prompted).find("results"), "relevance_score",
                library({.model_scores = true, .prompt = "a b "}).scores, 7);
  EXPECT_EQ(post("/api/rerank", question("prompts") + R"(,"prompt_name":"none")").status, 422);
  EXPECT_EQ(post("/api/rerank", question("prompts") + R"(,"model_scores":true,"raw_scores":true)").status, 422);
}

TEST_F(RerankRoutes, ModelsForLateInteractionRankOnEveryRoute) {
  tests::write_tiny_kinds(settings.models_dir / "tiny/colbert", "colbert_native");
  const RerankPipeline colbert = RerankPipeline::load(settings.models_dir / "tiny/colbert");
  const std::vector<float> wanted = colbert.rerank(recorded_.query, recorded_.texts).scores;
  const std::string model = R"("model":"tiny/colbert",)";
  const auto ranked = [&](std::string_view path, const std::string& name) {
    const Response response = post(path, model + question(name));
    EXPECT_EQ(response.status, 200) << response.body;
    return json(response);
  };
  expect_ranked(*ranked("/api/rerank", "prompts").find("results"), "relevance_score", wanted, 7);
  expect_ranked(*ranked("/v1/rerank", "documents").find("results"), "relevance_score", wanted, 7);
  expect_ranked(*ranked("/v2/rerank", "documents").find("results"), "relevance_score", wanted, 7);
  const Response tei = post("/models/tiny/colbert/rerank", question("texts") + R"(,"raw_scores":true)");
  expect_ranked(json(tei), "score", colbert.rerank(recorded_.query, recorded_.texts, {.raw_scores = true}).scores, 7);
  EXPECT_EQ(post("/api/rerank", model + question("prompts") + R"(,"long":"windows")").status, 422);
}

TEST_F(RerankRoutes, NoTextsAreNoScores) {
  const Response response = post("/api/rerank", R"("query":"a","prompts":[])");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(text(json(response), "scores"), "[]");
  EXPECT_EQ(text(json(response), "results"), "[]");
}

TEST_F(RerankRoutes, CohereAnswersInItsWords) {
  for (const auto& [path, version] :
       {std::pair("/v2/rerank", R"({"version":"2"})"), std::pair("/v1/rerank", R"({"version":"1"})")}) {
    const Response response = post(path, R"("model":"reranker","top_n":3,)" + question("documents"));
    ASSERT_EQ(response.status, 200) << response.body;
    const Json answer = json(response);
    expect_ranked(*answer.find("results"), "relevance_score", library().scores, 3);
    EXPECT_EQ(answer.get_string("id", "").size(), 36U);
    EXPECT_EQ(text(*answer.find("meta"), "api_version"), version);
    EXPECT_EQ(text(*answer.find("meta"), "billed_units"), R"({"search_units":1})");
    EXPECT_EQ(text(*answer.find("meta"), "warnings"), R"(["1 of the documents were cut"])");
    expect_documented(response, path);
  }
}

// The defaults of Jina's API and of Cohere's.
TEST_F(RerankRoutes, ReturnDocumentsUnlessRefusedForJinaAndIfAskedForCohere) {
  const auto returns = [&](std::string_view path, const std::string& asked) {
    const Response response = post(path, R"("query":"cat","documents":["a dog"])" + asked);
    EXPECT_EQ(response.status, 200) << response.body;
    return text(json(response).find("results")->as_array("results")[0], "document");
  };
  const std::string document = R"({"text":"a dog"})";
  EXPECT_EQ(returns("/v1/rerank", ""), document);
  EXPECT_EQ(returns("/v1/rerank", R"(,"return_documents":null)"), document);
  EXPECT_EQ(returns("/v1/rerank", R"(,"return_documents":false)"), "absent");
  EXPECT_EQ(returns("/v2/rerank", ""), "absent");
  EXPECT_EQ(returns("/v2/rerank", R"(,"return_documents":true)"), document);
}

TEST_F(RerankRoutes, JinaFindsItsUsageAndTheDocuments) {
  const Response response =
      post("/v1/rerank", R"("model":"tiny/reranker","query":"cat","documents":["a dog",{"text":"the cat"}])");
  ASSERT_EQ(response.status, 200) << response.body;
  const Json answer = json(response);
  EXPECT_EQ(text(answer, "model"), R"("tiny/reranker")");
  EXPECT_EQ(answer.find("usage")->get_int("total_tokens", 0), answer.find("usage")->get_int("prompt_tokens", -1));
  EXPECT_GT(answer.find("usage")->get_int("total_tokens", 0), 10);
  for (const Json& result : answer.find("results")->as_array("results")) {
    EXPECT_EQ(result.find("document")->get_string("text", ""), result.get_int("index", -1) == 0 ? "a dog" : "the cat");
  }
}

TEST_F(RerankRoutes, TeiAnswersWithRanksAlone) {
  const Response response = post("/rerank", question("texts"));
  ASSERT_EQ(response.status, 200) << response.body;
  expect_ranked(json(response), "score", library().scores, 7);
  EXPECT_EQ(text(json(response).as_array("ranks")[0], "text"), "absent");
  expect_documented(response, "/rerank");
  const Response whole = post("/rerank", question("texts") + R"(,"raw_scores":true,"return_text":true)");
  ASSERT_EQ(whole.status, 200) << whole.body;
  const Json ranks = json(whole);
  expect_ranked(ranks, "score", library({.raw_scores = true}).scores, 7);
  for (const Json& rank : ranks.as_array("ranks"))
    EXPECT_EQ(rank.get_string("text", "?"), recorded_.texts[static_cast<std::size_t>(rank.get_int("index", 0))]);
}

TEST_F(RerankRoutes, TeisModelsTakeTheBodyOfTheirTask) {
  const std::string wanted = post("/rerank", question("texts")).body;
  EXPECT_EQ(post("/models/tiny/reranker/rerank", question("texts")).body, wanted);
  EXPECT_EQ(post("/models/tiny/reranker", question("texts")).body, wanted);
  const Response root = post("/", question("texts"));
  EXPECT_EQ(root.body, wanted);
  expect_documented(root, "/");
  EXPECT_EQ(post("/", R"("truncate":true)").status, 422);
  EXPECT_EQ(post("/", R"("query":"a")").status, 422);
}

TEST_F(RerankRoutes, RefuseTextsThatMustNotBeCut) {
  for (const auto& [path, body, status] :
       {std::tuple("/api/rerank", question("prompts") + R"(,"truncate":false)", 422),
        std::tuple("/rerank", question("texts") + R"(,"truncate":false)", 413),
        std::tuple("/v1/rerank", question("documents") + R"(,"truncation":false)", 400)}) {
    const Response response = post(path, body);
    EXPECT_EQ(response.status, status) << response.body;
    EXPECT_NE(response.body.find("s[1] has, with the query, more than the 32 tokens"), std::string::npos)
        << response.body;
  }
}

TEST_F(RerankRoutes, SayThatAModelIsNoReranker) {
  const Response native = post("/api/rerank", R"("model":"tiny/embedder",)" + question("prompts"));
  EXPECT_EQ(native.status, 422) << native.body;
  EXPECT_NE(native.body.find("is not a reranker"), std::string::npos) << native.body;
  EXPECT_EQ(native.body.find(folder.path().string()), std::string::npos) << native.body;
  EXPECT_EQ(post("/models/tiny/embedder/rerank", question("texts")).status, 422);
  EXPECT_EQ(post("/v2/rerank", R"("model":"tiny/embedder",)" + question("documents")).status, 400);
  EXPECT_EQ(post("/api/rerank", R"("model":"tiny/none",)" + question("prompts")).status, 404);
}

TEST_F(RerankRoutes, AHostedRerankerHasOnlyItsOwnEntryPoint) {
  const auto hosted = acquire("tiny/reranker").model();
  ASSERT_EQ(post("/api/rerank", question("prompts")).status, 200);
  std::vector<std::string> names;
  for (const auto& [name, entry_point] : hosted->pipelines.model().state().entry_points) names.push_back(name);
  EXPECT_EQ(names, std::vector<std::string>{"rerank"});
  EXPECT_GT(host().loaded().at(0).bytes, 0U);
}

TEST_F(RerankRoutes, EmbeddingRequestsToARerankerAreRefusedInEachFamily) {
  for (const auto& [path, body, status] :
       {std::tuple("/api/embed", R"({"model":"tiny/reranker","input":"a"})", 422),
        std::tuple("/api/embeddings", R"({"model":"tiny/reranker","prompt":"a"})", 422),
        std::tuple("/v1/embeddings", R"({"model":"tiny/reranker","input":"a"})", 400),
        std::tuple("/embed", R"({"inputs":"a"})", 422), std::tuple("/embed_all", R"({"inputs":"a"})", 422),
        std::tuple("/similarity", R"({"inputs":{"source_sentence":"a","sentences":["b"]}})", 422),
        std::tuple("/", R"({"inputs":"a"})", 422),
        std::tuple("/v2/embed", R"({"model":"tiny/reranker","input_type":"classification","texts":["a"]})", 400),
        std::tuple("/v2/models/tiny/reranker/infer",
                   R"({"inputs":[{"name":"text","shape":[1],"datatype":"BYTES","data":["a"]}]})", 422)}) {
    const Response response = call(routes_of_all_families(), Method::post, path, body);
    EXPECT_EQ(response.status, status) << path << ' ' << response.body;
    EXPECT_NE(response.body.find("is a reranker"), std::string::npos) << response.body;
    EXPECT_EQ(response.body.find(folder.path().string()), std::string::npos) << response.body;
  }
}

TEST_F(RerankRoutes, ModelsAreListedWithTheirTaskInEachFamily) {
  const auto get = [&](std::string_view path) {
    const Response response = call(routes_of_all_families(), Method::get, path);
    EXPECT_EQ(response.status, 200) << response.body;
    return json(response);
  };
  const Json native = get("/api/models");
  EXPECT_EQ(text(native, "rerankers"), R"(["tiny/reranker"])");
  EXPECT_EQ(text(native, "embedders"), R"(["tiny/embedder"])");
  for (const Json& model : native.find("models")->as_array("models")) {
    const bool reranks = model.get_string("name", "") == "tiny/reranker";
    EXPECT_EQ(text(model, "type"), reranks ? R"("reranker")" : R"("embedder")");
    EXPECT_EQ(text(model, "tasks"), reranks ? R"(["rerank"])" : R"(["embed"])");
  }
  EXPECT_EQ(text(get("/info"), "model_type"), R"({"reranker":{"id2label":{"0":"LABEL_0"},"label2id":{"LABEL_0":0}}})");
  EXPECT_EQ(text(get("/models/tiny/embedder/info"), "model_type"), R"({"embedding":{"pooling":"mean"}})");
  EXPECT_EQ(text(get("/v1/models/tiny/reranker"), "capabilities"), R"(["rerank"])");
  EXPECT_EQ(text(get("/v1/models/tiny/embedder"), "capabilities"), R"(["embed"])");
  const auto show = [&](const std::string& model) {
    return json(call(routes_of_all_families(), Method::post, "/api/show", R"({"model":")" + model + "\"}"));
  };
  EXPECT_EQ(text(show("tiny/reranker"), "capabilities"), R"(["rerank"])");
  EXPECT_EQ(text(show("tiny/embedder"), "capabilities"), R"(["embedding"])");
  const Json kserve = get("/v2/models/tiny/reranker");
  EXPECT_EQ(text(kserve, "parameters"), R"({"tasks":["rerank"]})");
  EXPECT_EQ(text(kserve, "outputs"), R"([{"name":"scores","datatype":"FP32","shape":[-1]}])");
  EXPECT_EQ(text(get("/v2/models/tiny/embedder"), "parameters"), R"({"tasks":["embed"]})");
}

TEST_F(RerankRoutes, TheTokenizerOfARerankerIsThere) {
  const Response tokens = post("/tokenize", R"("inputs":"the cat")");
  ASSERT_EQ(tokens.status, 200) << tokens.body;
  EXPECT_EQ(post("/tokenize", R"("inputs":"a","prompt_name":"query")").status, 422);
}

TEST_F(RerankRoutes, RefuseWhatTheyCannotDo) {
  EXPECT_EQ(post("/api/rerank", R"("query":"a")").status, 400);
  EXPECT_EQ(post("/api/rerank", R"("query":"a","prompts":["b"],"texts":["b"])").status, 400);
  EXPECT_EQ(post("/rerank", R"("query":"a","texts":[])").status, 400);
  EXPECT_EQ(post("/v2/rerank", R"("query":"a","documents":[{"image":"b"}])").status, 400);
  EXPECT_EQ(post("/v1/rerank", R"("query":"a","documents":["b"],"rank_fields":["title"])").status, 400);
  settings.max_inputs = 3;
  end_host();
  EXPECT_EQ(post("/api/rerank", R"("query":"a","prompts":["1","2","3","4"])").status, 413);
}

// Each text is tokenized with the query, so that a body within its limit could still ask for hours of work.
TEST_F(RerankRoutes, BoundTheWorkOfALongQuery) {
  std::string texts = R"("")";
  for (int i = 0; i < 99; ++i) texts += R"(,"")";
  const std::string body = R"("query":")" + std::string(std::size_t{1} << 20, 'a') + R"(","texts":[)" + texts + "]";
  const Response response = post("/rerank", body);
  EXPECT_EQ(response.status, 413) << response.body;
  EXPECT_NE(response.body.find("shorten the query"), std::string::npos) << response.body;
}

TEST_F(RerankRoutes, RefuseHostileBodiesBySchema) {
  const auto takes = [](std::string_view path, const std::string& body) {
    for (const Route& each : all_routes()) {
      if (each.path == path) return !Schema::parse(each.body).check(formats::parse_json(body, "body"));
    }
    throw std::runtime_error("no such route");
  };
  for (const char* body : {R"({"prompts":["a"]})", R"({"query":1,"prompts":["a"]})", R"({"query":"a","prompts":"a"})",
                           R"({"query":"a","prompts":[1]})", R"({"query":"a","prompts":["a"],"top_n":0})",
                           R"({"query":"a","documents":[{"title":"a"}]})", R"({"query":null,"prompts":[]})"})
    EXPECT_FALSE(takes("/api/rerank", body)) << body;
  for (const char* body : {R"({"query":"a"})", R"({"query":"a","documents":[]})", R"({"query":"a","documents":[1]})",
                           R"({"query":"a","documents":["a"],"top_n":1e300})",
                           R"({"query":"a","documents":["a"],"return_documents":"yes"})"})
    EXPECT_FALSE(takes("/v2/rerank", body)) << body;
  EXPECT_TRUE(takes("/v1/rerank", R"({"query":"a","documents":["a"],"top_n":null,"max_chunks_per_doc":10})"));
  for (const char* body : {R"({"query":"a"})", R"({"query":"a","texts":[1]})", R"({"texts":["a"]})",
                           R"({"query":"a","texts":["a"],"truncation_direction":"up"})"})
    EXPECT_FALSE(takes("/rerank", body)) << body;
}

}  // namespace
}  // namespace alate::server
