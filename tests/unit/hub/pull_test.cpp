// pull_model against a hub that behaves.
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/unit/hub/pull_testing.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

class Pull : public PullTesting {};

TEST_F(Pull, WritesTheLayoutOfHuggingfaceHub) {
  const PulledModel model = pull();
  EXPECT_EQ(model.id, kId);
  EXPECT_EQ(model.commit, kCommit);
  EXPECT_EQ(model.revision, "main");
  EXPECT_EQ(model.folder, repo().snapshot(kCommit));
  EXPECT_EQ(model.files.size(), 4U);
  std::uint64_t bytes = 0;
  for (const auto& [name, file] : files) bytes += file.content.size();
  EXPECT_EQ(model.fetched_bytes, bytes);
  expect_snapshot(files);
  EXPECT_EQ(fs::read_symlink(model.folder / "model.safetensors"), "../../blobs/" + HubServer::sha256(large));
  EXPECT_EQ(fs::read_symlink(model.folder / "1_Pooling/config.json"),
            "../../../blobs/" + HubServer::git_digest("{\"a\": 1}"));
  EXPECT_EQ(text_of(repo().ref("main")), kCommit);
  EXPECT_TRUE(fs::exists(repo().lock(HubServer::sha256(large))));
  EXPECT_TRUE(text_of(cache / "CACHEDIR.TAG").starts_with("Signature: 8a477f597d28d172789f06886806bc55"));
}

TEST_F(Pull, FetchesLargeFilesInParallelRanges) {
  pull();
  std::size_t ranged = 0;
  for (const HubRequest& each : server.requests()) ranged += each.is_storage && each.fields.contains("range") ? 1 : 0;
  EXPECT_EQ(ranged, 3U);
}

TEST_F(Pull, FetchesNothingTwice) {
  pull();
  const std::size_t before = server.requests().size();
  const PulledModel again = pull();
  EXPECT_EQ(again.fetched_bytes, 0U);
  for (const PulledFile& file : again.files) EXPECT_TRUE(file.was_there) << file.name;
  EXPECT_EQ(server.requests().size(), before + 1);  // the list of files
  // A blob that another commit has is linked only.
  fs::remove(repo().snapshot(kCommit) / "model.safetensors");
  EXPECT_EQ(pull().fetched_bytes, 0U);
  expect_snapshot(files);
}

TEST_F(Pull, TagsAndCommits) {
  EXPECT_EQ(pull(std::string("hf:owner/model@") + kCommit).commit, kCommit);
  EXPECT_FALSE(fs::exists(repo().ref("main")));
  const Error error = refused("owner/model@v9");
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_NE(error.message().find("no such revision"), std::string::npos) << error.message();
}

TEST_F(Pull, ADryRunWritesNothing) {
  PullOptions dry = options();
  dry.dry_run = true;
  const PulledModel model = pull_model(kId, dry);
  EXPECT_EQ(model.files.size(), 4U);
  EXPECT_GT(model.fetched_bytes, large.size());
  EXPECT_FALSE(fs::exists(cache));
}

TEST_F(Pull, TellsHowFarItIs) {
  std::mutex mutex;
  PullProgress last;
  bool is_growing = true;
  PullOptions told = options();
  told.progress = [&](const PullProgress& at) {
    const std::lock_guard lock(mutex);
    is_growing = is_growing && at.done_bytes >= last.done_bytes && at.done_files >= last.done_files;
    last = at;
  };
  const PulledModel model = pull_model(kId, told);
  EXPECT_TRUE(is_growing);
  EXPECT_EQ(last.done_bytes, model.fetched_bytes);
  EXPECT_EQ(last.total_bytes, model.fetched_bytes);
  EXPECT_EQ(last.done_files, 4U);
}

