#include "hub/download/part_file.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "hub/download/retries.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/hub/hub_server.h"
#include "tests/unit/hub/pull_testing.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPiece = PartFile::kPieceBytes;

class PartFiles : public testing::Test {
 protected:
  PartFile open(const std::string& name = "etag") const {
    return {path, name, HubServer::sha256(content), content.size()};
  }
  void write(PartFile& part, const PartFile::Run& run, std::uint64_t end) const {
    part.write(run.begin, std::as_bytes(std::span(content)).subspan(run.begin, end - run.begin));
    part.complete(run, end);
  }
  void finish(PartFile& part) const {
    while (const auto run = part.take_run(kPiece)) write(part, *run, run->end);
    EXPECT_EQ(part.missing_bytes(), 0U);
    EXPECT_EQ(part.finish_digest(), HubServer::sha256(content));
    part.publish(folder.path() / "whole");
    EXPECT_TRUE(text_of(folder.path() / "whole") == content);
    EXPECT_FALSE(fs::exists(path));
  }

  base::TemporaryFolder folder;
  fs::path path = folder.path() / "part";
  const std::string content = random_bytes(3 * kPiece + 100);
};

TEST_F(PartFiles, RunsOfPieces) {
  PartFile part = open();
  EXPECT_EQ(part.missing_bytes(), content.size());
  const auto first = part.take_run(2 * kPiece + 1), second = part.take_run(100 * kPiece);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->begin, 0U);
  EXPECT_EQ(first->end, 2 * kPiece);
  EXPECT_EQ(second->begin, 2 * kPiece);
  EXPECT_EQ(second->end, content.size());
  EXPECT_FALSE(part.take_run(kPiece));
  write(part, *second, second->end);
  part.release_runs();
  EXPECT_EQ(part.missing_bytes(), 2 * kPiece);
  finish(part);
}

TEST_F(PartFiles, GoesOnInAnotherProcess) {
  {
    PartFile part = open();
    const auto run = part.take_run(2 * kPiece);
    write(part, *run, kPiece + 5);  // half of the second piece
  }
  EXPECT_EQ(missing_of_part(path, content.size()), content.size() - kPiece);
  PartFile part = open();
  EXPECT_EQ(part.missing_bytes(), content.size() - kPiece);
  finish(part);
}

TEST_F(PartFiles, PartsOfOtherFilesAndBrokenOnesBeginAnew) {
  const auto begin = [&] {
    fs::remove(path);
    PartFile part = open();
    const auto run = part.take_run(2 * kPiece);
    write(part, *run, run->end);
  };
  begin();
  EXPECT_EQ(open("other").missing_bytes(), content.size());
  begin();
  fs::resize_file(path, fs::file_size(path) - 1);
  EXPECT_EQ(open().missing_bytes(), content.size());
  begin();
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(static_cast<std::streamoff>(content.size()))
      << "other";
  EXPECT_EQ(open().missing_bytes(), content.size());
  EXPECT_EQ(missing_of_part(folder.path() / "nothing", 7), 7U);
}

TEST_F(PartFiles, AWholeFileWithoutItsRecordIsComplete) {
  std::ofstream(path, std::ios::binary) << content;
  PartFile part = open();
  finish(part);
}

TEST_F(PartFiles, DamageShowsInTheDigest) {
  {
    PartFile part = open();
    const auto run = part.take_run(2 * kPiece);
    write(part, *run, run->end);
  }
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(99) << "x";
  PartFile part = open();
  while (const auto run = part.take_run(kPiece)) write(part, *run, run->end);
  EXPECT_NE(part.finish_digest(), HubServer::sha256(content));
}

TEST_F(PartFiles, WhatCannotBeVerifiedIsNotContinued) {
  {
    PartFile part(path, "5f-abc", "", content.size());
    const auto run = part.take_run(kPiece);
    write(part, *run, run->end);
  }
  PartFile part(path, "5f-abc", "", content.size());
  EXPECT_EQ(part.missing_bytes(), content.size());
}

TEST_F(PartFiles, OneProcessHasIt) {
  const PartFile part = open();
  EXPECT_EQ(base::error_of([&] { open(); }).code(), ErrorCode::unavailable);
}

TEST_F(PartFiles, NoLinkIsWrittenThrough) {
  folder.write("other", "text");
  fs::create_symlink("other", path);
  EXPECT_EQ(base::error_of([&] { open(); }).code(), ErrorCode::unavailable);
  EXPECT_EQ(text_of(folder.path() / "other"), "text");
}

TEST(RetryAfter, SecondsAndDates) {
  using std::chrono::seconds;
  // RFC 9110's example of a date.
  const std::chrono::system_clock::time_point now = std::chrono::sys_seconds(seconds(784111777 - 5));
  EXPECT_EQ(parse_retry_after("120", now), seconds(120));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), seconds(5));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:00 GMT", now), seconds(0));
  EXPECT_GT(parse_retry_after("Sun, 06 Nov 3988 08:49:37 GMT", now), seconds(1) * 3600 * 24 * 365 * 1990LL);
  for (const char* text : {"", "soon", "Sun, 06 Nov 1994 99999999:49:37 GMT", "-1", "1.5", "Sun, 06 Nov 1994 08:49:37",
                           "Sun, 32 Nov 1994 08:49:37 GMT"})
    EXPECT_EQ(parse_retry_after(text, now), std::nullopt) << text;
}

}  // namespace
}  // namespace alate::hub
