// pull_model from a registry: what it writes, and what it refuses.
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "folders/manifest.h"
#include "folders/model_reference.h"
#include "folders/model_verification.h"
#include "tests/unit/hub/registry_testing.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

class RegistryPull : public RegistryTesting {};

TEST_F(RegistryPull, WritesTheModelsFolderWithItsManifest) {
  const PulledModel model = pull_small();
  EXPECT_EQ(model.id, "acme/small");
  EXPECT_EQ(model.folder, target);
  EXPECT_EQ(model.revision, registry());
  EXPECT_EQ(model.files.size(), 4U);
  expect_model(base_files);
  const folders::Manifest manifest = folders::read_manifest(target);
  EXPECT_EQ(manifest.owner, "acme");
  EXPECT_EQ(manifest.type, "embedder");
  EXPECT_EQ(manifest.files.size(), 4U);
  EXPECT_TRUE(manifest.variants.empty());
  EXPECT_EQ(formats::to_json_text(*manifest.json.find("x-kept")), "[1,2]");
  const formats::Json& provenance = *manifest.json.find("provenance");
  EXPECT_EQ(provenance.get_string("downloadedFrom", ""), registry());
  EXPECT_EQ(provenance.get_string("registryDigest", ""), model.commit);
  EXPECT_EQ(provenance.get_string("downloadedAt", "").size(), 20U);
  EXPECT_EQ(provenance.find("source")->get_string("by", ""), "them");
  for (const folders::VerifiedFile& file : folders::verify_model(target, {}))
    EXPECT_EQ(file.verdict, folders::FileVerdict::good) << file.name;
  EXPECT_EQ(folders::find_model_name("acme/small", models), target);
  EXPECT_EQ(folders::list_models(models), std::vector<std::string>{"acme/small"});
  EXPECT_EQ(server.count("GET", HubServer::sha256(large)), 3U);  // in parallel ranges
}

TEST_F(RegistryPull, FetchesNothingTwice) {
  pull_small();
  const std::size_t before = server.requests().size();
  const std::string manifest = text_of(target / "model_manifest.json");
  const PulledModel again = pull_small();
  EXPECT_EQ(again.fetched_bytes, 0U);
  for (const PulledFile& file : again.files) EXPECT_TRUE(file.was_there) << file.name;
  EXPECT_EQ(server.requests().size(), before + 1);  // the manifest
  EXPECT_EQ(text_of(target / "model_manifest.json"), manifest);
  // A file that is gone or has another length is fetched again.
  fs::resize_file(target / "tokenizer.json", 1);
  fs::remove(target / "config.json");
  EXPECT_EQ(pull_small().fetched_bytes, 2U + base_files.at("config.json").size());
  expect_model(base_files);
}

TEST_F(RegistryPull, SweepsBlobsThatAKilledPullHasLeft) {
  pull_small();
  const fs::path blobs = models / "acme/.small.pull/blobs";
  const auto leave = [&](const std::string& name) {
    fs::create_directories(blobs);
    std::ofstream(blobs / name) << "x";
  };
  leave(HubServer::sha256(base_files.begin()->second));
  pull_small();
  expect_model(base_files);
  // Parts of files that the model does not have are of a pull that will go on.
  leave(std::string(64, 'a') + ".incomplete");
  pull_small();
  EXPECT_TRUE(fs::exists(blobs / (std::string(64, 'a') + ".incomplete")));
}

TEST_F(RegistryPull, VariantsJoinThoseThatAreThere) {
  pull_small("registry:acme/small:i8");
  expect_model(together(small_files, i8));
  EXPECT_EQ(folders::read_manifest(target).variants.size(), 1U);
  for (const folders::VerifiedFile& file : folders::verify_model(target, {}))
    EXPECT_EQ(file.verdict, folders::FileVerdict::good) << file.name;
  PullOptions more = registry_options();
  more.variants = {"f32", "f16"};
  pull_model("acme/small", more);
  expect_model(together(together(base_files, i8), f16));
  EXPECT_EQ(folders::read_manifest(target).variants.size(), 2U);
  EXPECT_EQ(server.count("GET", HubServer::sha256(i8.at("model_i8.onnx"))), 1U);
  // A new version of the model drops what it does not have, and keeps files that no manifest lists.
  folder.write("models/acme/small/notes.txt", "mine");
  Contents changed = base_files;
  changed["config.json"] = "{\"model_type\": \"bert\", \"new\": true}";
  put_registry(changed, {{"i8", i8}}, "second");
  pull_small();
  expect_model(together(together(changed, i8), {{"notes.txt", "mine"}}));
  EXPECT_EQ(folders::read_manifest(target).description, "second");
}

