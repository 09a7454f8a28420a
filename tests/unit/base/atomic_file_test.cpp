#include "base/files/atomic_file.h"

#include <gtest/gtest.h>

#include <string>

#include "base/files/mapped_file.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::base {
namespace {

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(AtomicFile, IsThereOnlyWhenItIsCommitted) {
  const TemporaryFolder folder;
  const auto path = folder.write("a.txt", "old");
  AtomicFile file(path);
  EXPECT_EQ(files_in(folder.path()), 2U);
  file.write(bytes_of("new"));
  file.write(bytes_of(" content"));
  EXPECT_EQ(read_text_file(path), "old");
  file.commit();
  EXPECT_EQ(read_text_file(path), "new content");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(AtomicFile, LeavesNothingWithoutACommit) {
  const TemporaryFolder folder;
  const auto path = folder.write("a.txt", "old");
  { AtomicFile(path).write(bytes_of("half")); }
  EXPECT_EQ(read_text_file(path), "old");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(AtomicFile, APlaceThatCannotBeWrittenIsRefusedBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  const Error missing = error_of([&] { AtomicFile(folder.path() / "absent" / "a"); });
  EXPECT_EQ(missing.code(), ErrorCode::not_found);
  EXPECT_NE(missing.message().find("there is no folder " + (folder.path() / "absent").string()), std::string::npos)
      << missing.message();
  const Error below_a_file = error_of([&] { AtomicFile(folder.write("file", "") / "a"); });
  EXPECT_EQ(below_a_file.code(), ErrorCode::not_found);
  const Error taken = error_of([&] { AtomicFile(folder.path()); });
  EXPECT_EQ(taken.code(), ErrorCode::invalid_argument);
  EXPECT_NE(taken.message().find("is a folder"), std::string::npos) << taken.message();
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(WriteFileAtomically, ReplacesAndLeavesNothingElseBehind) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.txt";
  write_file_atomically(path, bytes_of("first"));
  write_file_atomically(path, {});
  EXPECT_EQ(read_text_file(path), "");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

}  // namespace
}  // namespace alate::base
