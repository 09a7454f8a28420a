// A greedy client, from 127.0.0.1, must not disturb another one, from 127.0.0.2.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "formats/json.h"
#include "tests/end_to_end/attacks/attack.h"
#include "tests/end_to_end/attacks/attacking_onnx.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
const std::string kLongText = "a b c d e f g h i j k l m n o p q r s t u v w x y z";

std::string embed_request(const std::string& text, const std::string& more = "") {
  return post("/api/embed", R"({"input": ")" + text + "\"" + more + "}");
}

// A KServe request with these token ids in one row, and as many zeros as their positions where that is wanted.
std::string infer_request(const std::string& model, std::size_t tokens, bool has_positions = false) {
  std::string ids = "5", zeros = "0";
  for (std::size_t i = 1; i < tokens; ++i) ids += ",5", zeros += ",0";
  const auto input = [&](const std::string& name, const std::string& data) {
    return R"({"name": ")" + name + R"(", "shape": [1,)" + std::to_string(tokens) +
           R"(], "datatype": "INT64", "data": [)" + data + "]}";
  };
  const std::string positions = has_positions ? "," + input("position_ids", zeros) : "";
  return post("/v2/models/" + model + "/infer", R"({"inputs": [)" + input("input_ids", ids) + positions + "]}");
}

class AttackByClient : public Attack {
 protected:
  // Connections from an address, on each of which these bytes are sent.
  void connect(const AttackedServer& server, std::size_t count, const std::string& bytes,
               const std::string& source = kGreedy) {
    for (std::size_t i = 0; i < count; ++i) {
      greedy_.push_back(std::make_unique<load::Client>(server.port(), source, kPatience));
      greedy_.back()->connect();
      greedy_.back()->send(bytes);
    }
  }
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }
  // A gauge without labels.
  static int metric(const AttackedServer& server, const std::string& name) {
    const std::string text = server.ask(kOther, get("/metrics")).body;
    const std::size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stoi(text.substr(at + name.size() + 2));
  }
  static std::size_t loaded_models(const AttackedServer& server) {
    return formats::parse_json(server.ask(kOther, get("/api/ps")).body, "models").find("models")->as_array("").size();
  }

  std::vector<std::unique_ptr<load::Client>> greedy_;
};

TEST_F(AttackByClient, TokenIdsForAnOnnxEncoderHoldNoThread) {
  if (!has_onnx_runtime()) GTEST_SKIP() << "set ONNXRUNTIME_ROOT";
  add_onnx_model("onnx", onnx_encoder(words_inside(1)));
  const auto server = serve({"--backend", "onnx,cpu"});
  const Bystander other(*server);
  connect(*server, 8, infer_request("tiny/onnx", 3));
  pause();
  EXPECT_EQ(server->ask(kOther, infer_request("tiny/embedder", 3)).status, 200);
  other.expect_undisturbed();
  for (const auto& each : greedy_) EXPECT_EQ(each->receive().status, 200);
}

// A server that says it is ready serves.
TEST_F(AttackByClient, ReadinessTellsWhetherRequestsAreServed) {
  if (!has_onnx_runtime()) GTEST_SKIP() << "set ONNXRUNTIME_ROOT";
  add_onnx_model("onnx", onnx_encoder(words_inside(1)));
  const auto server = serve({"--backend", "onnx,cpu"});
  connect(*server, 8, infer_request("tiny/onnx", 3));
  pause();
  const bool is_served = server->ask(kOther, infer_request("tiny/embedder", 3), std::chrono::seconds(12)).status == 200;
  EXPECT_EQ(server->ask(kOther, get("/readyz")).status == 200, is_served);
}

struct InferenceRoute {
  const char *path, *body;  // MODEL stands for the model's name
};

