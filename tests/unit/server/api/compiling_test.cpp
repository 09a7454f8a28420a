// The transport's threads only read requests: the first request for a computation is compiled elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <mutex>

#include "runtime/loading/loaded_model.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

std::vector<Route> all_routes() {
  std::vector<Route> routes = native_routes();
  for (auto family : {tei_routes(), kserve_routes()}) std::ranges::move(family, std::back_inserter(routes));
  return routes;
}

// The first request for an entry point that loading does not compile.
struct FirstRequest {
  const char* model;
  Method method;
  const char* path;
  const char* body;
  const char* entry_point;
};

class Compiling : public RouteTest, public ::testing::WithParamInterface<FirstRequest> {
 protected:
  Compiling() {
    add("tiny/embedder", "st_mean_normalize");
    tests::write_tiny_reranker(settings.models_dir / "tiny/reranker");
    settings.default_model = GetParam().model;
  }

  static bool has_entry_point(const HostedModel& hosted, std::string_view name) {
    const Model::State& state = hosted.pipelines.model().state();
    const std::lock_guard lock(state.entry_points_mutex);
    return state.entry_points.find(name) != state.entry_points.end();
  }
};

TEST_P(Compiling, HappensOnNoTransportsThread) {
  const FirstRequest& request = GetParam();
  const auto hosted = acquire(request.model).model();
  ASSERT_FALSE(has_entry_point(*hosted, request.entry_point));
  std::unique_ptr<Begun> begun;
  {
    const Blockade queue_is_busy(work);
    // This thread stands for the transport's: it returns with nothing compiled while the queue is busy.
    begun = begin(all_routes(), request.method, request.path, request.body);
    EXPECT_FALSE(has_entry_point(*hosted, request.entry_point));
    EXPECT_EQ(begun->answer.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  }
  const Response response = begun->answer.get();
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_TRUE(has_entry_point(*hosted, request.entry_point));
}

INSTANTIATE_TEST_SUITE_P(
    FirstRequests, Compiling,
    ::testing::Values(
        FirstRequest{"tiny/embedder", Method::post, "/embed_all", R"({"inputs":"a"})", "embed_tokens"},
        FirstRequest{"tiny/embedder", Method::post, "/embed", R"({"inputs":"a","normalize":false})", "embed"},
        FirstRequest{"tiny/embedder", Method::post, "/v2/models/tiny/embedder/infer",
                     R"({"inputs":[{"name":"input_ids","shape":[1,2],"datatype":"INT64","data":[1,2]}]})", "forward"}),
    [](const auto& each) {
      std::string name = std::string(each.param.model) + each.param.path + "_" + each.param.entry_point;
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

}  // namespace
}  // namespace alate::server
