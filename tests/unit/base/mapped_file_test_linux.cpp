#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string_view>

#include "base/files/atomic_file.h"
#include "base/files/mapped_file.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::base {
namespace {

TEST(MappedFile, ANamedPipeIsRefusedWithoutWaiting) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  for (const MappedFile::Mode mode : {MappedFile::Mode::map, MappedFile::Mode::read})
    EXPECT_EQ(error_of([&] { MappedFile::open(path, mode); }).code(), ErrorCode::unavailable);
}

// Windows does not let a file be replaced that is mapped.
TEST(MappedFile, TheOpenFileOutlivesItsReplacement) {
  for (const MappedFile::Mode mode : {MappedFile::Mode::map, MappedFile::Mode::read}) {
    const TemporaryFolder folder;
    const auto path = folder.write("a.bin", "old");
    const auto file = MappedFile::open(path, mode);
    write_file_atomically(path, std::as_bytes(std::span(std::string_view("newer"))));
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()), "old");
    EXPECT_EQ(read_text_file(path), "newer");
  }
}

}  // namespace
}  // namespace alate::base
