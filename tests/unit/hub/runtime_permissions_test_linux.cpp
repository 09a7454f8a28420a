// Permissions of an installed runtime's files, which are code that is run.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/os/platform.h"
#include "base/sha256.h"
#include "formats/zip_writer.h"
#include "hub/install/runtime_install.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

class RuntimePermissions : public testing::Test {
 protected:
  // A careless one: files and folders would be open to everybody.
  RuntimePermissions() : before_(::umask(0)) {
    formats::ZipWriter writer;
    writer.add("tiny/libtiny.so", std::as_bytes(std::span(std::string_view("the library"))));
    const std::vector<std::byte> wheel = writer.finish();
    sum_ = base::Sha256().add(wheel).finish();
    package_.name = package_.project = "tiny";
    package_.version = "1";
    package_.platform = base::platform();
    package_.file = "tiny-1-py3-none-any.whl";
    package_.sha256 = sum_;
    package_.bytes = wheel.size();
    package_.library = "tiny/libtiny.so";
    options_.from =
        folder_.write("tiny-1-py3-none-any.whl", {reinterpret_cast<const char*>(wheel.data()), wheel.size()});
    options_.folder = folder_.path() / "cache" / "runtimes";
  }
  ~RuntimePermissions() override { ::umask(before_); }

  base::TemporaryFolder folder_;
  mode_t before_;
  std::string sum_;
  RuntimePackage package_;
  InstallOptions options_;
};

TEST_F(RuntimePermissions, NobodyElseMayChangeWhatIsInstalled) {
  const InstalledRuntime installed = install_package(package_, options_, {});
  for (const fs::path& path : {installed.library, installed.folder, options_.folder, options_.folder.parent_path()}) {
    struct stat facts {};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, S_ISDIR(facts.st_mode) ? 0755U : 0644U) << path;
  }
}

TEST_F(RuntimePermissions, NothingIsInstalledWhereOthersMayWrite) {
  fs::create_directories(options_.folder);
  const Error error = base::error_of([&] { install_package(package_, options_, {}); });
  EXPECT_EQ(error.code(), ErrorCode::unavailable);
  EXPECT_NE(error.message().find("mode 0777"), std::string::npos) << error.message();
}

TEST_F(RuntimePermissions, WhatOthersMayHaveChangedIsInstalledAnew) {
  const InstalledRuntime first = install_package(package_, options_, {});
  EXPECT_TRUE(install_package(package_, options_, {}).already_installed);
  ::chmod(first.folder.c_str(), 0777);
  EXPECT_FALSE(install_package(package_, options_, {}).already_installed);
  EXPECT_TRUE(install_package(package_, options_, {}).already_installed);
}

}  // namespace
}  // namespace alate::hub
