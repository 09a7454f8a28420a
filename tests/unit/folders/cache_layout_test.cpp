#include "folders/cache_layout.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/os/environment.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

const std::string kCommit(40, 'a'), kOther = std::string(39, 'b') + "1";

class CacheLayout : public testing::Test {
 protected:
  void link(const std::string& target, const std::string& place) const {
    fs::create_directories((folder.path() / place).parent_path());
    fs::create_symlink(target, folder.path() / place);
  }
  CachedRepo repo(const std::string& id = "owner/name") const { return {folder.path(), id}; }

  base::TemporaryFolder folder;
  const std::string inside = "models--owner--name/";
};

class CacheFolder : public testing::Test {
 protected:
  CacheFolder() {
    unset();
    ::setenv("HOME", "/home/me", 1);
  }
  ~CacheFolder() override {
    unset();
    ::setenv("HOME", home_.c_str(), 1);
  }

 private:
  static void unset() {
    for (const char* name : {"HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME"}) ::unsetenv(name);
  }
  std::string home_ = base::environment("HOME").value_or("");
};

TEST_F(CacheFolder, IsWhereHuggingfaceHubLooks) {
  EXPECT_EQ(huggingface_cache(), "/home/me/.cache/huggingface/hub");
  ::setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(huggingface_cache(), "/caches/huggingface/hub");
  ::setenv("HF_HOME", "~/hf", 1);
  EXPECT_EQ(huggingface_home(), "/home/me/hf");
  EXPECT_EQ(huggingface_cache(), "/home/me/hf/hub");
  ::setenv("HUGGINGFACE_HUB_CACHE", "/old", 1);
  EXPECT_EQ(huggingface_cache(), "/old");
  // As os.path.expandvars of Python.
  ::setenv("HF_HUB_CACHE", "$HOME/${XDG_CACHE_HOME}x/$not_set_a/${not_set_b}/$", 1);
  EXPECT_EQ(huggingface_cache(), "/home/me//cachesx/$not_set_a/${not_set_b}/$");
}

TEST(CacheNames, IdsAndFolders) {
  for (const char* id : {"gpt2", "owner/name", "a/b-c", "O.w_n-er/Name.v1.5_x", "_a/b_"}) {
    ASSERT_TRUE(is_repo_id(id)) << id;
    EXPECT_EQ(repo_id_of(repo_folder_name(id)), id);
  }
  EXPECT_EQ(repo_folder_name("sentence-transformers/all-MiniLM-L6-v2"),
            "models--sentence-transformers--all-MiniLM-L6-v2");
  for (const char* id : {"", "/", "a/", "/a", "a/b/c", "..", "a/..", "a--b", "a/b..c", "-a/b", "a/b-", ".a/b", "a/b.",
                         "a/b.git", "a b", "a/b:c", "a\\b", "caf\xc3\xa9/x", "a/b\n"})
    EXPECT_FALSE(is_repo_id(id)) << id;
  EXPECT_FALSE(is_repo_id(std::string(97, 'a')));
  for (const char* name : {"models--", "models--a--b--c", "datasets--a--b", "models--..--b", "models--a/b", "a--b"})
    EXPECT_FALSE(repo_id_of(name)) << name;
}

TEST(CacheNames, RevisionsCommitsAndBlobs) {
  for (const char* revision : {"main", "v1.0", "refs/pr/1", "feature/a_b-c+d", kCommit.c_str()})
    EXPECT_TRUE(is_revision(revision)) << revision;
  for (const char* revision : {"", "/main", "main/", "a//b", "..", "a/../b", ".hidden", "a/.b", "a.lock", "a b", "a\\b",
                               "a:b", "a\n", "a%2fb"})
    EXPECT_FALSE(is_revision(revision)) << revision;
  EXPECT_TRUE(is_commit_hash(kCommit));
  EXPECT_FALSE(is_commit_hash(std::string(40, 'A')));
  EXPECT_FALSE(is_commit_hash(std::string(39, 'a')));
  EXPECT_TRUE(is_blob_name(kCommit));
  for (const char* name : {"", ".", "..", ".x", "a/b", "W\\a", "a\"b"}) EXPECT_FALSE(is_blob_name(name)) << name;
}

TEST_F(CacheLayout, ListsModels) {
  for (const char* name : {"models--b", "models--a--z", "datasets--a--d", "models--x--y--z", ".locks", "blobs"})
    fs::create_directories(folder.path() / name);
  folder.write("models--file", "");
  EXPECT_EQ(cached_repos(folder.path()), (Names{"a/z", "b"}));
  EXPECT_TRUE(cached_repos(folder.path() / "nowhere").empty());
}