constexpr InferenceRoute kInferenceRoutes[] = {
    {"/v2/models/MODEL/infer", R"({"inputs":[{"name":"input_ids","shape":[1,3],"datatype":"INT64","data":[2,5,3]}]})"},
    {"/v2/models/MODEL/infer", R"({"inputs":[{"name":"text","shape":[1],"datatype":"BYTES","data":["a b"]}]})"},
    {"/api/embed", R"({"model":"MODEL","input":["a b","c"]})"},
    {"/api/embeddings", R"({"model":"MODEL","prompt":"a b"})"},
    {"/v1/embeddings", R"({"model":"MODEL","input":[[2,5,3]]})"},
    {"/models/MODEL/embed", R"({"inputs":["a b"]})"},
    {"/models/MODEL/embed_all", R"({"inputs":["a b","c"]})"},
    {"/models/MODEL/tokenize", R"({"inputs":["a b"]})"},
    {"/v2/embed", R"({"model":"MODEL","input_type":"classification","texts":["a"],"embedding_types":["float"]})"},
};

TEST_F(AttackByClient, EveryInferenceRouteAnswersForEveryKindOfModel) {
  const auto filled = [](std::string text, const std::string& model) {
    for (std::size_t at = text.find("MODEL"); at != std::string::npos; at = text.find("MODEL"))
      text.replace(at, 5, model);
    return text;
  };
  std::vector<std::pair<std::string, bool>> kinds = {{"tiny/embedder", true}, {"tiny/broken", false}};
  folder_.write("models/tiny/broken/model.safetensors", "these are no weights");
  fs::copy(models() / "tiny/embedder", models() / "small", fs::copy_options::recursive);
  kinds.emplace_back("builtin:small", true);
  if (has_onnx_runtime()) {
    add_onnx_model("onnx", onnx_encoder(words_inside(1)));
    kinds.emplace_back("tiny/onnx", true);
  }
  const auto server = serve({"--backend", has_onnx_runtime() ? "cpu,onnx" : "cpu"});
  const Bystander other(*server);
  for (const auto& [model, works] : kinds) {
    for (const InferenceRoute& route : kInferenceRoutes) {
      const load::Answer answer = server->ask(kGreedy, post(filled(route.path, model), filled(route.body, model)));
      EXPECT_EQ(answer.status == 200, works) << model << " " << route.path << " " << answer.status << answer.body;
      ASSERT_NE(answer.status, 0) << model << " " << route.path;
    }
  }
  other.expect_undisturbed();
}

// The model has 40 positions. Attention over so many tokens takes minutes.
TEST_F(AttackByClient, ExplicitPositionsLiftNoLimitOfLength) {
  const auto server = serve();
  const Bystander other(*server);
  connect(*server, 4, infer_request("tiny/embedder", 65536, true));
  pause();
  other.expect_undisturbed();
  for (const auto& each : greedy_) EXPECT_EQ(each->receive().status, 422);
}

// Each answer is some 200 times as large as its request.
TEST_F(AttackByClient, UnreadAnswersDoNotFillTheMemory) {
  const auto server = serve({"--max-concurrent-requests", "4"});
  const Bystander other(*server);
  std::string ids = "5";
  for (int i = 1; i < 1600 * 40; ++i) ids += ",5";
  connect(
      *server, 24,
      post("/v2/models/tiny/embedder/infer",
           R"({"inputs": [{"name": "input_ids", "shape": [1600,40], "datatype": "INT64", "data": [)" + ids + "]}]}"));
  for (int i = 0; i < 5; ++i) pause();
  other.expect_undisturbed(100 * kMegabyte);
}

TEST_F(AttackByClient, SlowBodiesLeaveRoomForThoseOfOthers) {
  const auto server = serve({"--max-body-mb", "1", "--max-total-body-mb", "4"});
  const Bystander other(*server);
  const std::string head =
      "POST /api/embed HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ";
  connect(*server, 16, head + "1048576\r\n\r\n" + std::string(kMegabyte - 100, ' '));
  pause();
  EXPECT_EQ(server->ask(kOther, embed_request("a", R"(, "spaces": ")" + std::string(300000, ' ') + "\"")).status, 200);
  other.expect_undisturbed();
}

