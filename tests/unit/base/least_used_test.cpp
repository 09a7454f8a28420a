#include "base/files/least_used.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/base/temporary_folder.h"

namespace alate::base {
namespace {

class LeastUsed : public testing::Test {
 protected:
  CacheEntry add(const std::string& name, int age) {
    folder_.write(name, "1234");
    const std::filesystem::path path = folder_.path() / std::filesystem::path(name).begin()->string();
    return {path, std::filesystem::file_time_type() - std::chrono::hours(age), 4};
  }
  bool has(const std::string& name) const { return std::filesystem::exists(folder_.path() / name); }

  TemporaryFolder folder_;
};

TEST_F(LeastUsed, FilesAndFoldersGoUntilTheOthersFit) {
  const std::vector<CacheEntry> entries = {add("new", 1), add("oldest/file", 3), add("old", 2)};
  delete_least_used(entries, 12);
  EXPECT_TRUE(has("new") && has("oldest") && has("old"));
  delete_least_used(entries, 11);
  EXPECT_TRUE(has("new") && has("old"));
  EXPECT_FALSE(has("oldest"));
  delete_least_used({entries[0], entries[2]}, 4);
  EXPECT_TRUE(has("new"));
  EXPECT_FALSE(has("old"));
}

TEST_F(LeastUsed, NothingIsLeftWhereNothingFits) {
  delete_least_used({add("a", 1), add("b", 2)}, 3);
  EXPECT_FALSE(has("a") || has("b"));
}

}  // namespace
}  // namespace alate::base
