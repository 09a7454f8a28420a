// Isolation of clients from each other's models and runs, and access rights.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <map>
#include <thread>
#include <vector>

#include "backends/onnxruntime/library.h"
#include "exchange/onnx_writer.h"
#include "graph/builder.h"
#include "graph/builder_functions.h"
#include "running_application.h"

namespace alate::server {
namespace {

namespace fs = std::filesystem;
using formats::Json;
using load::Answer;
using load::Client;

constexpr std::chrono::seconds kWatchdog{120};

// An answer within the watchdog's time; status 0 where there is none.
Answer answer_of(const RunningApplication& server, std::string bytes) {
  auto promise = std::make_shared<std::promise<Answer>>();
  std::future<Answer> answer = promise->get_future();
  std::thread([port = server.port(), bytes = std::move(bytes), promise] {
    try {
      Client client(port);
      promise->set_value(client.exchange(bytes));
    } catch (...) {
      promise->set_value({});
    }
  }).detach();
  if (answer.wait_for(kWatchdog) == std::future_status::ready) return answer.get();
  ADD_FAILURE() << "no answer";
  return {};
}

// An encoder as an ONNX file: hidden = words[ids] + mask, for 88 words of 16 numbers.
std::string onnx_encoder() {
  graph::Builder b("encoder");
  const Dim batch = b.dim("batch"), length = b.dim("length");
  const graph::Value ids = b.parameter("input_ids", {DType::i64, {batch, length}});
  const graph::Value mask = b.parameter("attention_mask", {DType::i64, {batch, length}});
  std::vector<float> words(88 * 16), ones(16, 1);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<float>(i % 13) - 6;
  const graph::Value hidden = graph::matmul(b, graph::one_hot(b, ids, 88, DType::f32),
                                            b.constant(Tensor::from<float>({88, 16}, std::span<const float>(words))));
  const graph::Value seen = graph::matmul(b, graph::expand_dims(b, b.convert({mask}, {DType::f32}), {2}),
                                          b.constant(Tensor::from<float>({1, 16}, std::span<const float>(ones))));
  b.output("last_hidden_state", b.add({hidden, seen}));
  return exchange::write_onnx(b.finish(), {.inline_constant_bytes = std::size_t{1} << 20}).bytes;
}

void write(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

// "tiny/embedder" as it is; "tiny/onnx"; "tiny/broken", whose weights are none; "builtin:small".
void add_kinds_of_models(const Settings& settings) {
  const fs::path models = settings.models_dir / "tiny", builtin = settings.models_dir.parent_path() / "builtin";
  for (const char* name : {"onnx", "broken"}) {
    fs::copy(models / "embedder", models / name, fs::copy_options::recursive);
    fs::remove(models / name / "model.safetensors");
  }
  write(models / "onnx/model.onnx", onnx_encoder());
  write(models / "broken/model.safetensors", "these are no weights");
  fs::create_directories(builtin);
  fs::copy(models / "embedder", builtin / "small", fs::copy_options::recursive);
  ::setenv("ALATE_BUILTIN_MODELS", builtin.c_str(), 1);
}

struct InferenceRoute {
  const char* method;
  const char* path;  // MODEL stands for the model's name
  const char* body;
};

constexpr InferenceRoute kInferenceRoutes[] = {
    {"POST", "/v2/models/MODEL/infer",
     R"({"inputs":[{"name":"input_ids","shape":[1,3],"datatype":"INT64","data":[2,5,3]}]})"},
    {"POST", "/v2/models/MODEL/infer",
     R"({"inputs":[{"name":"input_ids","shape":[2,3],"datatype":"INT64","data":[2,5,3,2,3,0]},
                   {"name":"attention_mask","shape":[2,3],"datatype":"INT64","data":[1,1,1,1,1,0]}]})"},
    {"POST", "/v2/models/MODEL/infer",
     R"({"inputs":[{"name":"input_ids","shape":[0,3],"datatype":"INT64","data":[]}]})"},
    {"POST", "/v2/models/MODEL/infer",
     R"({"inputs":[{"name":"text","shape":[1],"datatype":"BYTES","data":["the cat"]}]})"},
    {"GET", "/v2/models/MODEL", ""},
    {"POST", "/api/embed", R"({"model":"MODEL","input":["the cat","sat"]})"},
    {"POST", "/api/embed", R"({"model":"MODEL","input":"the cat","normalize":false})"},
    {"POST", "/api/embed", R"({"model":"MODEL","input":[]})"},
    {"POST", "/api/embeddings", R"({"model":"MODEL","prompt":"the cat"})"},
    {"POST", "/v1/embeddings", R"({"model":"MODEL","input":["the cat"]})"},
    {"POST", "/v1/embeddings", R"({"model":"MODEL","input":[[2,5,3]]})"},
    {"POST", "/models/MODEL/embed", R"({"inputs":["the cat"]})"},
    {"POST", "/models/MODEL/embed_all", R"({"inputs":["the cat","sat"]})"},
    {"POST", "/models/MODEL/tokenize", R"({"inputs":["the cat"]})"},
    {"POST", "/v2/embed", R"({"model":"MODEL","input_type":"classification","texts":["the cat"],
                              "embedding_types":["float"]})"},
    {"POST", "/v2/repository/models/MODEL/load", "{}"},
};