// A batch waits for more until its time is over: a request takes 150 ms.
TEST_F(AttackByClient, FilledWaitingPlacesAreNotThoseOfOthers) {
  const auto server = serve({"--max-concurrent-requests", "2", "--max-queue-size", "4", "--batch-max-wait-ms", "150"});
  const Bystander other(*server);
  connect(*server, 30, embed_request("a"));
  pause();
  connect(*server, 30, embed_request("a"));
  EXPECT_EQ(server->ask(kOther, embed_request("another client")).status, 200);
  EXPECT_EQ(server->ask(kOther, get("/health")).status, 200);
  other.expect_undisturbed();
}

TEST_F(AttackByClient, IdleConnectionsGiveWayToOthers) {
  const auto server = serve({"--max-connections", "16"});
  const Bystander other(*server);
  connect(*server, 32, "");
  pause();
  EXPECT_EQ(server->ask(kOther, get("/health")).status, 200);
  other.expect_undisturbed();
}

// Of many clients, so that no share keeps places free.
TEST_F(AttackByClient, HealthIsAnsweredWhenAllConnectionsAreBusy) {
  const auto server = serve({"--max-connections", "8", "--batch-max-wait-ms", "2000"});
  EXPECT_EQ(server->ask(kOther, get("/health")).status, 200);
  for (int i = 11; i < 19; ++i) connect(*server, 1, embed_request("a"), "127.0.0." + std::to_string(i));
  pause();
  EXPECT_EQ(server->ask("127.0.0.30", embed_request("a")).status, 503) << "they are not all busy";
  EXPECT_EQ(server->ask(kOther, get("/health")).status, 200);
}

// Reading any text, however short, is long work with this tokenizer, be it refused at some point.
TEST_F(AttackByClient, ATokenizerHoldsUpNobodyWhoAsksForAnotherModel) {
  const auto letters = [](std::size_t count) { return '"' + std::string(count, 'a') + '"'; };
  add_model("slow");
  folder_.write("models/tiny/slow/tokenizer.json",
                R"({"normalizer": {"type": "Replace", "pattern": {"Regex": "[\\s\\S]+"}, "content": )" +
                    letters(1'000'000) +
                    R"(}, "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1], [)" +
                    letters(65'536) + ", -2]]}}");
  const auto server = serve();
  const Bystander other(*server);
  ASSERT_EQ(server->ask(kGreedy, post("/v2/repository/models/tiny/slow/load", "{}")).status, 200);
  connect(*server, 8, embed_request("hello", R"(, "model": "tiny/slow")"));
  pause();
  EXPECT_EQ(server->ask(kOther, get("/livez")).status, 200);
  EXPECT_EQ(server->ask(kOther, get("/readyz")).status, 200);
  other.expect_undisturbed(512 * kMegabyte);
}

// Minutes of work for the threads that read texts, if the client stayed.
TEST_F(AttackByClient, LongWorkLeavesAThreadToOthersAndEndsWhenItsClientLeaves) {
  const auto server = serve();
  const Bystander other(*server);
  std::string text;
  while (text.size() < 6 * kMegabyte) text += "the quick fox sat there, and so did ";
  const auto chunk = [](const std::string& of) {
    return post("/api/chunk",
                R"({"config": {"model": "tiny/embedder", "method": "recursive"}, "text": ")" + of + "\"}");
  };
  connect(*server, 40, chunk(text));
  pause();
  // Requests that the same threads answer.
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(server->ask(kOther, get("/api/tags")).status, 200);
    EXPECT_EQ(server->ask(kOther, chunk("a b c")).status, 200);
  }
  other.expect_undisturbed(std::size_t{2} << 30);
  EXPECT_GT(metric(*server, "alate_work_running"), 0) << "this was no attack";
  greedy_.clear();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  const auto is_idle = [&] {
    return metric(*server, "alate_work_running") + metric(*server, "alate_work_waiting") == 0;
  };
  while (!is_idle() && std::chrono::steady_clock::now() < end) pause();
  EXPECT_TRUE(is_idle()) << "it works for a client that has left";
}

