#include "base/files/contained_files.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::base {
namespace {

namespace fs = std::filesystem;

TEST(PlainNames, StayInTheirFolder) {
  for (const char* name : {"model.safetensors", "1_Pooling", "a b", "ä", "..data", "-", "model.onnx_data"}) {
    EXPECT_TRUE(is_plain_file_name(name)) << name;
    EXPECT_TRUE(is_plain_relative_path(name)) << name;
  }
  EXPECT_TRUE(is_plain_relative_path("onnx/model.onnx"));
  EXPECT_TRUE(is_plain_relative_path("./model.onnx"));
  EXPECT_TRUE(is_plain_relative_path("a/./b/c"));
  EXPECT_FALSE(is_plain_file_name("onnx/model.onnx"));
  EXPECT_TRUE(is_plain_file_name(std::string(255, 'a')));
}

TEST(PlainNames, AreNoOtherWayOut) {
  const std::string with_zero("a\0b", 3);
  for (const std::string& name : {std::string(),
                                  std::string("."),
                                  std::string(".."),
                                  std::string("../a"),
                                  std::string("a/../b"),
                                  std::string("a/.."),
                                  std::string("/etc/passwd"),
                                  std::string("//host/share"),
                                  std::string("a//b"),
                                  std::string("a/"),
                                  std::string("..\\a"),
                                  std::string("a\\b"),
                                  std::string("C:a"),
                                  std::string("C:\\a"),
                                  std::string("file:stream"),
                                  std::string("a\nb"),
                                  std::string("\x7f"),
                                  with_zero,
                                  std::string(256, 'a'),
                                  std::string("*/_ORT_MEM_ADDR_/*"),
                                  std::string("./."),
                                  std::string("?"),
                                  std::string("a|b")}) {
    EXPECT_FALSE(is_plain_relative_path(name)) << name;
    EXPECT_FALSE(is_plain_file_name(name)) << name;
  }
  std::string deep = "a";
  while (deep.size() <= kMaxRelativePathBytes) deep += "/a";
  EXPECT_FALSE(is_plain_relative_path(deep));
}

TEST(ContainedFiles, LinksInsideTheFolderAreFollowed) {
  const TemporaryFolder folder;
  folder.write("model/weights/a.bin", "a");
  fs::create_symlink("weights/a.bin", folder.path() / "model/b.bin");
  fs::create_directory_symlink("model", folder.path() / "other_name");
  for (const char* name : {"model", "other_name"}) {
    const ContainedFiles files(folder.path() / name);
    EXPECT_NO_THROW(files.require_file(folder.path() / name / "b.bin"));
    EXPECT_NO_THROW(files.require_inside(folder.path() / name / "weights"));
    EXPECT_NO_THROW(files.require_file(folder.path() / name / "not_there"));
  }
}

TEST(ContainedFiles, LinksThatLeadOutAreRefused) {
  const TemporaryFolder folder;
  folder.write("model/config.json", "{}");
  folder.write("secret/key.txt", "a key");
  folder.write("model-2/a.txt", "of another model");
  const fs::path model = folder.path() / "model";
  fs::create_symlink(folder.path() / "secret/key.txt", model / "absolute");
  fs::create_symlink("../secret/key.txt", model / "relative");
  fs::create_symlink("../model-2/a.txt", model / "neighbour");
  fs::create_directory_symlink("../secret", model / "folder");
  fs::create_symlink("absolute", model / "twice");
  const ContainedFiles files(model);
  for (const char* name : {"absolute", "relative", "neighbour", "folder/key.txt", "twice"}) {
    const Error error = error_of([&] { files.require_file(model / name); });
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << name;
    EXPECT_NE(error.message().find((model / name).string()), std::string::npos) << error.message();
    EXPECT_EQ(error.message().find("secret"), std::string::npos) << "where the link leads is nobody's business";
  }
  EXPECT_EQ(error_of([&] { files.require_inside(model / "folder"); }).code(), ErrorCode::corrupt);
}

TEST(ContainedFiles, OnlyRegularFilesAreFiles) {
  const TemporaryFolder folder;
  folder.write("model/inner/a", "");
  const ContainedFiles files(folder.path() / "model");
  EXPECT_EQ(error_of([&] { files.require_file(folder.path() / "model/inner"); }).code(), ErrorCode::corrupt);
}

// hub/models--OWNER--NAME/snapshots/REVISION/FILE is a link to ../../blobs/DIGEST.
TEST(ContainedFiles, TheBlobsOfHuggingFacesCacheBelongToItsSnapshots) {
  const TemporaryFolder folder;
  const fs::path hub = folder.path() / "hub/models--a--b", revision = hub / "snapshots/0123";
  folder.write("hub/models--a--b/blobs/beef", "weights");
  folder.write("hub/models--a--b/refs/main", "0123");
  folder.write("hub/models--c--d/blobs/cafe", "of another model");
  fs::create_directories(revision / "onnx");
  fs::create_symlink("../../blobs/beef", revision / "model.safetensors");
  fs::create_symlink("../../../blobs/beef", revision / "onnx/model.onnx");
  fs::create_symlink("../../refs/main", revision / "ref");
  fs::create_symlink("../../../models--c--d/blobs/cafe", revision / "foreign");
  const ContainedFiles files(revision), inner(revision / "onnx");
  EXPECT_NO_THROW(files.require_file(revision / "model.safetensors"));
  EXPECT_NO_THROW(files.require_file(revision / "onnx/model.onnx"));
  EXPECT_NO_THROW(inner.require_file(revision / "onnx/model.onnx"));
  EXPECT_EQ(error_of([&] { files.require_file(revision / "ref"); }).code(), ErrorCode::corrupt);
  EXPECT_EQ(error_of([&] { files.require_file(revision / "foreign"); }).code(), ErrorCode::corrupt);
}

// A folder that arrives whole may bring "snapshots" and "blobs" of its own, and the second may be a link.
TEST(ContainedFiles, BlobsThatAreALinkAreNoBlobs) {
  const TemporaryFolder folder;
  folder.write("secret/key.txt", "a key");
  const fs::path revision = folder.path() / "hub/snapshots/0123";
  fs::create_directories(revision);
  fs::create_directory_symlink("../secret", folder.path() / "hub/blobs");
  fs::create_symlink("../../blobs/key.txt", revision / "tokenizer.json");
  EXPECT_EQ(error_of([&] { ContainedFiles(revision).require_file(revision / "tokenizer.json"); }).code(),
            ErrorCode::corrupt);
}

}  // namespace
}  // namespace alate::base