std::string filled(std::string text, const std::string& model) {
  for (std::size_t at = text.find("MODEL"); at != std::string::npos; at = text.find("MODEL"))
    text.replace(at, 5, model);
  return text;
}

// Each kind of model on each route that runs models, twice, so that what the first request made is used too.
TEST(ClientIsolation, EveryInferenceRouteAnswersForEveryKindOfModel) {
  const RunningApplication server([](Settings& settings) { add_kinds_of_models(settings); });
  const bool has_onnx = !onnxruntime::find_libraries().found.empty();
  const std::map<std::string, bool> kinds = {
      {"tiny/embedder", true}, {"builtin:small", true}, {"tiny/onnx", has_onnx}, {"tiny/broken", false}};
  for (int round = 0; round < 2; ++round) {
    for (const auto& [model, works] : kinds) {
      for (const InferenceRoute& route : kInferenceRoutes) {
        SCOPED_TRACE(model + " " + route.path + " " + route.body);
        const Answer answer =
            answer_of(server, Client::request(route.method, filled(route.path, model), filled(route.body, model)));
        if (works) {
          EXPECT_EQ(answer.status, 200) << answer.body;
        } else {
          // A fault of the file, or a backend that is not here: never a time-out, and not as though it were not found.
          EXPECT_GE(answer.status, 400) << answer.body;
          for (const int wrong : {401, 403, 404, 405, 408, 504}) EXPECT_NE(answer.status, wrong) << answer.body;
        }
        ASSERT_EQ(answer_of(server, Client::request("POST", "/api/embed", R"({"input":"another client"})")).status,
                  200);
      }
    }
  }
  EXPECT_EQ(server.get("/readyz").status, 200);
  ::unsetenv("ALATE_BUILTIN_MODELS");
}

