// `alate pull` from outside: what it writes and says, after kills and beside other processes, huggingface_hub included.
#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "program.h"
#include "tests/golden/tiny_generators.h"
#include "tests/load/client.h"
#include "tests/source_folder.h"
#include "tests/unit/hub/hub_server.h"
#include "tests/unit/hub/pull_testing.h"

namespace alate::tests {
namespace {

using hub::HubAnswer;
using hub::HubRequest;

class CliPull : public hub::PullTesting {
 protected:
  ProgramSetting setting() const { return setting_with(cache); }
  ProgramSetting setting_with(const std::filesystem::path& place) const {
    return {.environment = {{"HF_ENDPOINT", server.url()},
                            {"HF_HUB_CACHE", place.string()},
                            {"HF_HUB_OFFLINE", ""},
                            {"HF_TOKEN", "hf_secret"},
                            {"NO_PROXY", "127.0.0.1"},
                            {"no_proxy", "127.0.0.1"},
                            {"HF_HUB_DISABLE_TELEMETRY", "1"},
                            {"HF_HUB_DISABLE_XET", "1"}}};
  }
  ProgramRun run(std::vector<std::string> arguments, const ProgramSetting& in) const {
    arguments.insert(arguments.begin(), "pull");
    return run_program(arguments, in);
  }
  ProgramRun run(const std::vector<std::string>& arguments = {kId}) const { return run(arguments, setting()); }

