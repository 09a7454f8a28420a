// model_manifest.json of models that a hub's pull has fetched.
#include "hub/download/snapshot_manifest.h"

#include <algorithm>
#include <stop_token>

#include "folders/model_verification.h"
#include "tests/unit/hub/pull_testing.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

class SnapshotManifest : public PullTesting {
 protected:
  static constexpr const char* kName = "model_manifest.json";

  fs::path place() const { return repo().snapshot(kCommit) / kName; }
  std::string text() const { return text_of(place()); }
  std::size_t blobs() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(repo().blobs()), fs::directory_iterator()));
  }
};

TEST_F(SnapshotManifest, SaysWhatTheHubSays) {
  server.change_answers([](const HubRequest& request, HubAnswer& answer) {
    if (request.path.starts_with("/api/"))
      answer.body.insert(1, R"("pipeline_tag": "text-ranking", "cardData": {"license": "mit"}, )");
  });
  pull();
  const folders::Manifest manifest = folders::read_manifest(repo().snapshot(kCommit));
  EXPECT_EQ(manifest.name, "model");
  EXPECT_EQ(manifest.owner, "owner");
  EXPECT_EQ(manifest.type, "reranker");
  EXPECT_TRUE(manifest.backends.empty()) << "any may run it";
  EXPECT_EQ(manifest.json.get_string("license", ""), "mit");
  EXPECT_EQ(manifest.json.find_value("schemaVersion")->as_int("schemaVersion"), 1);
  const formats::Json& provenance = *manifest.json.find_value("provenance");
  EXPECT_EQ(provenance.get_string("downloadedFrom", ""), server.url());
  EXPECT_EQ(provenance.get_string("commit", ""), kCommit);
  EXPECT_TRUE(has_snapshot_manifest(repo().snapshot(kCommit)));
  expect_manifest(files);
}

TEST_F(SnapshotManifest, IsABlobLikeOtherFiles) {
  pull();
  EXPECT_EQ(fs::read_symlink(place()), "../../blobs/" + HubServer::sha256(text()));
  EXPECT_EQ(blobs(), files.size() + 1);
  for (const folders::VerifiedFile& file : folders::verify_model(repo().snapshot(kCommit)))
    EXPECT_EQ(file.verdict, folders::FileVerdict::good) << file.name << ": " << file.detail;
}

TEST_F(SnapshotManifest, IsWrittenAgainOnlyWhereItIsMissing) {
  pull();
  const std::string before = text();
  const auto written = fs::last_write_time(place());
  pull();
  EXPECT_EQ(fs::last_write_time(place()), written);
  fs::remove(place());
  pull();
  EXPECT_EQ(text(), before);
  EXPECT_EQ(blobs(), files.size() + 1);
}

TEST_F(SnapshotManifest, HasTheFilesOfAllPulls) {
  std::map<std::string, HubFile> more = files;
  more["onnx/model_int8.onnx"] = {std::string(5000, 'o'), true};
  server.put_model(kId, kCommit, more);
  pull();
  expect_manifest(files);
  pull("owner/model:int8");
  expect_manifest(more);
  EXPECT_EQ(blobs(), more.size() + 1) << "the earlier manifest's is gone";
  // A file that the model does not have is not vouched for.
  std::ofstream(repo().snapshot(kCommit) / "notes.txt") << "mine";
  pull();
  expect_manifest(more);
}

TEST_F(SnapshotManifest, OfTheModelItselfIsKept) {
  std::map<std::string, HubFile> own = files;
  own[kName] = {R"({"name": "mine", "backends": ["cpu"]})"};
  server.put_model(kId, kCommit, own);
  PullOptions all = options();
  all.all = true;
  pull_model(kId, all);
  EXPECT_EQ(text(), own[kName].content);
  EXPECT_FALSE(has_snapshot_manifest(repo().snapshot(kCommit)));
}

TEST_F(SnapshotManifest, OfTheUserIsKept) {
  for (const char* own : {R"({"backends": ["cpu"]})", R"({"provenance": {"commit": "another"}})", "no JSON"}) {
    fs::remove_all(cache);
    fs::create_directories(repo().snapshot(kCommit));
    std::ofstream(place()) << own;
    EXPECT_EQ(pull().files.size(), files.size());
    EXPECT_EQ(text(), own);
  }
}

TEST_F(SnapshotManifest, OfADifferentFileIsFoundWhenItIsLoadedOrVerified) {
  pull();
  fs::remove(repo().snapshot(kCommit) / "config.json");
  std::ofstream(repo().snapshot(kCommit) / "config.json") << "{\"model_type\": \"t5  \"}";
  const auto verified = folders::verify_model(repo().snapshot(kCommit));
  const auto config = std::ranges::find(verified, "config.json", &folders::VerifiedFile::name);
  ASSERT_NE(config, verified.end());
  EXPECT_EQ(config->verdict, folders::FileVerdict::flipped);
}

TEST_F(SnapshotManifest, OfMoreFilesThanOneMayHaveIsNotWritten) {
  const CacheWriter writer(repo(), kCommit);
  writer.make_folders(cache);
  const std::string blob = HubServer::git_digest("a");
  std::ofstream(repo().blob(blob)) << "a";
  RemoteModel model{.commit = kCommit, .files = {}};
  for (int i = 0; i < 4097; ++i) {
    const std::string name = "file" + std::to_string(i);
    writer.link(name, blob);
    model.files.push_back({.name = name, .bytes = 1, .digest = blob});
  }
  write_snapshot_manifest(writer, model, "https://hub", {});
  EXPECT_FALSE(fs::exists(place()));
  model.files.resize(4096);
  write_snapshot_manifest(writer, model, "https://hub", {});
  EXPECT_EQ(folders::read_manifest(repo().snapshot(kCommit)).files.size(), 4096U);
}

}  // namespace
}  // namespace alate::hub