// More requests at once than there are work threads.
TEST(ClientIsolation, TokenIdsForAnOnnxEncoderHoldNoThread) {
  if (onnxruntime::find_libraries().found.empty()) GTEST_SKIP() << "no ONNX Runtime is installed here";
  const RunningApplication server([](Settings& settings) { add_kinds_of_models(settings); });
  const std::string request =
      Client::request("POST", "/v2/models/tiny/onnx/infer",
                      R"({"inputs":[{"name":"input_ids","shape":[2,3],"datatype":"INT64","data":[2,5,3,2,6,3]}]})");
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 4; ++i)
    answers.push_back(std::async(std::launch::async, [&] { return answer_of(server, request); }));
  for (auto& each : answers) {
    const Answer answer = each.get();
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Json output = json_of(answer).find("outputs")->as_array("outputs").at(0);
    EXPECT_EQ(output.get_string("name", ""), "last_hidden_state");
    EXPECT_EQ(formats::to_json_text(*output.find("shape")), "[2,3,16]");
    // Row 2 of the words is 32 % 13 - 6 = 0 at its start, and the mask adds 1.
    EXPECT_EQ(output.find("data")->as_array("data").at(0).as_double("number"), 1);
  }
  // One token more than the model's 40 places.
  std::string ids;
  for (int i = 0; i < 41; ++i) ids += i > 0 ? ",5" : "5";
  const Answer long_row = answer_of(
      server,
      Client::request("POST", "/v2/models/tiny/onnx/infer",
                      R"({"inputs":[{"name":"input_ids","shape":[1,41],"datatype":"INT64","data":[)" + ids + "]}]}"));
  EXPECT_EQ(long_row.status, 422) << long_row.body;
  ::unsetenv("ALATE_BUILTIN_MODELS");
}

// 65,536 tokens in one row, whose positions are all 0: attention over them takes minutes.
TEST(ClientIsolation, PositionsLiftNoLimitOfLength) {
  const RunningApplication server;
  std::string ids = "5", zeros = "0";
  for (int i = 1; i < 65536; ++i) ids += ",5", zeros += ",0";
  const std::string body = R"({"inputs":[{"name":"input_ids","shape":[1,65536],"datatype":"INT64","data":[)" + ids +
                           R"(]},{"name":"position_ids","shape":[1,65536],"datatype":"INT64","data":[)" + zeros +
                           "]}]}";
  auto greedy = std::async(std::launch::async, [&] {
    return answer_of(server, Client::request("POST", "/v2/models/tiny/embedder/infer", body));
  });
  EXPECT_EQ(answer_of(server, Client::request("POST", "/api/embed", R"({"input":"another client"})")).status, 200);
  const Answer answer = greedy.get();
  EXPECT_EQ(answer.status, 422) << answer.body;
  EXPECT_NE(answer.body.find("65536 tokens"), std::string::npos) << answer.body;
}

std::size_t loaded_models(const RunningApplication& server) {
  return json_of(server.get("/api/ps")).find("models")->as_array("models").size();
}

TEST(ClientIsolation, BackendsThatNobodyConfiguredLoadNothing) {
  const RunningApplication server;
  ASSERT_EQ(server.post("/api/embed", R"({"input":"a"})").status, 200);
  for (const char* backend : {"reference", "reference:0", "reference:cpu"}) {
    const Answer refused =
        server.post("/api/embed", R"({"input":"a","keep_alive":-1,"backend":")" + std::string(backend) + R"("})");
    EXPECT_EQ(refused.status, 501) << refused.body;
  }
  EXPECT_EQ(server.post("/api/embed", R"({"input":"a","backend":"cpu:0"})").status, 200);
  EXPECT_EQ(loaded_models(server), 1u);
}

TEST(ClientIsolation, AModelStaysNoLongerThanTheServerAllows) {
  const RunningApplication server;
  for (const char* asked : {"-1", "\"1000h\""})
    EXPECT_EQ(server.post("/api/embed", R"({"model":"tiny/other","input":"a","keep_alive":)" + std::string(asked) + "}")
                  .status,
              200);
  const Json models = json_of(server.get("/api/ps"));
  bool is_there = false;
  for (const Json& model : models.find("models")->as_array("models")) {
    if (model.get_string("name", "").find("other") == std::string::npos) continue;
    is_there = true;
    const std::string expires = model.get_string("expires_at", "");
    const int year = std::stoi(expires.substr(0, 4));
    const auto today =
        std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
    EXPECT_LE(year, static_cast<int>(today.year()) + 1) << expires;
  }
  EXPECT_TRUE(is_there);
}

int status_of(const RunningApplication& server, const char* method, const char* path, const std::string& key,
              std::string_view body = "") {
  const std::string header = key.empty() ? "" : "Authorization: Bearer " + key + "\r\n";
  return server.send(Client::request(method, path, body, header)).status;
}

