// What runs on the server's work threads, and for how long.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/golden/tiny_classifiers.h"
#include "tests/golden/tiny_gliner.h"
#include "tests/golden/tiny_recognizers.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

std::vector<Route> all_routes() {
  std::vector<Route> routes;
  for (auto family : {native_routes(), openai_routes(), anthropic_routes(), tei_routes(), cohere_routes(),
                      jina_routes(), ollama_routes(), kserve_routes(), operations_routes()})
    std::ranges::move(family, std::back_inserter(routes));
  return routes;
}

struct SmallRequest {
  std::string_view path, body;
};

// One of each way to a model.
constexpr SmallRequest kSmallRequests[] = {
    {"/api/embed", R"({"model":"tiny/embedder","input":"the cat"})"},
    {"/api/embed", R"({"model":"tiny/embedder","input":"the cat","normalize":false})"},
    {"/api/embeddings", R"({"model":"tiny/embedder","prompt":"the cat"})"},
    {"/v1/embeddings", R"({"model":"tiny/embedder","input":"the cat"})"},
    {"/v1/embeddings", R"({"model":"tiny/embedder","input":[[2,5,3]]})"},
    {"/models/tiny/embedder/embed", R"({"inputs":"the cat"})"},
    {"/models/tiny/embedder/embed_all", R"({"inputs":"the cat"})"},
    {"/models/tiny/embedder/tokenize", R"({"inputs":"the cat"})"},
    {"/models/tiny/embedder/decode", R"({"ids":[5]})"},
    {"/models/tiny/embedder", R"({"inputs":"the cat"})"},
    {"/models/tiny/nli/predict", R"({"inputs":"the cat"})"},
    {"/v2/embed",
     R"({"model":"tiny/embedder","input_type":"classification","texts":["a"],"embedding_types":["float"]})"},
    {"/v2/models/tiny/embedder/infer",
     R"({"inputs":[{"name":"text","shape":[1],"datatype":"BYTES","data":["the cat"]}]})"},
    {"/v2/models/tiny/embedder/infer",
     R"({"inputs":[{"name":"input_ids","shape":[1,3],"datatype":"INT64","data":[2,5,3]}]})"},
    {"/api/similarity", R"({"model":"tiny/embedder","texts":["the cat","a fox"]})"},
    {"/api/chunk", R"({"text":"the cat","config":{"model":"tiny/embedder"}})"},
    {"/api/chunk", R"({"text":"the cat","model":"tiny/embedder","config":{"method":"semantic"}})"},
    {"/api/classify", R"({"model":"tiny/nli","texts":["the cat"]})"},
    {"/api/recognize", R"({"model":"tiny/recognizer","texts":["the cat"]})"},
    {"/api/recognize", R"({"model":"tiny/gliner","texts":["the cat"],"labels":["animal"]})"},
    {"/api/redact", R"({"model":"tiny/recognizer","texts":["the cat"]})"},
};

class WorkThreads : public RouteTest {
 protected:
  WorkThreads() {
    add("tiny/embedder");
    tests::write_tiny_classifier(settings.models_dir / "tiny/nli");
    tests::write_tiny_recognizer(settings.models_dir / "tiny/recognizer");
    tests::write_tiny_gliner(settings.models_dir / "tiny/gliner", "spans");
    settings.default_model = "tiny/embedder";
  }

  std::unique_ptr<Begun> begin_small(const SmallRequest& request) {
    return begin(all_routes(), Method::post, request.path, std::string(request.body));
  }
  static bool is_answered(const Begun& begun) {
    return begun.answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
};

TEST_F(WorkThreads, NothingThatAModelsFilesDecideRunsOnTheTransportsThread) {
  std::vector<std::shared_ptr<HostedModel>> models;
  for (const char* name : {"tiny/embedder", "tiny/nli", "tiny/recognizer", "tiny/gliner"})
    models.push_back(acquire(name).model());
  for (const SmallRequest& request : kSmallRequests) {
    SCOPED_TRACE(std::string(request.path) + " " + std::string(request.body));
    std::unique_ptr<Begun> begun;
    {
      const Blockade blockade(work);
      begun = begin_small(request);
      for (const auto& model : models) EXPECT_EQ(model->scheduler->depth().jobs, 0U);
      EXPECT_FALSE(is_answered(*begun));
      EXPECT_EQ(work.counts().waiting, 1U);
    }
    const Response response = begun->answer.get();
    EXPECT_EQ(response.status, 200) << response.body;
  }
}

TEST_F(WorkThreads, HealthIsAnsweredWhileAllOfThemHang) {
  host().preload();
  while (!host().preloaded()) std::this_thread::yield();
  const Blockade blockade(work);
  for (const char* path : {"/livez", "/readyz", "/health", "/healthz", "/v2/health/live", "/v2/health/ready"}) {
    const auto begun = begin(all_routes(), Method::get, path);
    ASSERT_TRUE(is_answered(*begun)) << path;
    EXPECT_EQ(begun->answer.get().status, 200) << path;
  }
}

TEST_F(WorkThreads, AClientThatHasGoneCostsNothing) {
  const auto model = acquire("tiny/embedder").model();
  for (const SmallRequest& request : kSmallRequests) {
    SCOPED_TRACE(std::string(request.path) + " " + std::string(request.body));
    const Blockade blockade(work);
    const auto begun = begin_small(request);
    while (work.counts().waiting == 0) std::this_thread::yield();  // once its model is loaded
    begun->exchange->abandon();
    EXPECT_EQ(work.counts().waiting, 0U);
  }
  EXPECT_EQ(model->scheduler->depth().jobs, 0U);
}

// Tokenizing and making answers ask for the deadline, not only the model's queue.
TEST_F(WorkThreads, WorkEndsAtTheDeadline) {
  for (const char* name : {"tiny/embedder", "tiny/nli", "tiny/recognizer", "tiny/gliner"})
    EXPECT_NE(acquire(name).model(), nullptr);
  deadline = Clock::now() - std::chrono::seconds(1);
  for (const SmallRequest& request : kSmallRequests) {
    const Response response = begin_small(request)->answer.get();
    const bool reads_ids = request.body.find("[2,5,3]") != std::string_view::npos;
    EXPECT_EQ(response.status, 504) << request.path << " " << request.body << " " << response.body;
    if (!reads_ids) {
      EXPECT_NE(response.body.find("took too long"), std::string::npos) << response.body;
    }
  }
  EXPECT_EQ(work.counts().waiting, 0U);
}

}  // namespace
}  // namespace alate::server