TEST_F(Pull, StopsSoonAndGoesOnLater) {
  server.change_answers([](const HubRequest& request, HubAnswer& answer) {
    if (request.is_storage) answer.piece = 64 << 10, answer.pause = std::chrono::milliseconds(5);
  });
  std::stop_source stop;
  PullOptions stopped = options();
  stopped.stop = stop.get_token();
  std::atomic<std::uint64_t> done{0};
  stopped.progress = [&](const PullProgress& at) {
    done = at.done_bytes;
    if (at.done_bytes > std::uint64_t{14} << 20) stop.request_stop();
  };
  EXPECT_EQ(base::error_of([&] { pull_model(kId, stopped); }).code(), ErrorCode::cancelled);
  EXPECT_FALSE(fs::exists(repo().ref("main")));
  server.change_answers({});
  const PulledModel rest = pull();
  EXPECT_EQ(rest.files.size(), 4U);
  expect_snapshot(files);
  // Complete pieces of 4 MiB were kept.
  std::uint64_t asked = 0;
  PullOptions nothing = options();
  nothing.progress = [&](const PullProgress& at) { asked = at.total_bytes; };
  pull_model(kId, nothing);
  EXPECT_EQ(asked, 0U);
}

TEST_F(Pull, AnExceptionOfTheProgressEndsIt) {
  PullOptions throwing = options();
  throwing.progress = [](const PullProgress&) { throw std::runtime_error("enough"); };
  EXPECT_THROW(pull_model(kId, throwing), std::runtime_error);
}

TEST_F(Pull, TheTokenGoesToTheHubOnly) {
  PullOptions with_token = options();
  with_token.token = "hf_secret";
  pull_model(kId, with_token);
  for (const HubRequest& each : server.requests()) {
    const bool has = each.head.find("hf_secret") != std::string::npos;
    EXPECT_EQ(has, !each.is_storage) << each.head;
    if (has) {
      EXPECT_EQ(each.fields.at("authorization"), "Bearer hf_secret");
    }
  }
}

TEST_F(Pull, TheTokenComesFromTheEnvironmentOrTheFile) {
  const auto token_sent = [&] {
    const std::size_t before = server.requests().size();
    pull();
    const auto fields = server.requests()[before].fields;
    return fields.contains("authorization") ? fields.at("authorization") : std::string();
  };
  EXPECT_EQ(token_sent(), "");
  folder.write("home/token", "hf_file\n");
  EXPECT_EQ(token_sent(), "Bearer hf_file");
  ::setenv("HF_TOKEN", "hf_variable", 1);
  EXPECT_EQ(token_sent(), "Bearer hf_variable");
  ::setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1", 1);
  EXPECT_EQ(token_sent(), "");
  ::unsetenv("HF_HUB_DISABLE_IMPLICIT_TOKEN");
  ::unsetenv("HF_TOKEN");
  PullOptions broken = options();
  broken.token = "a\r\nHost: b";
  const Error error = base::error_of([&] { pull_model(kId, broken); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.message().find("Host"), std::string::npos) << error.message();
}

TEST_F(Pull, Offline) {
  PullOptions offline = options();
  offline.offline = true;
  EXPECT_EQ(base::error_of([&] { pull_model(kId, offline); }).code(), ErrorCode::unavailable);
  EXPECT_TRUE(server.requests().empty());
  pull();
  const std::size_t before = server.requests().size();
  ::setenv("HF_HUB_OFFLINE", "1", 1);
  offline.offline.reset();
  const PulledModel model = pull_model(kId, offline);
  ::unsetenv("HF_HUB_OFFLINE");
  EXPECT_EQ(model.folder, repo().snapshot(kCommit));
  EXPECT_EQ(model.files.size(), 4U);
  EXPECT_EQ(server.requests().size(), before);
}

TEST_F(Pull, TwoAtOnceFetchEachFileOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { pull(); });
  for (std::thread& each : threads) each.join();
  expect_snapshot(files);
  std::uint64_t ranges = 0;
  for (const HubRequest& each : server.requests()) ranges += each.is_storage && each.method == "GET" ? 1 : 0;
  EXPECT_EQ(ranges, 3U);
}

