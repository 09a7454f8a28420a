// Models of the hub that clients ask for: by /api/pull and by their names in requests.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "running_application.h"
#include "server/api/pull_lines.h"
#include "server/exchange/family.h"
#include "server/pulls/download_rights.h"
#include "server/pulls/pulls.h"
#include "tests/unit/hub/hub_server.h"

namespace alate::server {
namespace {

using formats::Json;
using hub::HubAnswer;
using hub::HubRequest;
using std::chrono::milliseconds;

void wait_for(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(2));
  EXPECT_TRUE(condition()) << "waited in vain";
}

// A hub that has a small model of the goldens, in the name of three owners.
class ServerPulls : public ::testing::Test {
 protected:
  ServerPulls() {
    std::map<std::string, hub::HubFile> files;
    const std::filesystem::path model = source_folder() / "tests/golden/models/st_mean_normalize";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(model)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string name = entry.path().lexically_relative(model).generic_string();
      files[name] = {{std::istreambuf_iterator<char>(in), {}}, name.ends_with(".safetensors")};
    }
    for (const char* id : {"acme/tiny", "acme/other", "evil/tiny"}) hub.put_model(id, std::string(40, 'a'), files);
    for (const auto& [name, value] : {std::pair<const char*, std::string>{"HF_ENDPOINT", hub.url()},
                                      {"HF_HOME", (folder.path() / "home").string()},
                                      {"HF_TOKEN", "hf_secret"},
                                      {"no_proxy", "127.0.0.1"}})
      ::setenv(name, value.c_str(), 1);
    ::unsetenv("HF_HUB_OFFLINE");
    ::unsetenv("HF_HUB_CACHE");
  }
  ~ServerPulls() override {
    open_gate();
    for (const char* name : {"HF_ENDPOINT", "HF_HOME", "HF_TOKEN"}) ::unsetenv(name);
  }

  static void allow(Settings& settings) {
    settings.allow_downloads = true;
    settings.download_owners = {"acme"};
  }

  /// Answers of the hub wait from now on until `open_gate`; those whose path has this text.
  void close_gate(const std::string& part) {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    hub.change_answers([this, part](const HubRequest& request, HubAnswer&) {
      if (request.path.find(part) == std::string::npos) return;
      std::unique_lock lock(mutex_);
      ++waiting;
      changed_.wait(lock, [&] { return !closed_; });
    });
  }
  void open_gate() {
    const std::lock_guard lock(mutex_);
    closed_ = false;
    changed_.notify_all();
  }
  std::size_t listings() const { return hub.count("GET", "/api/models/"); }

  static std::vector<Json> lines_of(const load::Answer& answer) {
    std::vector<Json> lines;
    for (std::size_t at = 0; at < answer.body.size();) {
      const std::size_t end = answer.body.find('\n', at);
      lines.push_back(formats::parse_json(answer.body.substr(at, end - at), "a line"));
      at = end == std::string::npos ? answer.body.size() : end + 1;
    }
    return lines;
  }

  base::TemporaryFolder folder;
  hub::HubServer hub;
  std::atomic<int> waiting = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
};