  std::string failure(int exit_code, const std::vector<std::string>& arguments = {kId}) const {
    const ProgramRun result = run(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.error;
    EXPECT_EQ(lines_of(result.error).size(), 1U) << result.error;
    EXPECT_EQ(result.error.find("hf_secret"), std::string::npos) << result.error;
    return result.error;
  }
};

TEST_F(CliPull, SaysWhatItFetched) {
  const ProgramRun text = run({"hf:owner/model"});
  EXPECT_EQ(text.exit_code, 0) << text.error;
  EXPECT_EQ(text.error, "");
  EXPECT_EQ(text.out,
            "owner/model: 4 of 4 files (20.0 MiB) fetched; they are in " + repo().snapshot(kCommit).string() + "\n");
  expect_snapshot(files);
  const auto again = formats::parse_json(run({kId, "--output", "json"}).out, "answer");
  EXPECT_EQ(again.get_int("fetched_bytes", -1), 0);
  EXPECT_EQ(again.get_string("commit", ""), kCommit);
  EXPECT_EQ(again.find("files")->as_array("files").size(), 4U);
}

TEST_F(CliPull, GgufFilesByTheirTypeAndByTheirAddress) {
  server.put_model("owner/gguf", kCommit,
                   {{"README.md", {"card"}},
                    {"m-Q4_K_M.gguf", {"small"}},
                    {"m-Q8_0-00001-of-00002.gguf", {"first"}},
                    {"m-Q8_0-00002-of-00002.gguf", {"second"}}});
  const auto pulled = [&](const std::string& reference) {
    const ProgramRun done = run({reference, "--output", "json"});
    EXPECT_EQ(done.exit_code, 0) << done.error;
    const auto answer = formats::parse_json(done.out, "answer");
    return std::pair(std::filesystem::path(answer.get_string("path", "")).filename().string(),
                     answer.find("files")->as_array("files").size());
  };
  EXPECT_EQ(pulled("hf:owner/gguf"), std::pair(std::string("m-Q4_K_M.gguf"), std::size_t{2}));
  EXPECT_EQ(pulled("hf:owner/gguf:q8_0"), std::pair(std::string("m-Q8_0-00001-of-00002.gguf"), std::size_t{3}));
  EXPECT_EQ(pulled("https://huggingface.co/owner/gguf/blob/main/m-Q4_K_M.gguf").first, "m-Q4_K_M.gguf");
  EXPECT_EQ(pulled(server.url() + "/owner/gguf/resolve/main/m-Q8_0-00001-of-00002.gguf").second, 3U);
  failure(4, {"https://huggingface.co/owner/gguf/resolve/main/other.gguf"});
}

TEST_F(CliPull, ChatFetchesWhatItIsToTalkWithAndSaysSo) {
  write_tiny_generator(folder.path() / "tiny");
  std::map<std::string, hub::HubFile> tiny;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "tiny"))
    tiny[entry.path().filename().string()] = {base::read_text_file(entry.path())};
  server.put_model("owner/tiny", kCommit, tiny);
  ProgramSetting talk = setting();
  talk.input = "w4 w5\n";
  const std::vector<std::string> chat = {"chat", "hf:owner/tiny", "--temperature", "0", "-n", "4"};
  const ProgramRun first = run_program(chat, talk);
  EXPECT_EQ(first.exit_code, 0) << first.error;
  EXPECT_TRUE(first.error.starts_with("fetching owner/tiny: ")) << first.error;
  const ProgramRun again = run_program(chat, talk);
  EXPECT_EQ(again.out, first.out);
  EXPECT_EQ(again.error, "") << "it is here";
  const ProgramRun offline = run_program({"chat", "hf:owner/other", "--offline"}, talk);
  EXPECT_EQ(offline.exit_code, 6) << offline.error;
}

TEST_F(CliPull, ADryRunListsFiles) {
  const ProgramRun listed = run({kId, "--dry-run", "--include", "*.json"});
  EXPECT_EQ(listed.exit_code, 0) << listed.error;
  const std::vector<std::string> lines = lines_of(listed.out);
  ASSERT_EQ(lines.size(), 4U) << listed.out;
  EXPECT_EQ(lines[0], "fetch  8 bytes  1_Pooling/config.json");
  EXPECT_FALSE(std::filesystem::exists(cache));
}

TEST_F(CliPull, ErrorsAreOneLineWithACode) {
  EXPECT_NE(failure(4, {"owner/nothing"}).find("not_found"), std::string::npos);
  EXPECT_NE(failure(2, {"../evil"}).find("invalid_argument"), std::string::npos);
  EXPECT_NE(failure(6, {kId, "--offline"}).find("unavailable"), std::string::npos);
  EXPECT_NE(failure(4, {"hf:owner/model:q4"}).find("no variant \"q4\""), std::string::npos);
  server.change_answers([](const HubRequest& request, HubAnswer& answer) {
    if (request.method != "HEAD") return;
    answer.status = 403;
    answer.fields = {{"X-Error-Code", "GatedRepo"}};
  });
  EXPECT_NE(failure(6).find("accept its licence"), std::string::npos);
}

TEST_F(CliPull, AFullDiskAndFoldersThatCannotBeWritten) {
  ProgramSetting full = setting();
  full.file_size = std::size_t{10} << 20;
  const ProgramRun result = run({kId}, full);
  EXPECT_EQ(result.exit_code, 5) << result.error;
  EXPECT_EQ(lines_of(result.error).size(), 1U) << result.error;
  EXPECT_EQ(run().exit_code, 0);  // there is room again
  expect_snapshot(files);
  const ProgramRun refused = run({kId}, setting_with("/proc/nothing/hub"));
  EXPECT_EQ(refused.exit_code, 5) << refused.error;  // there is no room at all
  EXPECT_NE(refused.error.find("/proc/nothing/hub"), std::string::npos) << refused.error;
  folder.write("a_file", "");
  const ProgramRun below_a_file = run({kId}, setting_with(folder.path() / "a_file/hub"));
  EXPECT_EQ(below_a_file.exit_code, 4) << below_a_file.error;
  EXPECT_EQ(lines_of(below_a_file.error).size(), 1U) << below_a_file.error;
}

TEST_F(CliPull, KilledAtAnyMomentItGoesOn) {
  server.change_answers([](const HubRequest& request, HubAnswer& answer) {
    if (request.is_storage) answer.piece = 256 << 10, answer.pause = std::chrono::milliseconds(5);
  });
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(run().exit_code, 0);
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
  std::filesystem::remove_all(cache);
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> moment(0, whole.count());
  int killed = 0;
  for (int i = 0; i < 50; ++i) {
    RunningProgram program({"pull", kId}, setting());
    if (const auto ended = program.wait(std::chrono::milliseconds(moment(random) / 1000))) {
      ASSERT_EQ(*ended, 0);
      expect_snapshot(files);
      std::filesystem::remove_all(cache);
      continue;
    }
    program.signal(SIGKILL);
    program.wait();
    ++killed;
    // A branch is recorded only for a complete snapshot.
    if (repo().commit_of("main")) expect_snapshot(files);
  }
  EXPECT_GT(killed, 20);
  ASSERT_EQ(run().exit_code, 0);
  expect_snapshot(files);
}

TEST_F(CliPull, TwoProcessesFetchEachFileOnce) {
  std::vector<std::unique_ptr<RunningProgram>> programs;
  for (int i = 0; i < 3; ++i)
    programs.push_back(std::make_unique<RunningProgram>(std::vector<std::string>{"pull", kId}, setting()));
  for (const auto& each : programs) EXPECT_EQ(each->wait(), 0);
  expect_snapshot(files);
  EXPECT_EQ(server.count("GET", hub::HubServer::sha256(large)), 3U);  // in 3 ranges
}

// The real package, where ALATE_TEST_PYTHON names a Python that has it.
class HuggingfaceHub : public CliPull {
 protected:
  void SetUp() override {
    const char* python = std::getenv("ALATE_TEST_PYTHON");
    if (python == nullptr) GTEST_SKIP() << "ALATE_TEST_PYTHON names no Python with huggingface_hub";
    python_ = python;
  }
  std::string python(const std::string& code) const {
    ProgramSetting in = setting();
    in.program = python_;
    const ProgramRun result =
        run_program({"-c", "from huggingface_hub import snapshot_download, hf_hub_download\n" + code}, in);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return result.out;
  }
  std::size_t requests_of_large() const {
    return server.count("GET", hub::HubServer::sha256(large)) + server.count("GET", "/resolve/");
  }

