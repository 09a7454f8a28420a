#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "base/files/contained_files.h"
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

TEST(ContainedFiles, OpensNoPipeThatNobodyWrites) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() / "config.json").c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { (void)read_contained_file(folder.path(), "config.json"); }).code(), ErrorCode::corrupt);
  const ContainedFiles files(folder.path());
  EXPECT_EQ(
      error_of([&] { (void)MappedFile::open(folder.path() / "config.json", MappedFile::Mode::map, &files); }).code(),
      ErrorCode::corrupt);
}

// A program that writes into the folder puts a link in the place of a file, between a look and an open.
TEST(ContainedFiles, AFileThatIsSwappedForALinkIsNotRead) {
  const TemporaryFolder folder;
  folder.write("secret/key.txt", "a key");
  const std::filesystem::path model = folder.path() / "model", name = model / "config.json", next = model / "next";
  folder.write("model/config.json", "{}");
  std::atomic<bool> stops{false};
  std::thread swapping([&] {
    while (!stops) {
      std::filesystem::create_symlink("../secret/key.txt", next);
      std::filesystem::rename(next, name);
      folder.write("model/next", "{}");
      std::filesystem::rename(next, name);
    }
  });
  int read = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    try {
      const ContainedFiles files(model);
      const bool maps = i % 2 == 0;
      const std::string text =
          maps ? std::string(reinterpret_cast<const char*>(
                                 MappedFile::open(name, MappedFile::Mode::read, &files)->bytes().data()),
                             2)
               : read_contained_file(model, "config.json");
      EXPECT_EQ(text, "{}");
      ++read;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt) << error.message();
      ++refused;
    }
  }
  stops = true;
  swapping.join();
  EXPECT_EQ(read + refused, 2000);
}

}  // namespace
}  // namespace alate::base