TEST_F(ServerPulls, TellHowFarTheyHaveCome) {
  const RunningApplication server(allow);
  const load::Answer answer = server.post("/api/pull", R"({"model":"hf:acme/tiny"})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(header_of(answer, "Content-Type"), "application/x-ndjson");
  EXPECT_EQ(header_of(answer, "Transfer-Encoding"), "chunked");
  const std::vector<Json> lines = lines_of(answer);
  ASSERT_GE(lines.size(), 5U);
  EXPECT_EQ(lines.front().get_string("status", ""), "pulling manifest");
  EXPECT_EQ(lines.back().get_string("status", ""), "success");
  EXPECT_EQ(lines[lines.size() - 2].get_string("status", ""), "writing manifest");
  const std::string weights = hub::HubServer::sha256([] {
    std::ifstream in(source_folder() / "tests/golden/models/st_mean_normalize/model.safetensors", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }());
  bool has_weights = false;
  for (const Json& line : lines) {
    if (line.get_string("digest", "") != "sha256:" + weights) continue;
    has_weights = true;
    EXPECT_EQ(line.get_string("status", ""), "pulling " + weights.substr(0, 12));
    EXPECT_LE(line.get_int("completed", -1), line.get_int("total", -2));
  }
  EXPECT_TRUE(has_weights) << answer.body;

  // It is there now, and may be named; also as Ollama's clients do, which write the name that they pulled.
  const load::Answer embedded = server.post("/api/embed", R"({"model":"hf:acme/tiny","input":"a text"})");
  EXPECT_EQ(embedded.status, 200) << embedded.body;
  EXPECT_EQ(json_of(embedded).get_string("model", ""), "hf:acme/tiny");
  EXPECT_EQ(server.post("/api/embed", R"({"model":"acme/tiny","input":"a text"})").status, 200);
  EXPECT_EQ(server.post("/api/embed", R"({"model":"acme/tiny:latest","input":"a text"})").status, 200);
  EXPECT_NE(server.get("/api/tags").body.find("hf:acme/tiny"), std::string::npos);
  EXPECT_EQ(listings(), 1U);
  const load::Answer own = server.post("/api/embed", R"({"model":"tiny/embedder","input":"a text"})");
  EXPECT_EQ(formats::to_json_text(*json_of(own).find("embeddings")),
            formats::to_json_text(*json_of(embedded).find("embeddings")));
}

TEST_F(ServerPulls, MayBeOneAnswer) {
  const RunningApplication server(allow);
  const load::Answer answer = server.post("/api/pull", R"({"name":"acme/tiny","stream":false,"insecure":true})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"status":"success"})");
  EXPECT_EQ(header_of(answer, "Content-Type"), "application/json");
  const load::Answer absent = server.post("/api/pull", R"({"model":"acme/absent","stream":false})");
  EXPECT_EQ(absent.status, 404) << absent.body;
}

TEST_F(ServerPulls, TellWhatFailsInTheMiddle) {
  const RunningApplication server(allow);
  hub.change_answers([](const HubRequest& request, HubAnswer& answer) {
    if (!request.is_storage || request.method != "GET") return;
    std::this_thread::sleep_for(milliseconds(500));  // so that the answer has begun
    answer = {.status = 403};
  });
  const load::Answer answer = server.post("/api/pull", R"({"model":"hf:acme/tiny"})");
  const std::string& body = answer.body;
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(lines_of(answer).back().get_string("error", ""), "") << body;
  for (const std::string& secret : {std::string("hf_secret"), hub.url(), hub.storage_url(), folder.path().string()})
    EXPECT_EQ(body.find(secret), std::string::npos) << body;
}

TEST_F(ServerPulls, AreOfPermittedOwnersOnly) {
  const RunningApplication server(allow);
  for (const char* name :
       {"hf:evil/tiny", "hf:Acme/tiny", "hf:acme2/tiny", "hf:tiny", "evil/tiny@main", "hf:evil/absent"}) {
    const std::string model = R"({"model":")" + std::string(name) + R"(")";
    const load::Answer answer = server.post("/api/pull", model + "}");
    EXPECT_EQ(answer.status, 403) << name << answer.body;
    EXPECT_FALSE(json_of(answer).get_string("error", "").empty());
    if (std::string_view(name).starts_with("hf:")) {
      EXPECT_EQ(server.post("/api/embed", model + R"(,"input":"a"})").status, 403) << name;
      EXPECT_EQ(server.post("/v1/embeddings", model + R"(,"input":"a"})").status, 403) << name;
    }
  }
  EXPECT_EQ(hub.requests().size(), 0U);
}

TEST_F(ServerPulls, NameNoServersAndNoFolders) {
  const RunningApplication server([](Settings& settings) {
    settings.allow_downloads = true;
    settings.download_owners = {"*"};
  });
  for (const std::string& name :
       {hub.url() + "/acme/tiny", std::string("hf:http://127.0.0.1/acme/tiny"), std::string("file:///etc/acme/tiny"),
        std::string("hf:file:///etc/passwd"), std::string("hf:../../etc/passwd"), std::string("hf:acme/.."),
        std::string("hf:acme/tiny@../../x"), std::string("hf:acme/tiny@main/../../x"), std::string("hf:acme/tiny:../x"),
        std::string("hf:acme/tiny\\u0000"), std::string("hf:acme/tiny?x=1"), std::string("hf:acme/tiny#x"),
        std::string("hf:acme/t%2e%2e"), std::string("hf:"), std::string("hf:@main"), std::string("hf:acme//tiny"),
        "hf:acme/" + std::string(4000, 'a'), std::string("//evil.example/acme/tiny"),
        std::string("https://user:pass@huggingface.co@127.0.0.1/acme/tiny")}) {
    const load::Answer answer = server.post("/api/pull", R"({"model":")" + name + R"("})");
    EXPECT_GE(answer.status, 400) << name << answer.body;
    EXPECT_LT(answer.status, 500) << name << answer.body;
  }
  EXPECT_EQ(hub.requests().size(), 0U);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "home/hub"));
}

