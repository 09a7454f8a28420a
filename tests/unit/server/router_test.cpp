#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/router.h"

namespace alate::server {
namespace {

using Parameters = std::map<std::string, std::string, std::less<>>;

Route row(Method method, std::string_view path, std::string_view id) {
  Route route;
  route.method = method;
  route.path = path;
  route.id = id;
  return route;
}

std::vector<Route> table() {
  std::vector<Route> routes{
      row(Method::get, "/v1/models", "list"),
      row(Method::get, "/v1/models/{model}", "retrieve"),
      row(Method::post, "/v2/models/{model}/infer", "infer"),
      row(Method::get, "/v2/models/{model}", "metadata"),
      row(Method::get, "/v2/models/{model}/ready", "ready"),
      row(Method::get, "/v2/models/{model}/versions/{version}", "version"),
      row(Method::get, "/v2/health/live", "live"),
      row(Method::post, "/api/embed", "embed"),
      row(Method::post, "/", "root"),
      row(Method::get, "/docs", "docs"),
      row(Method::get, "/health", "health"),
  };
  routes[7].aliases = {"/ai/v1/embed"};
  routes[9].aliases = {"/"};
  routes[10].access = Access::open;
  return routes;
}

class RouterTest : public ::testing::Test {
 protected:
  // The id of the row, "405" or "404".
  std::string id(Method method, std::string_view path) { return id_in(router, method, path); }
  static std::string id_in(const Router& in, Method method, std::string_view path) {
    const Router::Match match = in.find(method, path);
    if (match.route != nullptr) return std::string(match.route->id);
    return match.allowed.empty() ? "404" : "405";
  }
  Parameters parameters(Method method, std::string_view path) { return router.find(method, path).parameters; }

  const Router router{table()};
};

TEST_F(RouterTest, FindsRowsByMethodAndPath) {
  EXPECT_EQ(id(Method::get, "/v1/models"), "list");
  EXPECT_EQ(id(Method::post, "/api/embed"), "embed");
  EXPECT_EQ(id(Method::get, "/v2/health/live"), "live");
  EXPECT_EQ(id(Method::post, "/"), "root");
}

TEST_F(RouterTest, UnknownPathsAreNotFound) {
  for (const char* path : {"/v1", "/v1/", "/v1/models/", "/v1//models", "//v1/models", "/v1/Models", "/api/embedx",
                           "/v1/models/a/b/c", "v1/models", "*", "/v2/models//infer", "/docs/"}) {
    EXPECT_EQ(id(Method::get, path), "404") << path;
  }
}

TEST_F(RouterTest, AModelsNameIsOneOrTwoSegments) {
  EXPECT_EQ(parameters(Method::get, "/v1/models/name"), (Parameters{{"model", "name"}}));
  EXPECT_EQ(parameters(Method::get, "/v1/models/owner/name"), (Parameters{{"model", "owner/name"}}));
  EXPECT_EQ(parameters(Method::get, "/v1/models/owner%2Fname"), (Parameters{{"model", "owner/name"}}));
  EXPECT_EQ(parameters(Method::post, "/v2/models/owner/name/infer"), (Parameters{{"model", "owner/name"}}));
  EXPECT_EQ(parameters(Method::get, "/v2/models/owner/name/versions/3"),
            (Parameters{{"model", "owner/name"}, {"version", "3"}}));
}

TEST_F(RouterTest, OtherParametersAreOneSegment) {
  EXPECT_EQ(id(Method::get, "/v2/models/name/versions/1"), "version");
  EXPECT_EQ(id(Method::get, "/v2/models/name/versions/1/2"), "404");
}

TEST_F(RouterTest, LiteralSegmentsWinOverModels) {
  EXPECT_EQ(id(Method::get, "/v2/models/name/ready"), "ready");
  EXPECT_EQ(parameters(Method::get, "/v2/models/name/ready"), (Parameters{{"model", "name"}}));
  EXPECT_EQ(id(Method::get, "/v2/models/owner/name/ready"), "ready");
  EXPECT_EQ(id(Method::get, "/v2/models/owner/name"), "metadata");
}

TEST_F(RouterTest, TheWrongMethodOfALiteralPathIsNotAModelsName) {
  const Router::Match match = router.find(Method::get, "/v2/models/name/infer");
  EXPECT_EQ(match.route, nullptr);
  EXPECT_EQ(match.allowed, std::vector<Method>{Method::post});
}

TEST_F(RouterTest, HeadFindsARouteOfGet) {
  EXPECT_EQ(id(Method::head, "/v1/models"), "list");
  EXPECT_EQ(id(Method::head, "/api/embed"), "405");
}

TEST_F(RouterTest, TellsTheMethodsOfAPath) {
  EXPECT_EQ(router.find(Method::delete_, "/v1/models").allowed, (std::vector<Method>{Method::get, Method::head}));
  EXPECT_EQ(router.find(Method::put, "/").allowed, (std::vector<Method>{Method::get, Method::head, Method::post}));
  EXPECT_EQ(router.find(Method::other, "/api/embed").allowed, std::vector<Method>{Method::post});
  EXPECT_TRUE(router.find(Method::get, "/nowhere").allowed.empty());
}

TEST_F(RouterTest, AliasesAreTheSameRow) {
  EXPECT_EQ(id(Method::post, "/ai/v1/embed"), "embed");
  EXPECT_EQ(id(Method::get, "/"), "docs");
  EXPECT_EQ(id(Method::head, "/"), "docs");
}

TEST_F(RouterTest, DecodesSegmentsOneByOne) {
  EXPECT_EQ(id(Method::get, "/v1/%6dodels"), "list");
  EXPECT_EQ(parameters(Method::get, "/v1/models/a%20b"), (Parameters{{"model", "a b"}}));
  // An escaped slash splits no segment.
  EXPECT_EQ(id(Method::get, "/v1%2Fmodels"), "404");
}

TEST_F(RouterTest, AnEscapeThatDoesNotDecodeIsNoSuchPath) {
  for (const char* path : {"/v1/models/%", "/v1/models/%4", "/v1/models/%zz", "/v1/models/a%00b", "/v1/models/%ff"})
    EXPECT_EQ(id(Method::get, path), "404") << path;
}

TEST_F(RouterTest, DotsAreHandedOnForTheModelsDirectoryToRefuse) {
  EXPECT_EQ(parameters(Method::get, "/v1/models/../name"), (Parameters{{"model", "../name"}}));
  EXPECT_EQ(id(Method::get, "/v1/models/../../name"), "404");
}

TEST(RouterBasePath, StandsBeforeEveryPathButHealth) {
  for (const char* base : {"/llm", "/llm/", "llm"}) {
    const Router router(table(), base);
    const auto id = [&](Method method, std::string_view path) {
      const Router::Match match = router.find(method, path);
      return match.route == nullptr ? std::string("none") : std::string(match.route->id);
    };
    EXPECT_EQ(router.base_path(), "/llm");
    EXPECT_EQ(id(Method::get, "/llm/v1/models"), "list");
    EXPECT_EQ(id(Method::get, "/v1/models"), "none");
    EXPECT_EQ(id(Method::get, "/llmv1/models"), "none");
    EXPECT_EQ(id(Method::post, "/llm"), "root");
    EXPECT_EQ(id(Method::post, "/llm/"), "root");
    EXPECT_EQ(id(Method::post, "/"), "none");
    EXPECT_EQ(id(Method::get, "/llm/health"), "health");
    EXPECT_EQ(id(Method::get, "/health"), "health");
  }
}

}  // namespace
}  // namespace alate::server
