#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/files/mapped_file.h"
#include "server/api/without_paths.h"
#include "server/readiness.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

class OperationsRoutes : public RouteTest {
 protected:
  Response get(std::string_view path) { return call(operations_routes(), Method::get, path); }
};

TEST_F(OperationsRoutes, AServerThatRunsIsHealthy) {
  for (const char* path : {"/health", "/healthz", "/livez"}) {
    const Response response = get(path);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, R"({"status":"ok"})");
  }
  shutting_down = true;
  EXPECT_EQ(get("/health").status, 200);
}

TEST_F(OperationsRoutes, IsReadyOnceItsFirstModelsAreLoaded) {
  add("acme/mean");
  settings.preload = {"acme/mean"};
  {
    const Blockade blockade(loaders);
    const Blockade other(loaders);
    host().preload();
    const Response response = get("/readyz");
    EXPECT_EQ(response.status, 503);
    EXPECT_NE(header(response, "Retry-After"), "");
    EXPECT_NE(text(json(response), "error").find("loading"), std::string::npos);
    EXPECT_EQ(text(json(response), "code"), R"("unavailable")");
  }
  while (!host().preloaded()) std::this_thread::yield();
  const Response response = get("/readyz");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"status":"ready"})");
}

TEST_F(OperationsRoutes, IsNotReadyWhileItShutsDown) {
  host().preload();
  while (!host().preloaded()) std::this_thread::yield();
  EXPECT_EQ(get("/readyz").status, 200);
  shutting_down = true;
  const Response response = get("/readyz");
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(header(response, "Retry-After"), "");
  EXPECT_NE(text(json(response), "error").find("shutting down"), std::string::npos);
}

TEST_F(OperationsRoutes, IsNotReadyWhileItsThreadsHang) {
  host().preload();
  while (!host().preloaded()) std::this_thread::yield();
  const ReadinessLimits limits{.wait = std::chrono::milliseconds(1), .work = std::chrono::milliseconds(1)};
  obstacle = [&] { return find_obstacle(work, loaders, host(), limits); };
  EXPECT_EQ(get("/readyz").status, 200);
  {
    const Blockade blockade(work);
    while (obstacle().empty()) std::this_thread::yield();
    const Response response = get("/readyz");
    EXPECT_EQ(response.status, 503);
    EXPECT_NE(text(json(response), "error").find("should have ended for"), std::string::npos) << response.body;
    const Response kserve = call(kserve_routes(), Method::get, "/v2/health/ready");
    EXPECT_EQ(kserve.status, 503);
    work.push([] {});
    while (obstacle().find("not answered") == std::string::npos) std::this_thread::yield();
  }
  while (!obstacle().empty()) std::this_thread::yield();
  EXPECT_EQ(get("/readyz").status, 200);
}

// Before any request has asked for it, and however often readiness is asked for.
TEST_F(OperationsRoutes, IsNotReadyWhileItsOnlyModelCannotBeLoaded) {
  add("acme/mean");
  const std::filesystem::path config = settings.models_dir / "acme/mean/config.json";
  const std::string whole = base::read_text_file(config);
  std::ofstream(config) << R"({"model_type": "mamba"})";
  host().preload();
  while (!host().preloaded()) std::this_thread::yield();
  for (int probe = 0; probe < 3; ++probe) {
    const Response response = get("/readyz");
    EXPECT_EQ(response.status, 503);
    EXPECT_NE(header(response, "Retry-After"), "");
    EXPECT_NE(text(json(response), "error").find("acme/mean"), std::string::npos) << response.body;
    EXPECT_NE(text(json(response), "error").find("'mamba'"), std::string::npos) << response.body;
    EXPECT_EQ(response.body.find(folder.path().string()), std::string::npos) << response.body;
  }
  EXPECT_EQ(call(kserve_routes(), Method::get, "/v2/health/ready").status, 503);
  EXPECT_EQ(get("/health").status, 200);
  host().unload_idle();
  EXPECT_EQ(get("/readyz").status, 503);
  // The operator mends it.
  std::ofstream(config) << whole;
  while (get("/readyz").status != 200) {
    host().unload_idle();
    std::this_thread::yield();
  }
  EXPECT_EQ(acquire("").model()->name, "acme/mean");
}

