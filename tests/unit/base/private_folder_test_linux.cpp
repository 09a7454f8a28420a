#include "base/files/private_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/files/mapped_file.h"
#include "base/libraries/library_folders.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::base {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

unsigned mode_of(const fs::path& path) {
  struct stat facts {};
  EXPECT_EQ(::stat(path.c_str(), &facts), 0) << path;
  return facts.st_mode & 07777;
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

class PrivateFolderTest : public testing::Test {
 protected:
  // A careless one: files and folders would be open to everybody.
  PrivateFolderTest() : before_(::umask(0)), own_(folder_.path() / "cache" / "own") {}
  ~PrivateFolderTest() override { ::umask(before_); }

  TemporaryFolder folder_;
  mode_t before_;
  PrivateFolder own_;
};

TEST_F(PrivateFolderTest, KeepsFilesFromOthersWhateverTheUmask) {
  own_.write("a", bytes_of("secret"));
  EXPECT_EQ(own_.read("a", 100), "secret");
  EXPECT_EQ(mode_of(own_.file("a")), 0600U);
  EXPECT_EQ(mode_of(own_.path()), 0700U);
  EXPECT_EQ(mode_of(own_.path().parent_path()), 0700U);
  EXPECT_EQ(own_.read("a", 5), std::nullopt) << "larger than it may be";
  EXPECT_EQ(own_.read("b", 100), std::nullopt);
}

TEST_F(PrivateFolderTest, TakesAnOlderFolderFromTheEyesOfOthers) {
  fs::create_directories(own_.path());
  ::chmod(own_.path().c_str(), 0755);
  own_.write("a", bytes_of("x"));
  EXPECT_EQ(mode_of(own_.path()), 0700U);
}

TEST_F(PrivateFolderTest, FoldersThatOthersMayWriteToAreRefusedWithTheReason) {
  own_.write("a", bytes_of("x"));
  for (const mode_t mode : {0770U, 0707U, 01777U}) {
    ::chmod(own_.path().c_str(), mode);
    EXPECT_EQ(own_.read("a", 100), std::nullopt);
    const Error error = error_of([&] { own_.write("b", bytes_of("x")); });
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
    EXPECT_NE(error.message().find(own_.path().string()), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("chmod go-w"), std::string::npos) << error.message();
  }
  EXPECT_NE(reason_to_distrust(own_.path()).find("mode 1777"), std::string::npos) << reason_to_distrust(own_.path());
  EXPECT_FALSE(fs::exists(own_.file("b")));
  ::chmod(own_.path().c_str(), 0700);
  EXPECT_EQ(own_.read("a", 100), "x");
}

TEST_F(PrivateFolderTest, FilesThatOthersMayWriteToAreNotRead) {
  own_.write("a", bytes_of("x"));
  ::chmod(own_.file("a").c_str(), 0622);
  EXPECT_EQ(own_.read("a", 100), std::nullopt);
}

TEST_F(PrivateFolderTest, FilesAndFoldersOfOtherUsersAreRefused) {
  own_.write("a", bytes_of("x"));
  ASSERT_EQ(reason_to_distrust(own_.path()), "");
  if (::chown(own_.file("a").c_str(), kNobody, static_cast<gid_t>(-1)) != 0)
    GTEST_SKIP() << "only root can give files away";
  EXPECT_EQ(own_.read("a", 100), std::nullopt);
  ASSERT_EQ(::chown(own_.path().c_str(), kNobody, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(error_of([&] { own_.write("b", bytes_of("x")); }).code(), ErrorCode::unavailable);
  const std::string reason = reason_to_distrust(own_.path());
  EXPECT_NE(reason.find("it belongs to user 65534, and this program runs as user 0"), std::string::npos) << reason;
  EXPECT_NE(reason.find("ALATE_HOME"), std::string::npos) << reason;
}

// What belongs to root was put there by somebody who may do anything anyway: /usr is root's.
TEST_F(PrivateFolderTest, WhatIsRootsIsTrusted) { EXPECT_EQ(reason_to_distrust("/usr"), ""); }

TEST_F(PrivateFolderTest, WhatIsNotThereIsNoReason) { EXPECT_TRUE(is_trusted(folder_.path() / "nothing")); }

TEST_F(PrivateFolderTest, AFileInThePlaceOfTheFolderIsAnError) {
  folder_.write("cache", "a file");
  EXPECT_EQ(error_of([&] { own_.write("a", bytes_of("x")); }).code(), ErrorCode::unavailable);
}

TEST_F(PrivateFolderTest, AWarningComesOnce) {
  own_.write("a", bytes_of("x"));
  ::chmod(own_.path().c_str(), 0777);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(is_trusted(own_.path()));
  const std::string first = testing::internal::GetCapturedStderr();
  EXPECT_NE(first.find("what the cache has is not used"), std::string::npos) << first;
  EXPECT_NE(first.find(own_.path().string()), std::string::npos) << first;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(is_trusted(own_.path()));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// Libraries are run: those of the cache's folders that others may write to are not even looked for.
TEST_F(PrivateFolderTest, LibrariesOfFoldersThatOthersMayWriteToAreNotFound) {
  const char* home = std::getenv("ALATE_HOME");
  const std::string before = home == nullptr ? "" : home;
  ::setenv("ALATE_HOME", folder_.path().c_str(), 1);
  const fs::path runtimes = folder_.path() / "runtimes", fine = runtimes / "fine-1", open = runtimes / "open-1";
  for (const fs::path& each : {fine, open}) create_owner_writable_folder(each, Readers::all);
  ::chmod(open.c_str(), 0777);
  const auto is_looked_in = [](const fs::path& wanted) {
    const auto folders = own_library_folders();
    return std::find(folders.begin(), folders.end(), wanted) != folders.end();
  };
  EXPECT_TRUE(is_looked_in(fine));
  EXPECT_FALSE(is_looked_in(open));
  ::chmod(runtimes.c_str(), 0775);
  EXPECT_FALSE(is_looked_in(fine));
  EXPECT_FALSE(is_looked_in(runtimes));
  if (home == nullptr) {
    ::unsetenv("ALATE_HOME");
  } else {
    ::setenv("ALATE_HOME", before.c_str(), 1);
  }
}

}  // namespace
}  // namespace alate::base
