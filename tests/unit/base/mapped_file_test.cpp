#include "base/files/mapped_file.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::base {
namespace {

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class MappedFileModes : public testing::TestWithParam<MappedFile::Mode> {};
INSTANTIATE_TEST_SUITE_P(Modes, MappedFileModes, testing::Values(MappedFile::Mode::map, MappedFile::Mode::read));

TEST_P(MappedFileModes, HoldsTheBytesOfTheFile) {
  const TemporaryFolder folder;
  const std::string content(100'000, 'x');
  const auto path = folder.write("a.bin", content + "end");
  const auto file = MappedFile::open(path, GetParam());
  EXPECT_EQ(text_of(file->bytes()), content + "end");
  EXPECT_EQ(file->path(), path);
  EXPECT_GT(file->modified_ns(), 1'000'000'000LL * 3600 * 24 * 365 * 40);  // after 2010
}

TEST_P(MappedFileModes, AnEmptyFileHasNoBytes) {
  const TemporaryFolder folder;
  EXPECT_TRUE(MappedFile::open(folder.write("empty", ""), GetParam())->bytes().empty());
}

TEST_P(MappedFileModes, AMissingFileIsNotFound) {
  const TemporaryFolder folder;
  const Error error = error_of([&] { MappedFile::open(folder.path() / "absent", GetParam()); });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_NE(error.message().find("absent"), std::string::npos);
}

TEST_P(MappedFileModes, AFileBelowAFileIsNotFound) {
  const TemporaryFolder folder;
  const auto path = folder.write("file", "x") / "below";
  EXPECT_EQ(error_of([&] { MappedFile::open(path, GetParam()); }).code(), ErrorCode::not_found);
}

TEST_P(MappedFileModes, AFolderIsRefused) {
  const TemporaryFolder folder;
  const Error error = error_of([&] { MappedFile::open(folder.path(), GetParam()); });
  EXPECT_EQ(error.code(), ErrorCode::unavailable);
  EXPECT_NE(error.message().find("is a folder"), std::string::npos);
}

TEST_P(MappedFileModes, BytesAreTheSameAfterRelease) {
  const TemporaryFolder folder;
  std::string content(5 * 4096 + 100, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31);
  const auto file = MappedFile::open(folder.write("a.bin", content), GetParam());
  file->release(file->bytes());
  EXPECT_EQ(text_of(file->bytes()), content);
  file->release(file->bytes().subspan(1, 9000));
  file->release({});
  EXPECT_EQ(text_of(file->bytes()), content);
}

TEST(ReadTextFile, RefusesWhatIsLargerThanItsLimit) {
  const TemporaryFolder folder;
  const auto path = folder.write("a.txt", "12345");
  EXPECT_EQ(read_text_file(path, 5), "12345");
  EXPECT_EQ(error_of([&] { read_text_file(path, 4); }).code(), ErrorCode::resource_exhausted);
  EXPECT_EQ(error_of([&] { read_text_file(folder.path()); }).code(), ErrorCode::unavailable);
  EXPECT_EQ(error_of([&] { read_text_file(folder.path() / "absent"); }).code(), ErrorCode::not_found);
}

}  // namespace
}  // namespace alate::base