TEST_F(CacheLayout, FindsSnapshotsByBranchTagAndCommit) {
  folder.write(inside + "refs/main", kCommit);
  folder.write(inside + "refs/refs/pr/1", kCommit + "\n");
  folder.write(inside + "refs/lost", kOther);
  fs::create_directories(repo().snapshot(kCommit));
  EXPECT_EQ(repo().find_snapshot(), repo().snapshot(kCommit));
  EXPECT_EQ(repo().find_snapshot("refs/pr/1"), repo().snapshot(kCommit));
  EXPECT_EQ(repo().find_snapshot(kCommit), repo().snapshot(kCommit));
  EXPECT_EQ(repo().commit_of("lost"), kOther);
  for (const std::string& missing : {std::string("lost"), std::string("v1"), std::string("refs"), kOther})
    EXPECT_EQ(repo().find_snapshot(missing), std::nullopt) << missing;
  EXPECT_EQ(repo("nobody/nothing").find_snapshot(), std::nullopt);
  const auto revisions = repo().revisions();
  ASSERT_EQ(revisions.size(), 1U);
  EXPECT_EQ(revisions[0].commit, kCommit);
  EXPECT_EQ(revisions[0].refs, (Names{"main", "refs/pr/1"}));
}

TEST_F(CacheLayout, ListsTheFilesOfASnapshot) {
  const std::string snapshot = inside + "snapshots/" + kCommit + "/";
  folder.write(inside + "blobs/" + kOther, "0123");
  link("../../blobs/" + kOther, snapshot + "config.json");
  link("../../../blobs/" + kOther, snapshot + "onnx/model.onnx");
  folder.write(snapshot + "plain.txt", "abc");
  link("../../blobs/missing", snapshot + "zz");
  const auto files = repo().files(kCommit);
  ASSERT_EQ(files.size(), 4U);
  EXPECT_EQ(files[0].name, "config.json");
  EXPECT_EQ(files[0].blob, kOther);
  EXPECT_EQ(files[0].path, fs::canonical(repo().blob(kOther)));
  EXPECT_EQ(files[0].bytes, 4U);
  EXPECT_EQ(files[1].name, "onnx/model.onnx");
  EXPECT_EQ(files[1].blob, kOther);
  EXPECT_EQ(files[2].blob, "");
  EXPECT_EQ(files[2].bytes, 3U);
  EXPECT_EQ(files[2].problem, "");
  EXPECT_EQ(files[3].problem, "leads to a missing blob");
  EXPECT_EQ(files[3].blob, "missing");
  EXPECT_TRUE(repo().files(kOther).empty());
}

TEST_F(CacheLayout, LinksOutOfTheCacheAreProblems) {
  const std::string snapshot = inside + "snapshots/" + kCommit + "/";
  folder.write("secret", "a key");
  link("../../../secret", snapshot + "a");
  link("/dev/zero", snapshot + "b");
  link("/", snapshot + "c");
  for (const CachedFile& file : repo().files(kCommit)) {
    EXPECT_NE(file.problem, "") << file.name;
    EXPECT_TRUE(file.path.empty()) << file.name;
  }
  EXPECT_EQ(repo().files(kCommit).size(), 3U);
}

TEST_F(CacheLayout, FoldersThatAreLinksAreNotEntered) {
  fs::create_directories(folder.path() / "elsewhere" / kCommit);
  folder.write("elsewhere/main", kCommit);
  link("../elsewhere", inside + "snapshots");
  link("../elsewhere", inside + "refs");
  EXPECT_EQ(repo().find_snapshot(kCommit), std::nullopt);
  EXPECT_EQ(repo().commit_of("main"), std::nullopt);
  EXPECT_TRUE(repo().revisions().empty());
  EXPECT_TRUE(repo().files(kCommit).empty());
}

TEST_F(CacheLayout, BlobsThatRepositoriesShareAreInside) {
  const std::string hash(64, 'c'), snapshot = inside + "snapshots/" + kCommit + "/";
  folder.write("blobs/cc/" + hash, "shared");
  link("../../blobs/cc/" + hash, inside + "blobs/" + kOther);
  link("../../blobs/" + kOther, snapshot + "model.safetensors");
  EXPECT_EQ(repo().files(kCommit)[0].problem, "is a link that leads out of the cache");
  folder.write("blobs/.huggingface-shared-blobs", "1\n");
  const CachedFile file = repo().files(kCommit)[0];
  EXPECT_EQ(file.problem, "");
  EXPECT_EQ(file.blob, kOther);
  EXPECT_EQ(file.bytes, 6U);
}

TEST_F(CacheLayout, RefsThatNameNoCommitAreCorrupt) {
  folder.write(inside + "refs/main", "../../../secret");
  EXPECT_EQ(base::error_of([&] { repo().find_snapshot(); }).code(), ErrorCode::corrupt);
  link("../../secret", inside + "refs/v1");
  folder.write("secret", kCommit);
  EXPECT_EQ(base::error_of([&] { repo().find_snapshot("v1"); }).code(), ErrorCode::corrupt);
  EXPECT_EQ(base::error_of([&] { repo().find_snapshot("../main"); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(base::error_of([&] { repo("../x"); }).code(), ErrorCode::invalid_argument);
}

TEST_F(CacheLayout, Places) {
  EXPECT_EQ(repo().lock(kOther), folder.path() / ".locks/models--owner--name" / (kOther + ".lock"));
  EXPECT_EQ(repo().ref("refs/pr/1"), folder.path() / inside / "refs/refs/pr/1");
}

}  // namespace
}  // namespace alate::folders
