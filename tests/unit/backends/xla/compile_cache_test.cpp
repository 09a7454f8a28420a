#include "backends/xla/compile_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "backends/xla/program_source.h"
#include "base/libraries/shared_library.h"
#include "tests/tools/fake_pjrt_plugin.h"

namespace alate::xla {
namespace {

namespace fs = std::filesystem;

const char* const kPath = ALATE_FAKE_PJRT_PLUGIN;

class XlaCompileCache : public ::testing::Test {
 protected:
  XlaCompileCache()
      : folder(fs::path(::testing::TempDir()) /
               ("xla_cache_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))),
        fake(*base::SharedLibrary::open(kPath).function<GetFakePlugin>("alate_fake_plugin")()) {
    fs::remove_all(folder);
    fake = FakePlugin();
    fake.can_serialize = true;
  }
  ~XlaCompileCache() override { fs::remove_all(folder); }

  std::vector<fs::path> programs() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".program") found.push_back(entry.path());
    }
    return found;
  }
  ProgramSource source(const Settings& settings = {}) const {
    return ProgramSource(Client::create(Plugin::open(kPath)), 0, settings, CompileCache(folder));
  }

  fs::path folder;
  FakePlugin& fake;
};

Fingerprint key(std::uint64_t number) { return FingerprintBuilder().add(number).finish(); }

TEST_F(XlaCompileCache, GivesBackWhatWasWritten) {
  const CompileCache cache(folder);
  EXPECT_FALSE(cache.read(key(1)).has_value());
  cache.write(key(1), std::string("a\0b", 3));
  cache.write(key(2), "");
  EXPECT_EQ(cache.read(key(1)), std::string("a\0b", 3));
  EXPECT_EQ(cache.read(key(2)), "");
  cache.remove(key(1));
  EXPECT_FALSE(cache.read(key(1)).has_value());
}

TEST_F(XlaCompileCache, DeletesDamagedEntries) {
  const CompileCache cache(folder);
  for (const char* damage : {"", "alate xla 1\n", "something else that is long enough for a header"}) {
    cache.write(key(1), "program");
    std::ofstream(programs().at(0), std::ios::binary) << damage;
    EXPECT_FALSE(cache.read(key(1)).has_value());
    EXPECT_TRUE(programs().empty());
  }
  cache.write(key(1), "program");
  fs::resize_file(programs().at(0), fs::file_size(programs().at(0)) - 1);
  EXPECT_FALSE(cache.read(key(1)).has_value());
}

TEST_F(XlaCompileCache, DropsWhatWasNotUsedForLongest) {
  const std::string program(1000, 'x');
  const CompileCache cache(folder, 3500);
  const auto now = fs::file_time_type::clock::now();
  for (std::uint64_t i = 0; i < 3; ++i) {
    cache.write(key(i), program);
    fs::last_write_time(folder / (to_string(key(i)) + ".program"), now - std::chrono::hours(10 - i));
  }
  EXPECT_TRUE(cache.read(key(0)).has_value());  // the oldest, but used now
  cache.write(key(3), program);
  EXPECT_TRUE(cache.read(key(0)).has_value());
  EXPECT_FALSE(cache.read(key(1)).has_value());
  EXPECT_TRUE(cache.read(key(2)).has_value());
  EXPECT_TRUE(cache.read(key(3)).has_value());
}

TEST_F(XlaCompileCache, IsOfNoMatterWhereItsFolderCannotBe) {
  std::ofstream(folder.string()) << "a file";
  const CompileCache cache(folder / "xla");
  cache.write(key(1), "program");
  EXPECT_FALSE(cache.read(key(1)).has_value());
}

// Programs are machine code: what another user may have written is compiled anew instead, and left where it is.
TEST_F(XlaCompileCache, RunsNothingThatOthersMayHaveWritten) {
  source().program("module");
  EXPECT_EQ(fake.compiled, 1);
  const fs::path program = programs().at(0);
  EXPECT_EQ(fs::status(program).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
  for (const fs::path& path : {program, folder}) {
    const fs::perms right = fs::status(path).permissions();
    fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
    fake.compiled = 0;
    source().program("module");
    EXPECT_EQ(fake.compiled, 1) << path;
    if (fs::exists(path)) fs::permissions(path, right);
    fake.compiled = 0;
    source().program("module");
    EXPECT_EQ(fake.compiled, 0) << path;
  }
}

TEST_F(XlaCompileCache, ManyWritersLeaveOneWholeEntry) {
  const CompileCache cache(folder);
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        cache.write(key(1), std::string(100000, static_cast<char>('a' + i)));
        const auto found = cache.read(key(1));
        EXPECT_TRUE(!found || *found == std::string(100000, found->front()));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(programs().size(), 1U);
}

TEST_F(XlaCompileCache, CompilesOnce) {
  source().program("module");
  source().program("module");
  EXPECT_EQ(fake.compiled, 1);
  source().program("another module");
  EXPECT_EQ(fake.compiled, 2);
  source({{"xla_setting", "1"}}).program("module");
  EXPECT_EQ(fake.compiled, 3);
}

TEST_F(XlaCompileCache, CompilesAgainWhatThePluginRefuses) {
  source().program("module");
  std::string name = programs().at(0).filename().string();
  const CompileCache cache(folder);
  fs::remove_all(folder / name);
  // Whole, but of another maker.
  for (std::uint64_t i = 0; i < 2; ++i) cache.write(key(i), "refused");
  fs::rename(folder / (to_string(key(0)) + ".program"), folder / name);
  source().program("module");
  EXPECT_EQ(fake.compiled, 2);
  source().program("module");
  EXPECT_EQ(fake.compiled, 2);
}

TEST_F(XlaCompileCache, IsNotWrittenWhereThePluginCannotSerialize) {
  fake.can_serialize = false;
  source().program("module");
  source().program("module");
  EXPECT_EQ(fake.compiled, 2);
  EXPECT_TRUE(programs().empty());
}

TEST_F(XlaCompileCache, ReadsALibraryOnce) {
  const CompileCache cache(folder);
  fs::create_directories(folder);
  const fs::path library = folder / "library";
  std::ofstream(library) << "one";
  const Fingerprint one = cache.fingerprint_of(library);
  const auto time = fs::last_write_time(library);
  std::ofstream(library) << "two";
  fs::last_write_time(library, time);
  EXPECT_EQ(cache.fingerprint_of(library), one);  // by size and time it is the same
  fs::last_write_time(library, time + std::chrono::seconds(1));
  EXPECT_NE(cache.fingerprint_of(library), one);
}

}  // namespace
}  // namespace alate::xla
