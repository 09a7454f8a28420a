// alate pull, list and show with models that are elsewhere: a registry's, and a hub's before the download.
#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "formats/json.h"
#include "program.h"
#include "tests/source_folder.h"
#include "tests/unit/hub/registry_testing.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;
using formats::Json;
using hub::HubAnswer;
using hub::HubFile;
using hub::HubRequest;

class CliRegistry : public hub::RegistryTesting {
 protected:
  ProgramSetting setting() const {
    return {.environment = {{"HF_ENDPOINT", server.url()},
                            {"HF_HUB_CACHE", cache.string()},
                            {"HF_HUB_OFFLINE", ""},
                            {"HF_TOKEN", "hf_secret"},
                            {"ALATE_MODELS_DIR", models.string()},
                            {"TMPDIR", temporary.string()},
                            {"NO_PROXY", "127.0.0.1"},
                            {"no_proxy", "127.0.0.1"}}};
  }
  ProgramRun run(const std::vector<std::string>& arguments) const { return run_program(arguments, setting()); }
  Json json(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--output", "json"});
    const ProgramRun result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return formats::parse_json(result.out, "answer");
  }
  std::string failure(int exit_code, const std::vector<std::string>& arguments) const {
    const ProgramRun result = run(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.error;
    EXPECT_EQ(lines_of(result.error).size(), 1U) << result.error;
    EXPECT_EQ(result.error.find("hf_secret"), std::string::npos) << result.error;
    return result.error;
  }
  static std::map<std::string, HubFile> golden(const std::string& name) {
    const fs::path from = source_folder() / "tests/golden/models" / name;
    std::map<std::string, HubFile> files;
    for (const auto& entry : fs::recursive_directory_iterator(from)) {
      const std::string file = entry.path().lexically_relative(from).generic_string();
      if (entry.is_regular_file()) files[file] = {hub::text_of(entry.path()), file.ends_with(".safetensors")};
    }
    return files;
  }

  fs::path temporary = folder.path() / "tmp";
  bool made = fs::create_directories(temporary);
};

TEST_F(CliRegistry, PullsUsesAndVerifiesAModel) {
  Contents contents;
  for (const auto& [name, file] : golden("st_mean")) contents[name] = file.content;
  put_registry(contents, {});
  const ProgramRun pulled = run({"pull", "--registry", registry(), "acme/small"});
  EXPECT_EQ(pulled.exit_code, 0) << pulled.error;
  EXPECT_NE(pulled.out.find("fetched; they are in " + target.string() + "\n"), std::string::npos) << pulled.out;
  expect_model(contents);
  EXPECT_EQ(run({"verify", "acme/small"}).exit_code, 0);
  const std::string own = formats::to_json_text(*json({"embed", "acme/small", "the cat"}).find("embeddings"));
  const std::string there = (source_folder() / "tests/golden/models/st_mean").string();
  EXPECT_EQ(own, formats::to_json_text(*json({"embed", there, "the cat"}).find("embeddings")));
  EXPECT_EQ(json({"pull", "registry:acme/small", "--registry", registry()}).get_int("fetched_bytes", -1), 0);
  const auto place = [&](const std::string& name) {
    return json({"show", name, "--registry", registry()}).get_string("place", "");
  };
  EXPECT_EQ(place("acme/small"), "models directory");
  EXPECT_EQ(place("registry:acme/small"), "registry");
  fs::remove_all(models);
  EXPECT_EQ(place("acme/small"), "registry");
}

TEST_F(CliRegistry, KilledAtAnyMomentItGoesOn) {
  server.change_answers([](const HubRequest& request, HubAnswer& answer) {
    if (request.path.starts_with("/v1/blobs/")) answer.piece = 256 << 10, answer.pause = std::chrono::milliseconds(5);
  });
  const std::vector<std::string> command = {"pull", "--registry", registry(), "acme/small"};
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(run(command).exit_code, 0);
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  fs::remove_all(models);
  std::mt19937 random(11);
  std::uniform_int_distribution<std::int64_t> moment(0, whole.count());
  int killed = 0;
  for (int i = 0; i < 30; ++i) {
    RunningProgram program(command, setting());
    if (const auto ended = program.wait(std::chrono::milliseconds(moment(random)))) {
      ASSERT_EQ(*ended, 0);
      expect_model(base_files);
      fs::remove_all(models);
      continue;
    }
    program.signal(SIGKILL);
    program.wait();
    ++killed;
    if (fs::exists(target)) {  // it is whole, whatever else is beside it
      for (const auto& [name, content] : base_files) EXPECT_TRUE(hub::text_of(target / name) == content) << name;
      EXPECT_TRUE(fs::exists(target / "model_manifest.json"));
    }
  }
  EXPECT_GT(killed, 10);
  ASSERT_EQ(run(command).exit_code, 0);
  expect_model(base_files);
  // Killed while a variant is added, the model stays usable.
  for (int i = 0; i < 10; ++i) {
    RunningProgram program({"pull", "--registry", registry(), "acme/small:i8"}, setting());
    if (program.wait(std::chrono::milliseconds(moment(random) / 4))) break;
    program.signal(SIGKILL);
    program.wait();
    for (const auto& [name, content] : base_files) EXPECT_TRUE(hub::text_of(target / name) == content) << name;
  }
  ASSERT_EQ(run({"pull", "--registry", registry(), "acme/small:i8"}).exit_code, 0);
  expect_model(together(base_files, i8));
}

TEST_F(CliRegistry, TwoProcessesFetchEachFileOnce) {
  std::vector<std::unique_ptr<RunningProgram>> programs;
  for (int i = 0; i < 3; ++i)
    programs.push_back(std::make_unique<RunningProgram>(
        std::vector<std::string>{"pull", "--registry", registry(), "acme/small"}, setting()));
  for (const auto& each : programs) EXPECT_EQ(each->wait(), 0);
  expect_model(base_files);
  EXPECT_EQ(server.count("GET", hub::HubServer::sha256(large)), 3U);  // in 3 ranges
}

TEST_F(CliRegistry, ErrorsAreOneLineWithACode) {
  EXPECT_NE(failure(4, {"pull", "--registry", registry(), "acme/smal"}).find("did you mean acme/small?"),
            std::string::npos);
  EXPECT_NE(failure(6, {"pull", "--registry", registry(), "acme/small", "--offline"}).find("offline"),
            std::string::npos);
  EXPECT_NE(failure(2, {"pull", "--registry", "ftp://h", "acme/small"}).find("invalid_argument"), std::string::npos);
  put_manifest(R"({"name": "small", "owner": "acme", "files": [{"name": "../../evil", "digest": "sha256:)" +
               std::string(64, 'a') + R"("}]})");
  EXPECT_NE(failure(7, {"pull", "--registry", registry(), "acme/small"}).find("corrupt"), std::string::npos);
  EXPECT_FALSE(fs::exists(models));
}