TEST_F(ServerPulls, AreRefusedWhereNotAllowed) {
  for (const bool allows : {false, true}) {
    const RunningApplication server([&](Settings& settings) { settings.allow_downloads = allows; });
    const load::Answer answer = server.post("/api/pull", R"({"model":"hf:acme/tiny"})");
    EXPECT_EQ(answer.status, 403) << answer.body;
    EXPECT_EQ(server.post("/api/embed", R"({"model":"hf:acme/tiny","input":"a"})").status, allows ? 403 : 404);
    EXPECT_EQ(server.post("/api/pull", "{}").status, 400);
  }
  EXPECT_EQ(hub.requests().size(), 0U);
}

// What the cache has is not told: the answer is the same with and without.
TEST_F(ServerPulls, SayNothingOfTheCache) {
  std::string answers[2];
  for (int round = 0; round < 2; ++round) {
    if (round == 1) pull_model("evil/tiny");
    const RunningApplication server(allow);
    for (const char* route : {"/api/pull", "/api/embed", "/api/show"}) {
      const load::Answer answer = server.post(route, R"({"model":"hf:evil/tiny","input":"a"})");
      answers[round] += std::to_string(answer.status) + answer.body;
    }
  }
  EXPECT_EQ(answers[0], answers[1]);
}

TEST_F(ServerPulls, FetchOnceForAll) {
  const RunningApplication server(allow);
  close_gate("/api/models/acme/tiny");
  std::vector<std::thread> clients;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&, i] {
      const load::Answer answer = i % 2 == 0
                                      ? server.post("/api/embed", R"({"model":"hf:acme/tiny@main","input":"a text"})")
                                      : server.post("/api/pull", R"({"model":"hf:acme/tiny","stream":false})");
      if (answer.status == 200) ++good;
    });
  }
  // One leaves, which is nothing to the others.
  load::Client leaving(server.port());
  leaving.connect();
  leaving.send(load::Client::request("POST", "/api/pull", R"({"model":"hf:acme/tiny"})"));
  wait_for([&] { return waiting > 0; });
  leaving.reset();
  std::this_thread::sleep_for(milliseconds(100));
  open_gate();
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, 8);
  EXPECT_EQ(listings(), 1U);
}

TEST_F(ServerPulls, AreLimitedForEachClient) {
  const RunningApplication server(allow);
  close_gate("/api/models/");
  std::vector<std::unique_ptr<load::Client>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<load::Client>(server.port()));
    clients.back()->connect();
    clients.back()->send(load::Client::request(
        "POST", "/api/pull", R"({"model":"hf:acme/tiny@v)" + std::to_string(i) + R"(","stream":false})"));
  }
  wait_for([&] { return waiting >= 2; });
  load::Answer answer;
  wait_for([&] {
    answer = server.post("/api/pull", R"({"model":"hf:acme/other","stream":false})");
    return answer.status == 503;
  });
  EXPECT_FALSE(header_of(answer, "Retry-After").empty());
  open_gate();
}

TEST_F(ServerPulls, AreNoLargerThanTheLimit) {
  const RunningApplication server([](Settings& settings) {
    allow(settings);
    settings.max_download_mb = 1;
  });
  hub.put_model("acme/large", std::string(40, 'b'),
                {{"config.json", {"{}"}}, {"model.safetensors", {std::string(2 << 20, 'x'), true}}});
  const load::Answer answer = server.post("/api/pull", R"({"model":"hf:acme/large","stream":false})");
  EXPECT_EQ(answer.status, 413) << answer.body;
  EXPECT_EQ(hub.count("GET", "safetensors"), 0U);
  EXPECT_EQ(server.post("/api/pull", R"({"model":"hf:acme/tiny","stream":false})").status, 200);
}