TEST_F(RegistryPull, TakesPatternsAndADryRun) {
  PullOptions dry = registry_options();
  dry.dry_run = true;
  EXPECT_EQ(pull_model("acme/small", dry).files.size(), 4U);
  EXPECT_FALSE(fs::exists(models));
  PullOptions some = registry_options();
  some.include = {"*.json"};
  some.exclude = {"1_*"};
  pull_model("acme/small", some);
  expect_model({{"config.json", base_files.at("config.json")}, {"tokenizer.json", "{}"}});
  some = registry_options();
  some.all = true;
  EXPECT_EQ(pull_model(registry() + "/manifests/acme/small.json", some).files.size(), 6U);
  expect_model(together(together(base_files, i8), f16));
}

TEST_F(RegistryPull, FoldersOfOthersAreLeftAlone) {
  folder.write("models/acme/small/config.json", "{}");
  const Error error = refused_small();
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("remove it"), std::string::npos) << error.message();
  fs::remove_all(target);
  fs::create_directories(folder.path() / "elsewhere");
  fs::create_symlink(folder.path() / "elsewhere", target);
  EXPECT_EQ(refused_small().code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(fs::is_empty(folder.path() / "elsewhere"));
  fs::remove(target);
  fs::create_symlink(folder.path() / "elsewhere", models / "acme/.small.pull");
  EXPECT_EQ(refused_small().code(), ErrorCode::corrupt);
  EXPECT_TRUE(fs::is_empty(folder.path() / "elsewhere"));
}

TEST_F(RegistryPull, WrongBytesAndSizesAreFound) {
  const std::string digest = HubServer::sha256("{}");
  server.put_page("/v1/blobs/sha256:" + digest, "[]");
  const Error flipped = refused_small();
  EXPECT_EQ(flipped.code(), ErrorCode::corrupt);
  EXPECT_NE(flipped.message().find(digest), std::string::npos) << flipped.message();
  EXPECT_EQ(server.count("GET", digest), 3U);
  EXPECT_FALSE(fs::exists(target));
  server.put_page("/v1/blobs/sha256:" + digest, "{} and more");
  const Error longer = refused_small();
  EXPECT_EQ(longer.code(), ErrorCode::corrupt);
  EXPECT_NE(longer.message().find("11 bytes, and 2 in the manifest"), std::string::npos) << longer.message();
  server.change_answers([&](const HubRequest& request, HubAnswer& answer) {
    if (request.path.ends_with(digest) && request.method == "HEAD") answer.body = "{}";
  });
  EXPECT_EQ(refused_small().code(), ErrorCode::unavailable);  // the lie comes later
  server.change_answers({});
  server.put_page("/v1/blobs/sha256:" + digest, "{}");
  pull_small();
  expect_model(base_files);
}

TEST_F(RegistryPull, ListsAreNotReadFromOtherServers) {
  server.change_answers([&](const HubRequest& request, HubAnswer& answer) {
    if (!request.path.ends_with("small.json") || request.is_storage) return;
    answer.status = 302;
    answer.fields["Location"] = server.storage_url() + "/manifest.json";
  });
  const Error error = refused_small();
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_NE(error.message().find("redirects to " + server.storage_url()), std::string::npos) << error.message();
  EXPECT_EQ(server.count("GET", "/manifest.json"), 0U);
  // On the same server it is another path; files may come from anywhere, since their digests are known.
  server.put_page("/v1/moved.json", "");
  server.change_answers([&](const HubRequest& request, HubAnswer& answer) {
    if (request.is_storage || !request.path.starts_with("/v1/blobs/sha256:")) return;
    answer.status = 302;
    answer.fields["Location"] = server.storage_url() + "/" + request.path.substr(17);
    answer.body.clear();
  });
  server.put_model("files/of", kCommit,
                   {{"a", {large}}, {"b", {base_files.at("config.json")}}, {"c", {"{}"}}, {"d", {"{\"a\": 1}"}}});
  pull_small();
  expect_model(base_files);
  for (const HubRequest& each : server.requests()) EXPECT_FALSE(each.fields.contains("authorization")) << each.path;
}

