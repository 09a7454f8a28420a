// Loading and unloading by name.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

class LoadRoutes : public RouteTest {
 protected:
  Response post(std::string_view path, std::string body) {
    return call(native_routes(), Method::post, path, std::move(body));
  }
};

TEST_F(LoadRoutes, AModelIsLoadedAndUnloaded) {
  add("acme/mean");
  const Response response = post("/api/load", R"({"model": "mean"})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"model":"acme/mean","loaded":true})");
  EXPECT_EQ(loaded(), std::vector<std::string>{"acme/mean"});
  EXPECT_EQ(post("/api/unload", R"({"model": "mean", "keep_alive": 0})").status, 200);
  EXPECT_TRUE(loaded().empty());
  EXPECT_EQ(post("/api/unload", R"({"model": "mean"})").status, 200);  // it is not loaded any more
}

TEST_F(LoadRoutes, AModelStaysForAsLongAsIsAskedFor) {
  add("acme/mean");
  settings.keep_alive = std::chrono::minutes(1);
  EXPECT_EQ(post("/api/load", R"({"model": "mean", "keep_alive": "30m"})").status, 200);
  const auto expires = host().loaded().front().expires;
  ASSERT_TRUE(expires);
  EXPECT_GT(*expires, std::chrono::system_clock::now() + std::chrono::minutes(20));
}

TEST_F(LoadRoutes, UnknownModelsAreNotThere) {
  for (const char* path : {"/api/load", "/api/unload"}) EXPECT_EQ(post(path, R"({"model": "none"})").status, 404);
}

TEST_F(LoadRoutes, OnlyAdministratorsUnload) {
  for (const Route& route : native_routes()) {
    EXPECT_EQ(route.access == Access::admin, route.id == "unload") << route.id;
  }
}

}  // namespace
}  // namespace alate::server