  std::string python_;
};

TEST_F(HuggingfaceHub, UsesWhatAlateFetched) {
  ASSERT_EQ(run().exit_code, 0);
  const std::size_t before = requests_of_large();
  EXPECT_EQ(python("print(snapshot_download('owner/model'))"), repo().snapshot(kCommit).string() + "\n");
  EXPECT_EQ(python("print(hf_hub_download('owner/model', 'model.safetensors', local_files_only=True))"),
            (repo().snapshot(kCommit) / "model.safetensors").string() + "\n");
  EXPECT_EQ(requests_of_large(), before);
  EXPECT_EQ(python("from huggingface_hub import scan_cache_dir\n"
                   "info = scan_cache_dir()\n"
                   "print([(r.repo_id, r.nb_files, sorted(x.commit_hash for x in r.revisions)) for r in info.repos], "
                   "info.warnings)"),
            "[('owner/model', 4, ['" + std::string(kCommit) + "'])] []\n");
}

TEST_F(HuggingfaceHub, LeavesWhatAlateUses) {
  python("snapshot_download('owner/model')");
  const std::size_t before = requests_of_large();
  const ProgramRun result = run({kId, "--output", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(formats::parse_json(result.out, "answer").get_int("fetched_bytes", -1), 0);
  EXPECT_EQ(requests_of_large(), before);
  expect_snapshot(files);
}

TEST_F(HuggingfaceHub, WaitsForAlatesLockAndAlateForIts) {
  server.change_answers([](const HubRequest& request, HubAnswer& answer) {
    if (request.is_storage) answer.piece = 256 << 10, answer.pause = std::chrono::milliseconds(20);
  });
  for (const bool alate_first : {true, false}) {
    std::filesystem::remove_all(cache);
    const std::size_t before = server.count("GET", hub::HubServer::sha256(large));
    std::thread other([&] {
      if (!alate_first) {
        python("snapshot_download('owner/model')");
      } else {
        EXPECT_EQ(run().exit_code, 0);
      }
    });
    for (int i = 0; i < 2000 && server.count("GET", hub::HubServer::sha256(large)) == before; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (alate_first) {
      python("snapshot_download('owner/model')");
    } else {
      EXPECT_EQ(run().exit_code, 0);
    }
    other.join();
    expect_snapshot(files);
    EXPECT_EQ(server.count("GET", hub::HubServer::sha256(large)) - before, alate_first ? 3U : 1U);
  }
}

// A server that begins with models of the hub is ready when it has them, and ends when it cannot have them.
TEST_F(CliPull, ServersBeginWithModels) {
  std::map<std::string, hub::HubFile> model;
  const std::filesystem::path folder_of_model = source_folder() / "tests/golden/models/st_mean_normalize";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_of_model)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().lexically_relative(folder_of_model).generic_string();
    model[name] = {hub::text_of(entry.path()), name.ends_with(".safetensors")};
  }
  server.put_model("acme/tiny", kCommit, model);
  server.put_model("acme/other", kCommit, model);
  for (int round = 0; round < 2; ++round) {  // the second time nothing is fetched
    RunningProgram program(
        {"serve", "--port", "0", "--quiet", "--model", "hf:acme/tiny", "--model", "hf:acme/other@main"}, setting());
    const std::string line = program.read_line();
    const auto port = static_cast<std::uint16_t>(std::stoi(line.substr(line.rfind(':') + 1)));
    load::Client client(port);
    const auto get = [&](const char* path) { return client.exchange(load::Client::request("GET", path, "")).status; };
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (get("/readyz") != 200 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(get("/readyz"), 200);
    for (const char* body : {R"({"input":"a"})", R"({"input":"a","model":"hf:acme/other"})"})
      EXPECT_EQ(client.exchange(load::Client::request("POST", "/api/embed", body)).status, 200) << body;
    // Others may not be named.
    EXPECT_EQ(client.exchange(load::Client::request("POST", "/api/embed", R"({"input":"a","model":"hf:owner/model"})"))
                  .status,
              404);
    client.close();
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait(), 0);
  }
  EXPECT_EQ(server.count("GET", "/api/models/"), 4U);
  const ProgramRun absent = run_program({"serve", "--port", "0", "--quiet", "--model", "hf:acme/absent"}, setting());
  EXPECT_EQ(absent.exit_code, 4) << absent.error;
  EXPECT_NE(absent.error.find("acme/absent"), std::string::npos) << absent.error;
  EXPECT_EQ(absent.error.find("hf_secret"), std::string::npos);
}

}  // namespace
}  // namespace alate::tests