TEST_F(ServerPulls, EndWhenTheServerStops) {
  RunningApplication server(allow);
  close_gate("/api/models/");
  load::Client client(server.port());
  client.connect();
  std::thread reader([&] {
    const load::Answer answer =
        client.exchange(load::Client::request("POST", "/api/pull", R"({"model":"hf:acme/tiny"})"));
    EXPECT_EQ(answer.status, 200);
    EXPECT_NE(lines_of(answer).back().get_string("error", "").find("shutting down"), std::string::npos) << answer.body;
  });
  wait_for([&] { return waiting > 0; });
  std::this_thread::sleep_for(milliseconds(200));
  const auto begin = std::chrono::steady_clock::now();
  std::thread opener([&] {
    std::this_thread::sleep_for(milliseconds(300));
    open_gate();  // the downloader notices a stop between what it waits for
  });
  server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  reader.join();
  opener.join();
}

TEST_F(ServerPulls, TakeTheCacheWhereTheHubIsAway) {
  pull_model("acme/tiny");
  ::setenv("HF_ENDPOINT", "http://127.0.0.1:1", 1);
  Settings settings;
  PullOptions options;
  options.retry_delay = milliseconds(1);
  Pulls pulls(options);
  std::atomic<int> done = 0, failed = 0;
  const auto ask = [&](const char* name) {
    pulls.ask(hub::parse_pull_reference(name), {}, [&](const PullResult& result) {
      ++(result.model != nullptr && result.model->id == "acme/tiny" ? done : failed);
    });
  };
  ask("acme/tiny");
  ask("acme/other");
  wait_for([&] { return done + failed == 2; });
  EXPECT_EQ(done, 1);
}

TEST_F(ServerPulls, GoOnAfterAnAskerThatThrows) {
  Pulls pulls({});
  std::atomic<int> called = 0;
  for (const char* name : {"acme/tiny", "acme/tiny", "acme/other"}) {
    pulls.ask(hub::parse_pull_reference(name), {}, [&](const PullResult&) {
      if (++called == 1) throw std::runtime_error("of no interest");
    });
  }
  wait_for([&] { return called == 3 && pulls.unfinished() == 0; });
}

TEST_F(ServerPulls, EndWhenTheLastAskerHasLeft) {
  PullLimits limits;
  limits.grace = milliseconds(50);
  limits.tick = milliseconds(5);
  Pulls pulls({}, limits);
  hub.change_answers([](const HubRequest& request, HubAnswer& answer) {
    if (!request.is_storage || request.method != "GET") return;
    answer.piece = 1000;  // hours
    answer.pause = milliseconds(20);
  });
  std::function<void()> leave[2];
  std::atomic<int> failed = 0;
  for (auto& each : leave) {
    pulls.ask(hub::parse_pull_reference("acme/tiny"),
              {.client = client_of_address("127.0.0.1"), .on_leave = [&](auto hook) { each = hook; }},
              [&](const PullResult& result) { failed += result.error != nullptr ? 1 : 0; });
  }
  wait_for([&] { return hub.count("GET", "") > 2; });
  leave[0]();
  std::this_thread::sleep_for(milliseconds(150));
  EXPECT_EQ(pulls.unfinished(), 1U) << "one is still there";
  leave[1]();
  wait_for([&] { return pulls.unfinished() == 0; });
  EXPECT_EQ(failed, 2);
}

