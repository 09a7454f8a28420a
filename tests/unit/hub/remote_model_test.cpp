#include "hub/download/remote_model.h"

#include <gtest/gtest.h>

#include <string>

#include "formats/json.h"
#include "tests/unit/base/expect_error.h"

namespace alate::hub {
namespace {

const std::string kCommit(40, 'a'), kSha256(64, 'b'), kSha1(40, 'c');

std::string listing(const std::string& siblings) {
  return "{\"id\": \"o/n\", \"sha\": \"" + kCommit + "\", \"siblings\": [" + siblings + "], \"private\": false}";
}

std::string named(const std::string& name) {
  std::string text = "{\"rfilename\": ";
  formats::append_json_string(text, name);
  return text + "}";
}

Error refused(const std::string& text) {
  return base::error_of([&] { parse_remote_model(text, "it"); });
}

TEST(RemoteModel, FilesWithSizesAndDigests) {
  const RemoteModel model = parse_remote_model(
      listing("{\"rfilename\": \"config.json\", \"size\": 7, \"blobId\": \"" + kSha1 + "\"}," +
              "{\"rfilename\": \"a/b.bin\", \"size\": 130, \"blobId\": \"" + kSha1 + "\", \"lfs\": {\"sha256\": \"" +
              kSha256 + "\", \"size\": 9, \"pointerSize\": 130}}, {\"rfilename\": \"plain\"}"),
      "it");
  EXPECT_EQ(model.commit, kCommit);
  ASSERT_EQ(model.files.size(), 3U);
  EXPECT_EQ(model.files[0].bytes, 7U);
  EXPECT_EQ(model.files[0].digest, kSha1);
  EXPECT_EQ(model.files[1].bytes, 9U);
  EXPECT_EQ(model.files[1].digest, kSha256);
  EXPECT_EQ(model.files[2].bytes, std::nullopt);
  EXPECT_EQ(model.files[2].digest, "");
}

TEST(RemoteModel, NamesThatLeadOutAreRefused) {
  for (const std::string name :
       {"../evil", "a/../../evil", "/etc/passwd", "a//b", "./a", "a/.", "", "a\\b", "..", "C:\\x", "a\nb", "a/"}) {
    const Error error = refused(listing(named(name)));
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << name;
    EXPECT_NE(error.message().find("leads out of the folder"), std::string::npos) << error.message();
  }
  EXPECT_EQ(refused(listing("{\"rfilename\": \"a\\u0000b\"}")).code(), ErrorCode::corrupt);
}

TEST(RemoteModel, BoundsOfLists) {
  std::string many;
  for (std::size_t i = 0; i <= kMostRemoteFiles; ++i) many += (i > 0 ? "," : "") + named(std::to_string(i));
  EXPECT_EQ(refused(listing(many)).code(), ErrorCode::resource_exhausted);
  EXPECT_EQ(refused(listing(std::string(std::size_t{33} << 20, ' '))).code(), ErrorCode::resource_exhausted);
  std::string values = "[1";
  for (int i = 0; i < 1'100'000; ++i) values += ",1";
  EXPECT_EQ(refused("{\"sha\": \"" + kCommit + "\", \"x\": " + values + "], \"siblings\": []}").code(),
            ErrorCode::resource_exhausted);
}

TEST(RemoteModel, NamesThatSomeSystemsCannotHave) {
  for (const std::string name : {"con", "NUL.json", "a/aux.txt", "COM1", "lpt9.bin", "conin$", "a:b", "a*", "a?", "a|b",
                                 "a<b", "\"", "a.", "a ", "a /b"}) {
    const Error error = base::error_of([&] { require_portable_names({{.name = name}}, "it"); });
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << name;
  }
  EXPECT_EQ(base::error_of([] { require_portable_names({{.name = std::string(1025, 'a')}}, "it"); }).code(),
            ErrorCode::corrupt);
  EXPECT_EQ(base::error_of([] { require_portable_names({{.name = "\xff"}}, "it"); }).code(), ErrorCode::corrupt);
  require_portable_names({{.name = "console.json"}, {.name = "com10"}, {.name = "a.b.c"}, {.name = "x/y z.txt"}}, "it");
}

TEST(RemoteModel, NamesInTwoSpellings) {
  const auto refused_pair = [](const std::string& a, const std::string& b) {
    return base::error_of([&] { require_portable_names({{.name = a}, {.name = b}}, "it"); }).code();
  };
  EXPECT_EQ(refused_pair("config.json", "Config.json"), ErrorCode::corrupt);
  EXPECT_EQ(refused_pair("a/B", "A/b"), ErrorCode::corrupt);
  EXPECT_EQ(refused_pair("caf\xc3\xa9", "cafe\xcc\x81"), ErrorCode::corrupt);  // é composed and decomposed
  EXPECT_EQ(refused_pair("stra\xc3\x9f"
                         "e",
                         "STRASSE"),
            ErrorCode::corrupt);
  EXPECT_EQ(refused_pair("a", "a"), ErrorCode::corrupt);
  EXPECT_EQ(refused_pair("a/b", "A"), ErrorCode::corrupt);  // a folder and a file
  require_portable_names({{.name = "a/b"}, {.name = "a/c"}, {.name = "ab"}}, "it");
}

}  // namespace
}  // namespace alate::hub