TEST_F(CliRegistry, ListsWhatAHubHas) {
  server.put_page("/api/models", R"([
    {"id": "acme/mini", "pipeline_tag": "sentence-similarity", "downloads": 1500000, "library_name": "x\u001b[31m",
     "config": {"model_type": "bert"}, "safetensors": {"parameters": {"F32": 22713216}, "total": 22713216}},
    {"id": "acme/painter", "pipeline_tag": "text-to-image"},
    {"id": "acme/odd", "pipeline_tag": "feature-extraction", "config": {"model_type": "be\u001b]0;x\u0007rt"}}])");
  const ProgramRun listed = run({"list", "--remote", "mini"});
  EXPECT_EQ(listed.exit_code, 0) << listed.error;
  EXPECT_EQ(listed.out,
            "NAME       TYPE      TASK                 ARCHITECTURE  PARAMETERS  DTYPE  DOWNLOADS  GATED  RUNS\n"
            "acme/mini  embedder  sentence-similarity  bert          22.7M       F32    1.5M       no     yes\n");
  EXPECT_NE(listed.error.find("--all-kinds"), std::string::npos) << listed.error;
  EXPECT_NE(listed.error.find("2 models of "), std::string::npos) << listed.error;
  const ProgramRun all = run({"list", "--remote", "--all-kinds", "--quiet"});
  EXPECT_EQ(lines_of(all.out).size(), 4U) << all.out;
  EXPECT_EQ(all.out.find('\x1b'), std::string::npos) << all.out;
  EXPECT_EQ(all.out.find('\x07'), std::string::npos);
  EXPECT_EQ(all.error, "");
  const Json answer = json({"list", "--remote", "mini"});
  EXPECT_EQ(answer.find("models")->as_array("models").size(), 1U);
  EXPECT_EQ(answer.get_int("other_kinds", 0), 2);
  EXPECT_TRUE(answer.find("models")->as_array("models")[0].find("runs")->as_bool("runs"));
  const ProgramRun of_registry = run({"list", "--remote", "--registry", registry(), "--quiet"});
  EXPECT_EQ(of_registry.out,
            "NAME        TYPE      VARIANTS  SIZE      RUNS\n"
            "acme/small  embedder  f16,i8    19.1 MiB  not known\n");
  EXPECT_NE(failure(6, {"list", "--remote", "--offline"}).find("alate list"), std::string::npos);
  for (const HubRequest& each : server.requests()) {
    EXPECT_EQ(each.path.starts_with("/v1/") && each.fields.contains("authorization"), false) << each.path;
  }
}

