#include "base/files/file_digests.h"

#include <gtest/gtest.h>

#include <string>

#include "base/files/mapped_file.h"
#include "base/sha256.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::base {
namespace {

namespace fs = std::filesystem;

std::string sum_of(std::string_view text) { return Sha256().add(std::as_bytes(std::span(text))).finish(); }

std::size_t entries_in(const fs::path& folder) {
  std::error_code ignored;
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder, ignored), fs::directory_iterator()));
}

TEST(FileDigests, AreThoseOfTheBytes) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("a", "some bytes");
  EXPECT_EQ(FileDigests({}).sha256(file), sum_of("some bytes"));
  EXPECT_EQ(FileDigests(folder.path() / "digests").sha256(file), sum_of("some bytes"));
  EXPECT_EQ(FileDigests({}).sha256(folder.write("empty", "")), sum_of(""));
  EXPECT_EQ(error_of([&] { (void)FileDigests({}).sha256(folder.path() / "none"); }).code(), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { (void)FileDigests({}).sha256(folder.path()); }).code(), ErrorCode::unavailable);
}

TEST(FileDigests, AreRememberedByTheFilesIdentity) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("a", "some bytes");
  const FileDigests digests(folder.path() / "cache/digests", std::chrono::nanoseconds(0));
  const FileIdentity identity = file_identity(file);
  EXPECT_EQ(digests.remembered(identity), std::nullopt);
  EXPECT_EQ(digests.sha256(file), sum_of("some bytes"));
  EXPECT_EQ(digests.remembered(identity), sum_of("some bytes"));
  // What is remembered is believed, by another object too.
  const fs::path place = fs::directory_iterator(folder.path() / "cache/digests")->path();
  folder.write(fs::relative(place, folder.path()).string(), sum_of("other bytes"));
  EXPECT_EQ(FileDigests(folder.path() / "cache/digests").sha256(file), sum_of("other bytes"));
  folder.write(fs::relative(place, folder.path()).string(), "no digest");
  EXPECT_EQ(digests.sha256(file), sum_of("some bytes"));
}

// As a swap of a model's file that hides itself: same name, size and time.
TEST(FileDigests, AFileOfTheSameNameSizeAndTimeIsAnother) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("a", "some bytes");
  const FileDigests digests(folder.path() / "digests", std::chrono::nanoseconds(0));
  const fs::file_time_type time = fs::last_write_time(file);
  EXPECT_EQ(digests.sha256(file), sum_of("some bytes"));
  const fs::path other = folder.write("b", "same sizes");
  fs::last_write_time(other, time);
  fs::rename(other, file);
  EXPECT_EQ(fs::last_write_time(file), time);
  EXPECT_EQ(digests.sha256(file), sum_of("same sizes"));
}

TEST(FileDigests, AFileThatWasJustChangedIsNotRemembered) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("a", "some bytes");
  const FileDigests digests(folder.path() / "digests", std::chrono::hours(1));
  EXPECT_EQ(digests.sha256(file), sum_of("some bytes"));
  EXPECT_EQ(entries_in(folder.path() / "digests"), 0U);
}

TEST(FileDigests, MappedBytesAreOnlyRememberedUnderTheFileThatTheyAreOf) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("a", "some bytes");
  const FileDigests digests(folder.path() / "digests", std::chrono::nanoseconds(0));
  const FileIdentity identity = file_identity(file);
  const auto mapped = MappedFile::open(file);
  fs::rename(folder.write("b", "same sizes"), file);
  EXPECT_EQ(digests.sha256(mapped->bytes(), file, identity), sum_of("some bytes"));
  EXPECT_EQ(entries_in(folder.path() / "digests"), 0U);
  EXPECT_EQ(digests.sha256(file), sum_of("same sizes"));
}

TEST(FileDigests, AFolderThatCannotBeWrittenOnlyCostsTime) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("a", "some bytes");
  folder.write("digests", "a file where the folder should be");
  EXPECT_EQ(FileDigests(folder.path() / "digests", std::chrono::nanoseconds(0)).sha256(file), sum_of("some bytes"));
}

}  // namespace
}  // namespace alate::base
