// Verifying and removing models, and cleaning huggingface_hub's cache.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/files/file_lock.h"
#include "base/files/mapped_file.h"
#include "folders/cache_cleaning.h"
#include "folders/model_removal.h"
#include "folders/model_verification.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/folders/hub_cache.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;
using tests::add_to_hub_cache;
using tests::CacheLinks;

const std::string kOne(40, '1'), kTwo(40, '2'), kThree(40, '3');
// `git hash-object` and `sha256sum` of "hello\n".
const std::string kGitHello = "ce013625030ba8dba906f756967f9e9ca394464a";
const std::string kShaHello = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";

class ModelStore : public ::testing::Test {
 protected:
  // A snapshot of three files, of which `own` is different in each.
  fs::path add(const std::string& commit, const std::string& ref, const std::string& own,
               CacheLinks links = CacheLinks::symlinks) const {
    const base::TemporaryFolder model;
    model.write("config.json", "{}");
    model.write("onnx/model.onnx", "the same graph");
    model.write("model.safetensors", own);
    return add_to_hub_cache(cache, "acme/tiny", commit, ref, model.path(), links);
  }
  std::string verdicts(const fs::path& model) const {
    std::string text;
    for (const VerifiedFile& file : verify_model(model))
      text += file.name + ": " + std::string(to_string(file.verdict)) + "\n";
    return text;
  }
  // Names of all entries below the cache, without the locks.
  std::set<std::string> entries() const {
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(cache)) {
      const std::string name = entry.path().lexically_relative(cache).generic_string();
      if (!name.starts_with(".locks")) names.insert(name);
    }
    return names;
  }
  static void make_old(const fs::path& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(24 * 40));
  }
  void make_all_old() const {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(cache)) {
      if (!entry.is_symlink()) make_old(entry.path());
    }
  }

  base::TemporaryFolder folder;
  fs::path cache = folder.path() / "hub";
  CachedRepo repo{cache, "acme/tiny"};
};

TEST_F(ModelStore, AManifestsFilesAreGoodFlippedMissingOrOfAWrongSize) {
  folder.write("m/a.txt", "hello\n");
  folder.write("m/b.txt", "hellO\n");
  folder.write("m/c.txt", "hello");
  folder.write("m/d/e.txt", "hello\n");
  folder.write("m/other", "x");
  std::string files;
  for (const char* name : {"a.txt", "b.txt", "c.txt", "d/e.txt", "gone.txt"})
    files += std::string(files.empty() ? "" : ", ") + R"({"name": ")" + name + R"(", "size": 6, "digest": "sha256:)" +
             kShaHello + "\"}";
  folder.write("m/model_manifest.json",
               "{\"files\": [" + files + R"(], "variants": {"v": {"files": [{"name": "other", "size": 2},
                                                                {"name": "not fetched"}]}}})");
  std::uint64_t done = 0, total = 0;
  const auto report = [&](const VerifyProgress& at) {
    EXPECT_GE(at.done, done);
    done = at.done;
    total = at.total;
  };
  const std::vector<VerifiedFile> verified = verify_model(folder.path() / "m", report);
  EXPECT_EQ(verdicts(folder.path() / "m"),
            "a.txt: good\nb.txt: flipped\nc.txt: wrong size\nd/e.txt: good\ngone.txt: missing\nother: wrong size\n");
  EXPECT_NE(verified[1].detail.find("must be " + kShaHello), std::string::npos);
  EXPECT_LE(done, total);
  folder.write("m/model_manifest.json", R"({"files": [{"name": "../a"}]})");
  EXPECT_EQ(base::error_of([&] { (void)verify_model(folder.path() / "m"); }).code(), ErrorCode::corrupt);
}