TEST_F(RegistryPull, MissingModelsAreNamed) {
  const Error near = refused_small("acme/smal");
  EXPECT_EQ(near.code(), ErrorCode::not_found);
  EXPECT_NE(near.message().find("did you mean acme/small?"), std::string::npos) << near.message();
  EXPECT_NE(refused_small("small").message().find("did you mean acme/small?"), std::string::npos);
  server.remove_page("/v1/blobs/sha256:" + HubServer::sha256("{}"));
  EXPECT_EQ(refused_small().code(), ErrorCode::not_found);
  PullOptions offline = registry_options();
  offline.offline = true;
  EXPECT_EQ(base::error_of([&] { pull_model("acme/small", offline); }).code(), ErrorCode::unavailable);
}

TEST_F(RegistryPull, FilesWithoutASizeCountBeforeAnythingIsFetched) {
  std::uint64_t bytes = 0;
  for (const auto& [name, content] : base_files) bytes += content.size();
  for (const bool states_zero : {false, true}) {
    formats::Json::Array entries;
    for (const auto& [name, content] : base_files) {
      formats::Json::Object entry = {{"name", name}, {"digest", "sha256:" + HubServer::sha256(content)}};
      if (states_zero) entry.emplace_back("size", 0);
      entries.emplace_back(std::move(entry));
    }
    put_manifest(formats::to_json_text(
        formats::Json::Object{{"name", "small"}, {"owner", "acme"}, {"files", std::move(entries)}}));
    PullOptions limited = registry_options();
    limited.max_bytes = bytes - 1;
    const Error error = base::error_of([&] { pull_model("acme/small", limited); });
    EXPECT_EQ(error.code(), ErrorCode::resource_exhausted) << error.message();
    EXPECT_EQ(server.count("GET", "/v1/blobs/"), 0U);
    PullOptions dry = registry_options();
    dry.dry_run = true;
    EXPECT_EQ(pull_model("acme/small", dry).fetched_bytes, bytes);
  }
  PullOptions enough = registry_options();
  enough.max_bytes = bytes;
  pull_model("acme/small", enough);
  expect_model(base_files);
}

TEST_F(RegistryPull, GoesOnAfterBrokenConnections) {
  std::atomic<int> answers{0};
  server.change_answers([&](const HubRequest& request, HubAnswer& answer) {
    if (request.method == "GET" && request.path.ends_with(HubServer::sha256(large)) && ++answers % 2 == 1)
      answer.cut_at = (4 << 20) + 100;
  });
  pull_small();
  expect_model(base_files);
  EXPECT_GT(answers, 3);
}

TEST_F(RegistryPull, ThreadsThatPullAtOnceFetchOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { EXPECT_NO_THROW(pull_small()); });
  for (std::thread& each : threads) each.join();
  expect_model(base_files);
  EXPECT_EQ(server.count("GET", HubServer::sha256(large)), 3U);
}

TEST_F(RegistryPull, PutsBackAFolderThatAKilledProcessMovedAway) {
  pull_small();
  fs::create_directories(models / "acme/.small.pull");
  fs::rename(target, models / "acme/.small.pull/old");
  PullOptions more = registry_options();
  more.variants = {"i8"};
  pull_model("acme/small", more);
  expect_model(together(base_files, i8));
  EXPECT_EQ(server.count("GET", HubServer::sha256(large)), 3U);  // not fetched again
}

}  // namespace
}  // namespace alate::hub
