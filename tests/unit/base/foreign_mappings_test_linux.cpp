#include "base/libraries/foreign_mappings.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/files/atomic_file.h"
#include "base/files/mapped_file.h"
#include "base/files/mapping_guard.h"
#include "base/libraries/foreign_opening.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::base {
namespace {

namespace fs = std::filesystem;

// As a library would do it.
class Mapping {
 public:
  explicit Mapping(const fs::path& path) : size_(fs::file_size(path)) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    bytes_ = static_cast<const volatile char*>(::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0));
    ::close(file);
  }
  ~Mapping() { ::munmap(const_cast<char*>(bytes_), size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  char last() const { return bytes_[size_ - 1]; }

 private:
  std::size_t size_;
  const volatile char* bytes_;
};

class ForeignMappingsTest : public testing::Test {
 protected:
  ForeignMappingsTest() { catch_bus_errors(); }

  static void expect_broken(const ForeignMappings& mappings, const fs::path& path) {
    const Error error = error_of([&] { mappings.require_unchanged(); });
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    EXPECT_NE(error.message().find(fs::canonical(path).string()), std::string::npos) << error.message();
  }

  TemporaryFolder folder_, elsewhere_;
};

TEST_F(ForeignMappingsTest, AFileThatIsCutOffIsAnErrorAndItsPagesAreZeros) {
  const fs::path path = folder_.write("below/a file", std::string(100000, 'x'));
  const Mapping mapping(path), other(elsewhere_.write("a", std::string(100, 'x')));
  const ForeignMappings mappings(folder_.path());
  EXPECT_EQ(mappings.size(), 1U);
  mappings.require_unchanged();
  fs::resize_file(path, 5);
  EXPECT_EQ(mapping.last(), '\0');
  expect_broken(mappings, path);
}

TEST_F(ForeignMappingsTest, AFileThatIsChangedInPlaceIsAnErrorAndOneThatIsReplacedIsNone) {
  const fs::path changed = folder_.write("changed", "old"), replaced = elsewhere_.write("replaced", "old");
  fs::last_write_time(changed, fs::last_write_time(changed) - std::chrono::seconds(2));
  const Mapping first(changed), second(replaced);
  const ForeignMappings mappings(folder_.path()), others(elsewhere_.path());
  std::ofstream(changed) << "new";
  expect_broken(mappings, changed);
  write_file_atomically(replaced, std::as_bytes(std::span(std::string_view("new"))));
  others.require_unchanged();
}

TEST_F(ForeignMappingsTest, PagesThatAreLostWhileALibraryOpensFilesAreZerosAndKnown) {
  const fs::path path = folder_.write("a", std::string(100000, 'x'));
  const Mapping mapping(path), whole(elsewhere_.write("b", std::string(100000, 'y')));
  const ForeignOpening opening;
  EXPECT_EQ(whole.last(), 'y');
  EXPECT_FALSE(opening.has_lost_pages());
  fs::resize_file(path, 5);
  EXPECT_EQ(mapping.last(), '\0');
  EXPECT_TRUE(opening.has_lost_pages());
  EXPECT_FALSE(ForeignOpening().has_lost_pages()) << "what is opened later is whole";
}

TEST(ForeignOpeningDeathTest, OtherwiseSuchAPageEndsTheProcess) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("a", std::string(100000, 'x'));
  EXPECT_DEATH(
      {
        catch_bus_errors();
        const Mapping mapping(path);
        { const ForeignOpening opening; }
        fs::resize_file(path, 5);
        std::_Exit(mapping.last());
      },
      "");  // by SIGBUS, or by a sanitizer's handler of it
}

TEST_F(ForeignMappingsTest, WhatIsGuardedAlreadyIsLeftOut) {
  const auto file = MappedFile::open(folder_.write("a", "x"));
  EXPECT_EQ(ForeignMappings(folder_.path()).size(), 0U);
  EXPECT_EQ(ForeignMappings(folder_.path() / "nothing").size(), 0U);
}

}  // namespace
}  // namespace alate::base