TEST_F(ModelStore, TheBlobsOfACacheAreNamedByTheirDigests) {
  const fs::path snapshot = add(kOne, "main", "hello\n");
  folder.write("hub/models--acme--tiny/blobs/" + kGitHello, "hello\n");
  fs::create_symlink("../../blobs/" + kGitHello, snapshot / "small.txt");
  EXPECT_EQ(verdicts(snapshot), "config.json: good\nmodel.safetensors: good\nonnx/model.onnx: good\nsmall.txt: good\n");
  // Any flipped bit of any blob is found.
  for (const fs::directory_entry& entry : fs::directory_iterator(repo.blobs())) {
    const std::string before = base::read_text_file(entry.path());
    for (std::size_t bit = 0; bit < 8 * before.size(); bit += 5) {
      std::string flipped = before;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      folder.write("hub/models--acme--tiny/blobs/" + entry.path().filename().string(), flipped);
      const std::string found = verdicts(snapshot);
      EXPECT_NE(found.find("flipped"), std::string::npos) << entry.path() << bit;
      EXPECT_EQ(found.find("flipped"), found.rfind("flipped")) << entry.path() << bit;
    }
    folder.write("hub/models--acme--tiny/blobs/" + entry.path().filename().string(), before);
  }
  fs::remove(repo.blob(kGitHello));
  EXPECT_NE(verdicts(snapshot).find("small.txt: unreadable"), std::string::npos);
  const fs::path plain = add(kTwo, "", "hello\n", CacheLinks::none);
  EXPECT_EQ(verdicts(plain), "config.json: no digest\nmodel.safetensors: no digest\nonnx/model.onnx: no digest\n");
}