TEST_F(Pull, AFolderOfReadOnlyFilesIsEnoughWhenAllIsThere) {
  pull();
  server.put_model(kId, kCommit, files);
  fs::permissions(repo().refs(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(pull().fetched_bytes, 0U);
  fs::permissions(repo().refs(), fs::perms::owner_all);
}

TEST_F(Pull, LinksOutOfTheCacheAreNotWrittenThrough) {
  fs::create_directories(folder.path() / "elsewhere");
  fs::create_directories(repo().snapshot(kCommit));
  fs::create_symlink(folder.path() / "elsewhere", repo().snapshot(kCommit) / "1_Pooling");
  EXPECT_EQ(refused().code(), ErrorCode::corrupt);
  EXPECT_TRUE(fs::is_empty(folder.path() / "elsewhere"));
}

TEST_F(Pull, FoldersOfTheCacheThatAreLinksAreRefused) {
  fs::create_directories(folder.path() / "elsewhere");
  for (const char* name : {"blobs", "snapshots", "refs"}) {
    SCOPED_TRACE(name);
    fs::remove_all(cache);
    fs::create_directories(repo().folder());
    fs::create_symlink(folder.path() / "elsewhere", repo().folder() / name);
    EXPECT_EQ(refused().code(), ErrorCode::corrupt);
    for (const auto& each : fs::recursive_directory_iterator(folder.path() / "elsewhere"))
      EXPECT_TRUE(each.is_directory()) << each.path();
  }
}

TEST_F(Pull, AWrongBlobOfTheRightNameIsReplaced) {
  const fs::path blob = repo().blob(HubServer::sha256(large));
  fs::create_directories(blob.parent_path());
  std::ofstream(blob) << "shorter";
  pull();
  expect_snapshot(files);
}

TEST_F(Pull, EmptyFiles) {
  const std::map<std::string, HubFile> empty = {{"config.json", {""}}, {"model.safetensors", {"", true}}};
  server.put_model(kId, kCommit, empty);
  pull();
  expect_snapshot(empty);
}

TEST_F(Pull, AServerThatAReferenceNamesGetsNoToken) {
  PullOptions with_token = options();
  with_token.endpoint = "http://127.0.0.1:1";
  with_token.token = "hf_secret";
  EXPECT_EQ(pull_model(server.url() + "/owner/model", with_token).commit, kCommit);
  expect_snapshot(files);
  for (const HubRequest& each : server.requests())
    EXPECT_EQ(each.head.find("hf_secret"), std::string::npos) << each.head;
}

class Mirror : public PullTesting {
 protected:
  Mirror() {
    std::string siblings;
    for (const auto& [name, file] : files) {
      folder.write("mirror/owner/model/resolve/main/" + name, file.content);
      const std::string size = std::to_string(file.content.size());
      siblings += std::string(siblings.empty() ? "" : ",") + "{\"rfilename\": \"" + name + "\", \"size\": " + size +
                  (file.is_large ? ", \"lfs\": {\"sha256\": \"" + HubServer::sha256(file.content) + "\"}}"
                                 : ", \"blobId\": \"" + HubServer::git_digest(file.content) + "\"}");
    }
    folder.write("mirror/api/models/owner/model/revision/main",
                 "{\"sha\": \"" + kCommit + "\", \"siblings\": [" + siblings + "]}");
  }
  std::string reference() const { return "file://" + (folder.path() / "mirror/owner/model").string(); }
};

TEST_F(Mirror, IsCopiedIntoTheCache) {
  PullOptions offline = options();
  offline.offline = true;
  const PulledModel model = pull_model(reference(), offline);
  EXPECT_GT(model.fetched_bytes, large.size());
  expect_snapshot(files);
  EXPECT_EQ(pull(reference()).fetched_bytes, 0U);
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(Mirror, ItsMistakesAreErrors) {
  EXPECT_EQ(refused(reference() + "@v1").code(), ErrorCode::not_found);
  const fs::path weights = folder.path() / "mirror/owner/model/resolve/main/model.safetensors";
  std::string other = large;
  other[7] ^= 1;
  std::ofstream(weights, std::ios::binary) << other;
  EXPECT_EQ(refused(reference()).code(), ErrorCode::corrupt);
  expect_nothing_temporary();
  fs::resize_file(weights, 7);
  EXPECT_NE(refused(reference()).message().find("has 7 bytes"), std::string::npos);
  fs::remove(weights);
  EXPECT_EQ(refused(reference()).code(), ErrorCode::not_found);
  folder.write("secret", large);
  fs::create_symlink("../../../../../secret", weights);
  EXPECT_EQ(refused(reference()).code(), ErrorCode::corrupt);
  folder.write("mirror/api/models/owner/model/revision/main",
               "{\"sha\": \"" + kCommit + "\", \"siblings\": [{\"rfilename\": \"config.json\"}]}");
  EXPECT_NE(refused(reference()).message().find("lacks the size or the digest"), std::string::npos);
  EXPECT_FALSE(fs::exists(repo().ref("main")));
}

TEST_F(Mirror, IsMadeByAPull) {
  PullOptions making = options();
  making.mirror = folder.path() / "made";
  making.include = {"*.json"};
  (void)pull_model(kId, making);
  making.include = {};
  (void)pull_model(kId, making);
  const std::size_t asked = server.requests().size();
  fs::remove_all(cache);
  PullOptions offline = options();
  offline.offline = true;
  const std::string made = "file:" + (folder.path() / "made/owner/model").string();
  EXPECT_EQ(pull_model(made, offline).commit, kCommit);
  expect_snapshot(files);
  EXPECT_EQ(server.requests().size(), asked);

  // What the cache has makes a mirror too, without the network.
  offline.mirror = folder.path() / "again";
  (void)pull_model(kId, offline);
  fs::remove_all(cache);
  offline.mirror.clear();
  EXPECT_EQ(pull_model("file:" + (folder.path() / "again/owner/model").string(), offline).commit, kCommit);
  expect_snapshot(files);
}

TEST_F(Mirror, KeepsWhatItHasOfTheSameCommit) {
  PullOptions making = options();
  making.mirror = folder.path() / "made";
  making.include = {"config.json"};
  (void)pull_model(kId, making);
  making.include = {"1_Pooling/*"};
  (void)pull_model(kId, making);
  const std::string listing = text_of(folder.path() / "made/api/models/owner/model/revision/main");
  EXPECT_NE(listing.find("\"config.json\""), std::string::npos) << listing;
  EXPECT_NE(listing.find("1_Pooling/config.json"), std::string::npos) << listing;
  making.dry_run = true;
  making.mirror = folder.path() / "none";
  (void)pull_model(kId, making);
  EXPECT_FALSE(fs::exists(making.mirror));
}

class PlainFolder : public PullTesting {
 protected:
  PlainFolder() {
    for (const auto& [name, file] : files) folder.write("plain/tiny/" + name, file.content);
    folder.write("plain/tiny/.git/config", "hidden");
  }
  std::string reference() const { return "file:" + (folder.path() / "plain/tiny").string(); }
};

TEST_F(PlainFolder, IsPulledUnderItsLastTwoNames) {
  const PulledModel model = pull_model(reference() + "/", options());
  EXPECT_EQ(model.id, "plain/tiny");
  EXPECT_EQ(text_of(model.folder / "model.safetensors"), large);
  EXPECT_FALSE(fs::exists(model.folder / ".git"));
  const PulledModel again = pull_model(reference(), options());
  EXPECT_EQ(again.commit, model.commit);
  EXPECT_EQ(again.fetched_bytes, 0U);
  folder.write("plain/tiny/config.json", "{}");
  EXPECT_NE(pull_model(reference(), options()).commit, model.commit);
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(PlainFolder, LinksOutOfItAndOtherFoldersAreRefused) {
  EXPECT_EQ(refused("file:" + (folder.path() / "plain").string()).code(), ErrorCode::not_found);
  EXPECT_EQ(refused(reference() + "@v2").code(), ErrorCode::not_found);
  folder.write("secret", "secret");
  fs::create_symlink("../../secret", folder.path() / "plain/tiny/vocab.txt");
  EXPECT_EQ(refused(reference()).code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace alate::hub