constexpr const char* kAdminPosts[] = {"/v2/repository/index", "/v2/repository/models/tiny/other/load",
                                       "/v2/repository/models/tiny/other/unload"};

TEST(Roles, OpenWhatTheyAreFor) {
  const RunningApplication server([](Settings& settings) {
    settings.api_keys = {"plain", "metrics scrape", "admin root:1"};
  });
  for (const char* path : kAdminPosts) {
    EXPECT_EQ(status_of(server, "POST", path, "root:1", "{}"), 200) << path;
    EXPECT_EQ(status_of(server, "POST", path, "plain", "{}"), 403) << path;
    EXPECT_EQ(status_of(server, "POST", path, "scrape", "{}"), 403) << path;
    EXPECT_EQ(status_of(server, "POST", path, "root", "{}"), 401) << path;
    EXPECT_EQ(status_of(server, "POST", path, "", "{}"), 401) << path;
  }
  for (const char* path : {"/api/ps", "/debug/backends"}) {
    EXPECT_EQ(status_of(server, "GET", path, "root:1"), 200) << path;
    EXPECT_EQ(status_of(server, "GET", path, "plain"), 403) << path;
    EXPECT_EQ(status_of(server, "GET", path, "scrape"), 403) << path;
  }
  for (const char* key : {"plain", "scrape", "root:1"})
    EXPECT_EQ(status_of(server, "GET", "/metrics", key), 200) << key;
  for (const char* path : {"/api/tags", "/v1/models", "/docs", "/openapi.json"})
    EXPECT_EQ(status_of(server, "GET", path, "scrape"), 403) << path;
  EXPECT_EQ(status_of(server, "POST", "/api/embed", "scrape", R"({"input":"a"})"), 403);
  EXPECT_EQ(status_of(server, "POST", "/api/embed", "plain", R"({"input":"a"})"), 200);
  EXPECT_EQ(status_of(server, "POST", "/api/embed", "admin root:1", R"({"input":"a"})"), 401);
  const Answer refused = server.get("/api/ps", "X-API-Key: plain\r\n");
  EXPECT_NE(refused.body.find("role use"), std::string::npos) << refused.body;
  EXPECT_NE(refused.body.find("role admin"), std::string::npos) << refused.body;
}

TEST(Roles, WithoutKeysTheModelsOfAServerAreForItsOwnMachine) {
  const RunningApplication server([](Settings& settings) { settings.host = "0.0.0.0"; });
  const std::string forwarded = "X-Forwarded-For: 192.0.2.7\r\n";
  for (const char* path : kAdminPosts) {
    EXPECT_EQ(server.post(path, "{}").status, 200) << path;
    EXPECT_EQ(server.post(path, "{}", forwarded).status, 403) << path;
  }
  EXPECT_EQ(server.get("/api/ps", forwarded).status, 403);
  EXPECT_EQ(server.get("/debug/backends", forwarded).status, 403);
  EXPECT_EQ(server.post("/api/embed", R"({"input":"a"})", forwarded).status, 200);
  EXPECT_EQ(server.get("/metrics", forwarded).status, 200);
}

// Jobs that wait, in a scheduler that would wait for ever: all is over before what it uses is.
TEST(ClientIsolation, StoppingLeavesNoScheduler) {
  for (int round = 0; round < 3; ++round) {
    RunningApplication server([](Settings& settings) {
      settings.batch_max_wait = std::chrono::hours(1);
      settings.shutdown_timeout = std::chrono::milliseconds(1);
    });
    ASSERT_EQ(server.post("/api/embed", R"({"input":[]})").status, 200);
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 4; ++i) {
      Client& client = *clients.emplace_back(std::make_unique<Client>(server.port()));
      client.connect();
      client.send(Client::request("POST", "/api/embed", R"({"input":"never computed"})"));
    }
    while (server.get("/metrics").body.find("alate_requests_running 4") == std::string::npos) {
    }
  }
}

}  // namespace
}  // namespace alate::server