TEST_F(CliRegistry, ShowsAModelBeforeItsDownloadAsAfterIt) {
  server.put_model("acme/mean", kCommit, golden("st_mean"));
  const Json before = json({"show", "hf:acme/mean"});
  EXPECT_TRUE(fs::is_empty(temporary));
  EXPECT_FALSE(fs::exists(cache));
  ASSERT_EQ(run({"pull", "hf:acme/mean"}).exit_code, 0);
  const Json after = json({"show", "hf:acme/mean"});
  for (const char* key : {"type", "tasks", "architecture", "class", "runs", "dtype", "parameters", "dimensions",
                          "max_length", "variants", "selection", "memory", "licence", "description", "refused"})
    EXPECT_EQ(formats::to_json_text(*before.find(key)), formats::to_json_text(*after.find(key))) << key;
  EXPECT_EQ(before.get_string("place", ""), "hub");
  EXPECT_TRUE(before.find("path")->is_null());
  const Json& remote = *before.find("remote");
  EXPECT_EQ(remote.get_string("commit", ""), kCommit);
  EXPECT_EQ(remote.find("files")->as_array("files").size(), golden("st_mean").size());
  EXPECT_EQ(after.get_string("place", ""), "hub cache");
  EXPECT_EQ(json({"show", "hf:acme/mean", "--remote"}).get_string("place", ""), "hub");
  const std::string text = run({"show", "hf:acme/mean", "--remote"}).out;
  EXPECT_NE(text.find("to fetch      "), std::string::npos) << text;
  EXPECT_EQ(text.find("/tmp/"), std::string::npos) << text;
}

TEST_F(CliRegistry, ShowsWhatCannotRunAndWhy) {
  server.put_model("acme/mamba", kCommit,
                   {{"config.json", {R"({"model_type": "mamba", "auto_map": {"AutoModel":
                                            "modeling_x.XModel"}})"}},
                    {"model.safetensors", {std::string(2'000'000, 'x'), true}}});
  const Json shown = json({"show", "hf:acme/mamba"});
  EXPECT_FALSE(shown.find("runs")->as_bool("runs"));
  EXPECT_EQ(shown.find("error")->get_string("code", ""), "unsupported");
  EXPECT_EQ(shown.find("error")->get_string("message", "").find(temporary.string()), std::string::npos);
  EXPECT_NE(formats::to_json_text(*shown.find("refused")).find("modeling_x"), std::string::npos);
  server.put_model("acme/gguf", kCommit, {{"a-Q4_K_M.gguf", {"x", true}}, {"a-Q5_K_M.gguf", {"y", true}}});
  const std::string text = run({"show", "hf:acme/gguf"}).out;
  EXPECT_NE(text.find("runs here     no: acme/gguf has"), std::string::npos) << text;
  EXPECT_NE(failure(4, {"show", "hf:acme/nothing"}).find("not_found"), std::string::npos);
  EXPECT_NE(failure(6, {"show", "hf:acme/gguf", "--offline"}).find("unavailable"), std::string::npos);
}

}  // namespace
}  // namespace alate::tests