TEST_F(OperationsRoutes, IsNotReadyAfterLoadingTheDefaultModelHasFailed) {
  add("acme/mean");
  add("acme/other");
  settings.default_model = "acme/mean";
  const std::filesystem::path weights = settings.models_dir / "acme/mean/model.safetensors";
  std::filesystem::rename(weights, weights.string() + ".kept");
  host().preload();
  while (!host().preloaded()) std::this_thread::yield();
  EXPECT_NE(text(json(get("/readyz")), "error").find("acme/mean"), std::string::npos);
  // Another model says nothing about it, and a load that succeeds ends it.
  (void)acquire("acme/other").model();
  EXPECT_EQ(get("/readyz").status, 503);
  std::filesystem::rename(weights.string() + ".kept", weights);
  (void)acquire("").model();
  EXPECT_EQ(get("/readyz").status, 200);
}

TEST_F(OperationsRoutes, IsReadyThoughOneOfSeveralModelsCannotBeLoaded) {
  add("acme/mean");
  add("acme/other");
  std::ofstream(settings.models_dir / "acme/mean/config.json") << "{";
  host().preload();
  while (!host().preloaded()) std::this_thread::yield();
  (void)acquire("acme/mean").error();
  EXPECT_EQ(get("/readyz").status, 200);
}

TEST_F(OperationsRoutes, IsNotReadyWhileAModelHangs) {
  add("acme/mean");
  host().preload();
  const auto model = acquire("acme/mean").model();
  const ReadinessLimits limits{.batch = std::chrono::milliseconds(1)};
  EXPECT_EQ(find_obstacle(work, loaders, host(), limits), "");
  std::promise<void> go_on;
  runtime::BatchJob job;
  job.task = [end = go_on.get_future().share()](const auto&) { end.wait(); };
  model->scheduler->submit(std::move(job));
  while (find_obstacle(work, loaders, host(), limits).find("acme/mean") == std::string::npos) std::this_thread::yield();
  go_on.set_value();
}

TEST_F(OperationsRoutes, BackendsAreShownWithoutPathsOfThisMachineButToAdministrators) {
  ::setenv("ONNXRUNTIME_ROOT", "/home/somebody/secret folder/runtimes", 1);
  const std::string plain = get("/debug/backends").body;
  is_admin = true;
  const std::string whole = get("/debug/backends").body;
  ::unsetenv("ONNXRUNTIME_ROOT");
  EXPECT_NE(plain.find("\"cpu\""), std::string::npos);
  for (const char* part : {"/home", "/root", "/usr", "somebody", "secret", "/lib/", "/opt"})
    EXPECT_EQ(plain.find(part), std::string::npos) << part << " in " << plain;
  EXPECT_NE(whole.find('/'), std::string::npos);
}

TEST(WithoutFolders, LeavesNoPath) {
  EXPECT_EQ(without_folders("no path, a/b, 1/2 and /"), "no path, a/b, 1/2 and …");
  EXPECT_EQ(without_folders("/home/me/lib/a.so.1 was not found"), "…/a.so.1 was not found");
  EXPECT_EQ(without_folders("in /home/me: (/usr/lib, ~/x) '/opt/a b/c'"), "in …: (…, …) '…'");
  EXPECT_EQ(without_folders("file:/etc/passwd"), "file:…");
  EXPECT_EQ(without_folders(""), "");
}

TEST_F(OperationsRoutes, HealthAloneIsOpen) {
  for (const Route& route : operations_routes()) {
    const bool health =
        route.path == "/health" || route.path == "/healthz" || route.path == "/livez" || route.path == "/readyz";
    EXPECT_EQ(route.access == Access::open, health) << route.path;
  }
}

TEST_F(OperationsRoutes, MetricsAreInPrometheussTextFormat) {
  metrics.request("GET", "/health", 200, std::chrono::milliseconds(1), {});
  const Response response = get("/metrics");
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(response.body.find("/health"), std::string::npos);
}

TEST_F(OperationsRoutes, DescribesItself) {
  settings.base_path = "/llm";
  const formats::Json document = json(call(operations_routes(), Method::get, "/llm/openapi.json"));
  EXPECT_EQ(text(document, "openapi"), R"("3.1.0")");
  EXPECT_EQ(text(*document.find("info"), "version"), R"("1.2.3")");
  EXPECT_NE(document.find("paths")->find("/metrics"), nullptr);
}

TEST_F(OperationsRoutes, TheDocumentationIsTheFirstPage) {
  for (const char* path : {"/docs", "/"}) {
    const Response response = get(path);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.content_type, "text/html; charset=utf-8");
  }
  EXPECT_EQ(call(operations_routes(), Method::head, "/").status, 200);
}

}  // namespace
}  // namespace alate::server