// A client that does not read gets the newest state when it reads again; nothing piles up for it.
TEST(PullLines, HoldWhatIsNewestForAClientThatDoesNotRead) {
  std::optional<Response> head;
  const auto exchange = std::make_shared<Exchange>(Request(), "id", Clock::time_point::max(),
                                                   [&](Response response) { head = std::move(response); });
  PullLines lines(exchange);
  PullState state{.phase = PullState::Phase::fetching};
  for (int file = 0; file < 50; ++file) {
    state.files.push_back({.name = "file" + std::to_string(file),
                           .digest = "sha256:" + std::string(62, 'a') + std::to_string(10 + file),
                           .total_bytes = std::uint64_t{1} << 40});
  }
  for (std::uint64_t step = 1; step <= 1000; ++step) {
    for (PulledPart& part : state.files) part.done_bytes = step;
    EXPECT_TRUE(lines.tell(state));
  }
  for (PulledPart& part : state.files) part.is_done = true;
  state.phase = PullState::Phase::done;
  EXPECT_TRUE(lines.tell(state)) << "the end waits for the client";
  ASSERT_TRUE(head);
  std::string text, all;
  head->stream->take(text);
  EXPECT_LE(text.size(), kStreamQueueBytes);
  all += text;
  EXPECT_FALSE(lines.tell(state));
  EXPECT_EQ(head->stream->take(text), AnswerReader::State::ended);
  all += text;
  EXPECT_TRUE(all.ends_with("{\"status\":\"success\"}\n"));
  for (int file = 0; file < 50; ++file) {
    const std::string last = std::to_string(10 + file) + "\",\"total\":1099511627776,\"completed\":1099511627776}";
    EXPECT_NE(all.find(last), std::string::npos) << file;
  }
}

TEST(PullLines, BeginWithAStatusWhereAllHasFailed) {
  std::optional<Response> answer;
  const auto exchange = std::make_shared<Exchange>(Request(), "id", Clock::time_point::max(),
                                                   [&](Response response) { answer = std::move(response); });
  Problem problem;
  problem.kind = Problem::Kind::no_model;
  PullLines lines(exchange);
  EXPECT_FALSE(
      lines.tell({.phase = PullState::Phase::failed, .error = std::make_exception_ptr(RequestError(problem))}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->stream, nullptr);
}

TEST(DownloadRights, AreByExactOwners) {
  Settings settings;
  settings.allow_downloads = true;
  settings.download_owners = {"acme", "b.c-d"};
  for (const char* name : {"hf:acme/x", "acme/x", "hf:acme/x@v1:int8", "https://huggingface.co/acme/x", "b.c-d/x"})
    EXPECT_NO_THROW(permitted_reference(name, settings)) << name;
  for (const char* name : {"hf:ACME/x", "acme2/x", "ac/x", "acme", "hf:x", "c-d/x", "https://huggingface.co/evil/x"})
    EXPECT_THROW(permitted_reference(name, settings), RequestError) << name;
  EXPECT_EQ(canonical_name(permitted_reference("acme/x@main", settings)), "hf:acme/x");
  EXPECT_EQ(canonical_name(permitted_reference("hf:acme/x@v1:int8", settings)), "hf:acme/x@v1:int8");
  settings.download_owners = {"*"};
  EXPECT_NO_THROW(permitted_reference("hf:gpt2", settings));
  EXPECT_THROW(permitted_reference("https://evil.example/acme/x", settings), RequestError);
}

// The settings' own models need no permission; the server is ready with them, and ends without them.
TEST_F(ServerPulls, BringTheModelsThatAServerBeginsWith) {
  close_gate("/api/models/acme/tiny");
  const RunningApplication server([](Settings& settings) {
    settings.default_model = "hf:acme/tiny";
    settings.preload = {"hf:acme/other"};
  });
  wait_for([&] { return waiting > 0; });
  EXPECT_EQ(server.get("/livez").status, 200);
  EXPECT_EQ(server.get("/readyz").status, 503);
  EXPECT_EQ(server.post("/api/embed", R"({"model":"hf:evil/tiny","input":"a text"})").status, 404);
  open_gate();
  wait_for([&] { return server.get("/readyz").status == 200; });
  EXPECT_EQ(server.post("/api/embed", R"({"input":"a text"})").status, 200);
  for (const char* name : {"hf:acme/tiny", "hf:acme/other", "acme/other"})
    EXPECT_EQ(server.post("/api/embed", R"({"input":"a text","model":")" + std::string(name) + R"("})").status, 200);
}

TEST_F(ServerPulls, EndAServerThatCannotBegin) {
  Settings settings;
  settings.port = 0;
  settings.models_dir = folder.path() / "models";
  settings.default_model = "hf:acme/absent";
  Application application(settings, "1.2.3");
  try {
    application.run();
    FAIL() << "it goes on without its model";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found) << error.what();
  }
}

}  // namespace
}  // namespace alate::server