TEST_F(ModelStore, HostileEntriesAreUnreadableAndNeverOpened) {
  folder.write("secret", "hello\n");
  folder.write("m/config.json", "{}");
  const fs::path model = folder.path() / "m";
  ASSERT_EQ(::mkfifo((model / "pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", model / "device");
  fs::create_symlink("../secret", model / "out");
  fs::create_symlink("loop", model / "loop");
  fs::create_directory_symlink("..", model / "up");
  std::string files;
  for (const char* name : {"pipe", "device", "out", "loop"})
    files += std::string(files.empty() ? "" : ", ") + R"({"name": ")" + name + R"(", "digest": ")" + kShaHello + "\"}";
  folder.write("m/model_manifest.json", "{\"files\": [" + files + "]}");
  EXPECT_EQ(verdicts(model),
            "config.json: no digest\ndevice: unreadable\nloop: unreadable\nout: unreadable\npipe: unreadable\n"
            "up: unreadable\n");
}

TEST_F(ModelStore, ARevisionGoesWithWhatNoOtherOneHas) {
  add(kOne, "main", "one");
  const std::set<std::string> before = entries();
  add(kTwo, "v2", "two");
  const Removal removal = plan_removal(repo, {kTwo});
  EXPECT_EQ(removal.bytes, 3u + 40u);  // the blob and the ref
  carry_out(removal);
  EXPECT_EQ(entries(), before);
  EXPECT_EQ(verdicts(repo.snapshot(kOne)), "config.json: good\nmodel.safetensors: good\nonnx/model.onnx: good\n");
  carry_out(plan_removal(repo, {kOne}));
  EXPECT_TRUE(entries().empty());
  EXPECT_TRUE(fs::exists(cache));
}

TEST_F(ModelStore, AModelThatIsBeingFetchedIsNotTouched) {
  add(kOne, "main", "one");
  const std::set<std::string> before = entries();
  const Removal removal = plan_removal(repo, {kOne});
  const std::string blob = fs::directory_iterator(repo.blobs())->path().filename().string();
  fs::create_directories(repo.lock(blob).parent_path());
  {
    const base::FileLock held(repo.lock(blob));
    EXPECT_EQ(base::error_of([&] { carry_out(removal); }).code(), ErrorCode::unavailable);
    EXPECT_EQ(entries(), before);
  }
  carry_out(removal);
  EXPECT_TRUE(entries().empty());
}

TEST_F(ModelStore, RemovingFollowsNoLinks) {
  folder.write("elsewhere/m/config.json", "{}");
  folder.write("models/acme/real/config.json", "{}");
  const fs::path models = folder.path() / "models", kept = folder.path() / "elsewhere/m/config.json";
  fs::create_directory_symlink(folder.path() / "elsewhere/m", models / "acme/linked");
  fs::create_directory_symlink(folder.path() / "elsewhere", models / "far");
  fs::create_directory_symlink(folder.path() / "elsewhere/m", models / "acme/real/inner");
  carry_out(plan_removal(models / "acme/linked", models));
  EXPECT_FALSE(fs::exists(fs::symlink_status(models / "acme/linked")));
  carry_out(plan_removal(models / "acme/real", models));
  EXPECT_FALSE(fs::exists(models / "acme/real"));
  EXPECT_TRUE(fs::exists(kept));
  for (const fs::path& path : {models / "far/m", folder.path() / "elsewhere/m", models / "acme/..", models / "."})
    EXPECT_EQ(base::error_of([&] { (void)plan_removal(path, models); }).code(), ErrorCode::invalid_argument) << path;

  // A repository's folder that is a link, and one whose blobs are.
  fs::create_directories(cache);
  fs::create_directory_symlink(folder.path() / "elsewhere", repo.folder());
  EXPECT_EQ(base::error_of([&] { (void)plan_removal(repo, {kOne}); }).code(), ErrorCode::invalid_argument);
  fs::remove(repo.folder());
  add(kOne, "main", "one");
  add(kTwo, "v2", "two");
  const fs::path moved = folder.path() / "moved";
  fs::rename(repo.blobs(), moved);
  fs::create_directory_symlink(moved, repo.blobs());
  carry_out(plan_removal(repo, {kTwo}));
  carry_out(plan_removal(repo, {kOne}));
  EXPECT_FALSE(fs::exists(repo.folder()));
  EXPECT_EQ(std::distance(fs::directory_iterator(moved), fs::directory_iterator()), 4);
}

TEST_F(ModelStore, CleaningTakesWhatIsOldAndUnused) {
  add(kOne, "main", "one");
  add(kTwo, "", "two");
  const std::string orphan(64, 'a'), part = std::string(64, 'b'), fresh = std::string(64, 'c');
  folder.write("hub/models--acme--tiny/blobs/" + orphan, "orphan");
  folder.write("hub/models--acme--tiny/blobs/" + part + ".alate.incomplete", "part");
  make_all_old();
  folder.write("hub/models--acme--tiny/blobs/" + fresh, "just written, not linked yet");
  folder.write("hub/datasets--acme--d/blobs/" + orphan, "of a data set");
  std::multiset<std::string> found;
  for (const Cleaning& each : plan_cleaning(cache, {})) {
    found.insert(std::string(to_string(each.reason)) + " " + std::to_string(each.removal.bytes));
    EXPECT_EQ(each.model, "acme/tiny");
  }
  EXPECT_EQ(found, (std::multiset<std::string>{"blob of no revision 3", "blob of no revision 6",
                                               "incomplete download 4", "revision without a name 0"}));
  EXPECT_TRUE(plan_cleaning(cache, {.older_than = std::chrono::hours(24 * 60)}).empty());

  fs::create_directories(repo.lock(part).parent_path());
  {
    const base::FileLock downloading(repo.lock(part));
    EXPECT_EQ(plan_cleaning(cache, {}).size(), 3u);
  }
  for (const Cleaning& each : plan_cleaning(cache, {})) carry_out(each.removal);
  EXPECT_TRUE(plan_cleaning(cache, {}).empty());
  EXPECT_EQ(verdicts(repo.snapshot(kOne)), "config.json: good\nmodel.safetensors: good\nonnx/model.onnx: good\n");
  EXPECT_TRUE(fs::exists(repo.blob(fresh)));
  EXPECT_TRUE(fs::exists(cache / "datasets--acme--d/blobs" / orphan));

  // A model's only revision stays, whether it has a name or not.
  fs::remove(repo.ref("main"));
  make_old(repo.snapshot(kOne));
  EXPECT_TRUE(plan_cleaning(cache, {}).empty());
}

TEST_F(ModelStore, ASizeIsReachedFromTheOldestOn) {
  add(kOne, "main", std::string(1000, '1'));
  add(kTwo, "v2", std::string(1000, '2'));
  make_all_old();
  add(kThree, "v3", std::string(1000, '3'));
  const base::TemporaryFolder other;
  other.write("model.safetensors", std::string(500, 'o'));
  add_to_hub_cache(cache, "acme/other", kOne, "main", other.path());
  EXPECT_TRUE(plan_cleaning(cache, {.max_bytes = 10'000}).empty());
  const std::vector<Cleaning> some = plan_cleaning(cache, {.max_bytes = 2'700});
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some[0].reason, CleaningReason::size);
  EXPECT_EQ(some[0].removal.bytes, 1040u);
  std::uint64_t left = bytes_on_disk(cache);
  for (const Cleaning& each : plan_cleaning(cache, {.max_bytes = 0})) {
    left -= each.removal.bytes;
    carry_out(each.removal);
  }
  EXPECT_EQ(left, 0u);
  EXPECT_TRUE(entries().empty());
}

}  // namespace
}  // namespace alate::folders
