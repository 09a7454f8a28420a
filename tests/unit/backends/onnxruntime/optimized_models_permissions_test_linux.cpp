// A model that only its owner may read stays private in the cache, and entries that others may have written are not
// run.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "backends/onnxruntime/optimized_models.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::onnxruntime {
namespace {

namespace fs = std::filesystem;

class OptimizedModelsPermissions : public testing::Test {
 protected:
  OptimizedModelsPermissions() : before_(::umask(0)), models_(folder_.path() / "onnx") {}
  ~OptimizedModelsPermissions() override { ::umask(before_); }

  static Fingerprint key() { return FingerprintBuilder().add(std::uint64_t{1}).finish(); }

  void keep() {
    OptimizedModels::Draft draft = models_.begin(key());
    std::ofstream(draft.model()) << "model";
    std::ofstream(draft.model().parent_path() / OptimizedModels::kWeights) << "weights";
    draft.finish();
  }

  base::TemporaryFolder folder_;
  mode_t before_;
  OptimizedModels models_;
};

TEST_F(OptimizedModelsPermissions, OnlyTheOwnerMayReadThem) {
  keep();
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "onnx")) {
    struct stat facts {};
    ASSERT_EQ(::stat(entry.path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, S_ISDIR(facts.st_mode) ? 0700U : 0600U) << entry.path();
  }
  EXPECT_TRUE(models_.find(key()));
}

TEST_F(OptimizedModelsPermissions, WhatOthersMayHaveWrittenIsNotUsed) {
  keep();
  const fs::path place = models_.find(key())->parent_path();
  for (const fs::path& path :
       {folder_.path() / "onnx", place, place / OptimizedModels::kWeights, place / "model.onnx"}) {
    const fs::perms right = fs::status(path).permissions();
    fs::permissions(path, fs::perms::group_write, fs::perm_options::add);
    EXPECT_FALSE(models_.find(key())) << path;
    fs::permissions(path, right);
    EXPECT_TRUE(models_.find(key())) << path;
  }
  fs::permissions(folder_.path() / "onnx", fs::perms::all);
  EXPECT_EQ(base::error_of([&] { models_.begin(key()); }).code(), ErrorCode::unavailable);
}

}  // namespace
}  // namespace alate::onnxruntime
