#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/mapped_file.h"
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

}  // namespace
}  // namespace alate::base
