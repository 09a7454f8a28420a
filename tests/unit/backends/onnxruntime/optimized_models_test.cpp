#include "backends/onnxruntime/optimized_models.h"

#include <gtest/gtest.h>

#include <fstream>

namespace alate::onnxruntime {
namespace {

namespace fs = std::filesystem;

Fingerprint key(std::uint64_t number) { return FingerprintBuilder().add(number).finish(); }

void keep(OptimizedModels& models, std::uint64_t number, std::size_t bytes) {
  OptimizedModels::Draft draft = models.begin(key(number));
  std::ofstream(draft.model()) << std::string(bytes, 'x');
  draft.finish();
}

class OptimizedModelsTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::path(::testing::TempDir()) / "optimized_models_test";
};

TEST_F(OptimizedModelsTest, WhatIsNotFinishedIsNotThere) {
  OptimizedModels models(folder_);
  {
    const OptimizedModels::Draft draft = models.begin(key(1));
    std::ofstream(draft.model()) << "half";
  }
  EXPECT_EQ(models.find(key(1)), std::nullopt);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(OptimizedModelsTest, TheFirstToFinishStays) {
  OptimizedModels models(folder_);
  OptimizedModels::Draft first = models.begin(key(1)), second = models.begin(key(1));
  std::ofstream(first.model()) << "first";
  std::ofstream(second.model()) << "second";
  first.finish();
  second.finish();
  const auto file = models.find(key(1));
  ASSERT_TRUE(file);
  EXPECT_EQ(fs::file_size(*file), 5U);
}

TEST_F(OptimizedModelsTest, AChangedByteIsNoticed) {
  OptimizedModels models(folder_);
  keep(models, 1, 100);
  const auto file = models.find(key(1));
  ASSERT_TRUE(file);
  std::fstream(*file, std::ios::in | std::ios::out).seekp(50) << 'y';
  EXPECT_EQ(models.find(key(1)), std::nullopt);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(OptimizedModelsTest, TheLeastRecentlyUsedGoFirst) {
  OptimizedModels models(folder_, 1000);
  keep(models, 1, 400);
  keep(models, 2, 400);
  const auto age = [&](std::uint64_t number, int hours) {
    fs::last_write_time(folder_ / to_string(key(number)) / "fingerprint",
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  age(1, 2);
  age(2, 1);
  ASSERT_TRUE(models.find(key(1)));  // used now
  keep(models, 3, 400);
  EXPECT_TRUE(models.find(key(1)));
  EXPECT_EQ(models.find(key(2)), std::nullopt);
  EXPECT_TRUE(models.find(key(3)));
}

}  // namespace
}  // namespace alate::onnxruntime
