#include "base/files/stand_ins.h"

#include <gtest/gtest.h>

#include <string>

#include "base/files/mapped_file.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::base {
namespace {

// The same error from everything that opens a file to be parsed.
void expect_refused(const std::string& content, ErrorCode code, const std::string& part) {
  const TemporaryFolder folder;
  const auto path = folder.write("model.safetensors", content);
  const std::vector<Error> errors = {error_of([&] { (void)MappedFile::open(path, MappedFile::Mode::map); }),
                                     error_of([&] { (void)MappedFile::open(path, MappedFile::Mode::read); }),
                                     error_of([&] { (void)read_text_file(path); }),
                                     error_of([&] { (void)read_text_file(path, 3); })};
  for (const Error& error : errors) {
    EXPECT_EQ(error.code(), code) << error.message();
    EXPECT_TRUE(error.message().starts_with(path.string() + " ")) << error.message();
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

TEST(StandIns, APointerOfGitLfsSaysToPull) {
  expect_refused(
      "version https://git-lfs.github.com/spec/v1\n"
      "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 90868376\n",
      ErrorCode::corrupt, "run `git lfs pull`");
}

TEST(StandIns, APageIsRefused) {
  for (const std::string start : {"<!doctype html>", "<!DOCTYPE HTML PUBLIC>", "\xEF\xBB\xBF\r\n <html lang=en>"})
    expect_refused(start + std::string(10'000, ' '), ErrorCode::corrupt, "is an HTML page");
}

TEST(StandIns, ARefusalOfTheHubIsRefused) {
  expect_refused("Entry not found", ErrorCode::corrupt, "the hub's refusal");
  expect_refused("Invalid username or password.", ErrorCode::corrupt, "the hub's refusal");
}

TEST(StandIns, GgufIsNamed) {
  expect_refused("GGUF" + std::string(1000, '\0'), ErrorCode::unsupported, "the format of llama.cpp");
}

TEST(StandIns, GgufPassesUnderItsOwnName) {
  const TemporaryFolder folder;
  EXPECT_EQ(MappedFile::open(folder.write("model.GGUF", "GGUF1234"))->bytes().size(), 8U);
}

TEST(StandIns, OtherContentPasses) {
  const TemporaryFolder folder;
  for (const std::string content : {"", "<", "<htm", "<?xml?>", "GGU", "gguf", "version https://git-lfs", "{}", "Entry",
                                    " \n\t ", "the <html> tag", "Entry not found here, said the vocabulary"}) {
    const auto path =
        folder.write("file", content.starts_with("Entry not") ? content + std::string(600, 'x') : content);
    EXPECT_EQ(MappedFile::open(path)->bytes().size(), std::filesystem::file_size(path)) << content;
    EXPECT_EQ(read_text_file(path).size(), std::filesystem::file_size(path)) << content;
  }
}

}  // namespace
}  // namespace alate::base
