#include "base/files/file_presence.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/files/contained_files.h"
#include "base/files/mapped_file.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/base/without_privilege.h"

namespace alate::base {
namespace {

namespace fs = std::filesystem;

class FilePresence : public ::testing::Test {
 protected:
  FilePresence() {
    folder_.write("closed/file", "content");
    folder_.write("file", "content");
    fs::permissions(folder_.path() / "file", fs::perms::none);
    fs::permissions(folder_.path() / "closed", fs::perms::none);
  }
  ~FilePresence() override { fs::permissions(folder_.path() / "closed", fs::perms(0755)); }

  TemporaryFolder folder_;
};

void expect_refused(const Error& error, const std::string& named) {
  EXPECT_EQ(error.code(), ErrorCode::unavailable);
  EXPECT_TRUE(error.message().starts_with("may not read " + named + ": ")) << error.message();
}

TEST_F(FilePresence, WhatIsMissingIsNotThere) {
  EXPECT_FALSE(is_there(folder_.path() / "absent"));
  EXPECT_FALSE(is_there(folder_.path() / "file" / "below"));
  EXPECT_FALSE(is_there(folder_.path() / std::string(5000, 'x')));
  EXPECT_TRUE(is_there(folder_.path()));
  EXPECT_FALSE(is_file(folder_.path()));
  EXPECT_TRUE(is_file(folder_.path() / "file"));
}

TEST_F(FilePresence, AFolderThatMayNotBeSearchedIsNamedAndNothingInItIsCalledMissing) {
  const WithoutPrivilege user;
  if (!user.works()) GTEST_SKIP() << "this system keeps the privileges of root";
  const fs::path closed = folder_.path() / "closed";
  for (const fs::path& path : {closed / "file", closed / "absent", closed / "a/b/c"}) {
    expect_refused(error_of([&] { (void)is_there(path); }), "the folder " + closed.string());
    expect_refused(error_of([&] { (void)is_file(path); }), "the folder " + closed.string());
    expect_refused(error_of([&] { (void)read_text_file(path); }), "the folder " + closed.string());
    expect_refused(error_of([&] { (void)read_contained_file(closed, "file"); }), "the folder " + closed.string());
  }
  expect_refused(error_of([&] { require_listable(closed); }), "the folder " + closed.string());
  require_listable(folder_.path());
  require_listable(folder_.path() / "absent");
}

TEST_F(FilePresence, AFileThatMayNotBeReadIsNamed) {
  const WithoutPrivilege user;
  if (!user.works()) GTEST_SKIP() << "this system keeps the privileges of root";
  const fs::path file = folder_.path() / "file";
  EXPECT_TRUE(is_there(file));
  expect_refused(error_of([&] { (void)read_text_file(file); }), file.string());
  for (const MappedFile::Mode mode : {MappedFile::Mode::map, MappedFile::Mode::read}) {
    expect_refused(error_of([&] { (void)MappedFile::open(file, mode); }), file.string());
    const ContainedFiles contained(folder_.path());
    expect_refused(error_of([&] { (void)MappedFile::open(file, mode, &contained); }), file.string());
  }
}

}  // namespace
}  // namespace alate::base
