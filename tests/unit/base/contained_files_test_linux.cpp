#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/contained_files.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::base {
namespace {

TEST(ContainedFiles, PipesAndDevicesAreNoFiles) {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder.path() / "model.onnx_data";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder.path() / "device");
  const ContainedFiles files(folder.path());
  EXPECT_EQ(error_of([&] { files.require_file(pipe); }).code(), ErrorCode::corrupt);
  EXPECT_EQ(error_of([&] { files.require_file(folder.path() / "device"); }).code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace alate::base