// Each is unloaded while it computes.
TEST_F(AttackByClient, UnloadingBusyModelsHoldsNoLoading) {
  if (!has_onnx_runtime()) GTEST_SKIP() << "set ONNXRUNTIME_ROOT";
  constexpr int kModels = 4;
  for (int i = 0; i < kModels; ++i) add_onnx_model("endless" + std::to_string(i), endless_onnx_encoder());
  add_model("fresh");
  const auto server = serve({"--backend", "onnx,cpu", "--threads", "1"});
  const Bystander other(*server);
  for (int i = 0; i < kModels; ++i) {
    const std::string name = "tiny/endless" + std::to_string(i), model = R"(, "model": ")" + name + "\"";
    EXPECT_EQ(server->ask(kGreedy, embed_request("a", model)).status, 200);
    connect(*server, 1, embed_request(kLongText, model));
  }
  pause();
  for (int i = 0; i < kModels; ++i) {
    EXPECT_EQ(
        server->ask(kGreedy, post("/v2/repository/models/tiny/endless" + std::to_string(i) + "/unload", "{}")).status,
        200);
  }
  greedy_.clear();
  for (int i = 0; i < 5; ++i) pause();  // until the server has noticed
  EXPECT_EQ(server->ask(kOther, embed_request("a", R"(, "model": "tiny/fresh")")).status, 200) << "is not loaded";
  other.expect_undisturbed();
}

TEST_F(AttackByClient, NamesOfBackendsLoadNoCopies) {
  const auto server = serve();
  const Bystander other(*server);
  const std::size_t before = loaded_models(*server);
  for (const char* backend : {"reference", "reference:0", "reference:cpu"}) {
    const load::Answer answer =
        server->ask(kGreedy, embed_request("a", R"(, "keep_alive": -1, "backend": ")" + std::string(backend) + "\""));
    EXPECT_GE(answer.status, 400) << backend << ": " << answer.body;
  }
  EXPECT_EQ(loaded_models(*server), before);
  other.expect_undisturbed();
}

TEST_F(AttackByClient, ModelsAreNotKeptForEver) {
  add_model("kept");
  const auto server = serve();
  EXPECT_EQ(server->ask(kGreedy, embed_request("a", R"(, "model": "tiny/kept", "keep_alive": -1)")).status, 200);
  const auto json = formats::parse_json(server->ask(kOther, get("/api/ps")).body, "models");
  int found = 0;
  for (const formats::Json& model : json.find("models")->as_array("models")) {
    if (model.get_string("name", "").find("kept") == std::string::npos) continue;
    ++found;
    const auto today =
        std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
    const std::string expires = model.get_string("expires_at", "9999");
    EXPECT_LE(std::stoi(expires.substr(0, 4)), static_cast<int>(today.year()) + 1) << expires;
  }
  EXPECT_EQ(found, 1);
}

// Whoever lists folders for each of them does nothing else.
TEST_F(AttackByClient, UnknownNamesReadNoFolders) {
  for (int i = 0; i < 600; ++i) fs::create_directories(models() / "many" / std::to_string(i));
  const auto server = serve();
  const Bystander other(*server);
  EXPECT_EQ(server->ask(kGreedy, embed_request("a", R"(, "model": "nobody/is-there")")).status, 404);
  std::string requests;
  for (int i = 0; i < 20; ++i) requests += embed_request("a", R"(, "model": "nobody/)" + std::to_string(i) + "\"");
  connect(*server, 160, requests);
  other.expect_undisturbed();
}

}  // namespace
}  // namespace alate::tests
