// The in-memory index of the models on disk.
#include "server/models/model_index.h"

#include <future>
#include <vector>

#include "model_host_testing.h"
#include "server/models/backend_choices.h"
#include "server/models/host_limits.h"
#include "server/models/model_names.h"

namespace alate::server {
namespace {

using ModelIndexing = ModelHostTest;

TEST_F(ModelIndexing, FindsByNameAndByWhatIsUnique) {
  add("acme/mean");
  add("other/mean");
  add("other/lone");
  add("flat");
  const auto index = ModelIndex::read({.models_directory = settings.models_dir});
  EXPECT_EQ(index->find("acme/mean")->folder, settings.models_dir / "acme/mean");
  EXPECT_EQ(index->find("lone")->name, "other/lone");
  EXPECT_EQ(index->find("flat")->name, "flat");
  EXPECT_FALSE(index->find("nothing"));
  EXPECT_FALSE(index->find("acme"));
  EXPECT_EQ(base::error_of([&] { index->find("mean"); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(index->default_model(), nullptr);
}

// A flood of names that nobody knows: all who ask before the folders are read are answered by that one reading.
TEST_F(ModelIndexing, UnknownNamesReadTheFoldersAFewTimesHoweverManyThereAre) {
  add("acme/mean");
  const ModelNames names(settings);
  ASSERT_EQ(names.reads(), 1u);
  const auto asked = ModelNames::Clock::now();
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(base::error_of([&] { names.resolve("nobody/m" + std::to_string(i), asked); }).code(),
              ErrorCode::not_found);
  EXPECT_EQ(names.reads(), 2u);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(names.find_in_memory("nobody/m" + std::to_string(i)));
  EXPECT_EQ(names.reads(), 2u);
  // Those who will not wait are told what was true a moment ago, within what one walk a tenth of a second allows.
  const auto begin = ModelNames::Clock::now();
  for (int i = 0; i < 1000; ++i) base::error_of([&] { names.resolve_soon("nobody/m" + std::to_string(i)); });
  const auto tenths = static_cast<std::size_t>((ModelNames::Clock::now() - begin) / std::chrono::milliseconds(100));
  EXPECT_LE(names.reads(), 2u + 1 + tenths);
}

TEST_F(ModelIndexing, ResolvingSeesWhatCameBeforeItWasAsked) {
  add("acme/mean");
  const ModelNames names(settings);
  for (const char* name : {"b", "c/d", "e"}) {
    EXPECT_EQ(base::error_of([&] { names.resolve(name); }).code(), ErrorCode::not_found);
    add(name);
    EXPECT_EQ(names.resolve(name).name, name);
  }
}

TEST_F(ModelIndexing, WhatCanBeNoNameIsRefusedFromMemory) {
  const ModelNames names(settings);
  for (const char* name : {"../../etc/passwd", "/etc/passwd", "a/b/c", "builtin:../x", "a\nb"})
    EXPECT_EQ(base::error_of([&] { names.find_in_memory(name); }).code(), ErrorCode::not_found) << name;
  EXPECT_EQ(names.reads(), 1u);
}

TEST(BackendChoosing, TakesWhatTheServerIsSetUpFor) {
  Settings settings;
  const auto code_of = [&](std::string_view asked) {
    BackendChoices choices(settings);
    try {
      choices.resolve(asked, "m");
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;  // it may be had
  };
  EXPECT_EQ(code_of("cpu"), ErrorCode::internal);
  EXPECT_EQ(code_of("go:0"), ErrorCode::internal);
  EXPECT_EQ(code_of("reference"), ErrorCode::unsupported);
  EXPECT_EQ(code_of("no-such"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of("cuda"), ErrorCode::unsupported);
  EXPECT_EQ(code_of("cpu:7"), ErrorCode::unsupported);
  settings.backend_priority = {"reference:0"};
  EXPECT_EQ(code_of("cpu"), ErrorCode::unsupported);
  EXPECT_EQ(code_of("reference"), ErrorCode::internal);
  EXPECT_EQ(code_of("reference:1"), ErrorCode::unsupported);
  settings.backend_priority = {"reference", "auto"};
  EXPECT_EQ(code_of("cpu"), ErrorCode::internal);
  EXPECT_EQ(code_of("reference"), ErrorCode::internal);
}

TEST(BackendChoosing, HasOneTextForEachDevice) {
  Settings settings;
  settings.backend_priority = {"reference", "cpu"};
  BackendChoices choices(settings);
  EXPECT_EQ(choices.find_in_memory(""), "");
  EXPECT_FALSE(choices.find_in_memory("reference"));
  for (const char* spelling : {"reference", "reference:0", "reference:cpu"}) {
    EXPECT_EQ(choices.resolve(spelling, "m"), "reference:0") << spelling;
    EXPECT_EQ(choices.find_in_memory(spelling), "reference:0") << spelling;
  }
  EXPECT_EQ(choices.resolve("simplego", "m"), "cpu:0");
}

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

TEST(HostLimits, AreFiniteUnlessTheyAreSwitchedOff) {
  Settings settings;
  const HostLimits small =
      host_limits(settings, {.total_bytes = 2048 * kMegabyte, .available_bytes = 1000 * kMegabyte});
  EXPECT_EQ(small.models, 4u);
  EXPECT_EQ(small.bytes, 750 * kMegabyte);
  const HostLimits large =
      host_limits(settings, {.total_bytes = 65536 * kMegabyte, .available_bytes = 20480 * kMegabyte});
  EXPECT_EQ(large.models, 40u);
  EXPECT_EQ(large.bytes, 15360 * kMegabyte);
  const HostLimits unknown = host_limits(settings, {});
  EXPECT_GT(unknown.models, 0u);
  EXPECT_GT(unknown.bytes, 0u);
  settings.max_loaded_models = 0;
  settings.max_memory_mb = 0;
  const HostLimits off = host_limits(settings, {});
  EXPECT_EQ(off.models + off.bytes, 0u);
  settings.max_memory_mb = 5;
  EXPECT_EQ(host_limits(settings, {}).bytes, 5 * kMegabyte);
}

}  // namespace
}  // namespace alate::server
