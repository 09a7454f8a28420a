#include "server/settings/configuration_file.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::server {
namespace {

using base::error_of;
using Kind = ConfigurationValue::Kind;

std::string refusal(const std::string& text) {
  const Error error = error_of([&] { parse_configuration(text, "alate.yaml"); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  return error.message();
}

void expect_refusal(const std::string& text, const std::string& place, const std::string& reason) {
  const std::string message = refusal(text);
  EXPECT_TRUE(message.starts_with("alate.yaml" + place)) << message;
  EXPECT_NE(message.find(reason), std::string::npos) << message;
}

TEST(ConfigurationFile, KeepsValuesAsTextWithTheirPlaces) {
  const ConfigurationFile file =
      parse_configuration("port: 0123\nbatch:\n  max_tokens: '7'\nlist: [a, \"b c\"]\nnone:\n", "x");
  ASSERT_EQ(file.root.kind, Kind::map);
  ASSERT_EQ(file.root.members.size(), 4u);
  EXPECT_EQ(file.root.members[0].key.text, "port");
  EXPECT_EQ(file.root.members[0].value.text, "0123");
  EXPECT_EQ(file.place(file.root.members[0].value), "x:1:7");
  const auto& batch = file.root.members[1].value;
  ASSERT_EQ(batch.members.size(), 1u);
  EXPECT_EQ(batch.members[0].value.text, "7");
  EXPECT_EQ(batch.members[0].value.line, 3u);
  ASSERT_EQ(file.root.members[2].value.items.size(), 2u);
  EXPECT_EQ(file.root.members[2].value.items[1].text, "b c");
  EXPECT_EQ(file.root.members[3].value.kind, Kind::none);
}

TEST(ConfigurationFile, MayBeEmpty) {
  for (const std::string text : {"", "\n", "# only a comment\n", "---\n", "~\n"})
    EXPECT_EQ(parse_configuration(text, "x").root.kind, Kind::none) << text;
}

TEST(ConfigurationFile, RefusesWhatIsNoYamlNamingThePlace) {
  expect_refusal("port: 1\nhost: [a, b\n", ":", "no YAML");
  expect_refusal("port: 1\n\thost: a\n", ":2:", "no YAML");
  expect_refusal("a: b: c\n", ":1:", "no YAML");
  expect_refusal("\"a\\q\": 1\n", ":1:", "no YAML");
}

TEST(ConfigurationFile, RefusesKeysThatAreThereTwice) {
  expect_refusal("port: 1\nhost: a\nport: 2\n", ":3:1", "\"port\" is there twice");
  expect_refusal("batch: {max_tokens: 1, max_tokens: 1}\n", ":1:", "\"max_tokens\" is there twice");
}

TEST(ConfigurationFile, RefusesAnchorsAliasesTagsAndFurtherDocuments) {
  expect_refusal("a: &x 1\n", ":1:", "anchors");
  expect_refusal("a: &x [1]\nb: *x\n", ":1:", "anchors");
  expect_refusal("a: *x\n", ":1:", "anchor");
  expect_refusal("a: !thing 1\n", ":1:", "tags");
  expect_refusal("a: 1\n---\nb: 2\n", "", "more than one document");
  EXPECT_EQ(parse_configuration("a: !!str 1\n", "x").root.members[0].value.text, "1");
}

TEST(ConfigurationFile, RefusesABombOfAliasesAtItsFirstAnchor) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + "," + before + "]\n";
  }
  expect_refusal(bomb, ":1:", "anchors");
}

TEST(ConfigurationFile, RefusesRootsAndKeysOfOtherKinds) {
  expect_refusal("[a, b]\n", ":1:1", "the file is a list");
  expect_refusal("just words\n", ":1:1", "the file is a value");
  expect_refusal("? [a]\n: 1\n", ":1:", "a key must be a word");
  expect_refusal("~: 1\n", ":1:1", "a key must be a word");
}

TEST(ConfigurationFile, RefusesWhatIsTooMuch) {
  expect_refusal(std::string((1 << 20) + 1, '#'), "", "1 MiB");
  expect_refusal(std::string(100, '['), ":1:", "");
  std::string many = "list: [";
  for (int i = 0; i < 10'000; ++i) many += "1,";
  expect_refusal(many + "1]\n", ":1:", "more than 10000 values");
}

TEST(ConfigurationFile, RefusesBytesThatAreNoText) {
  expect_refusal("a: 1\nb: \xFF\n", ":2", "UTF-8");
  expect_refusal(std::string("a: 1\nb: \0\n", 10), ":2", "control character");
  expect_refusal("a: \x1B[2J\n", ":1", "control character");
  for (const std::string escape : {"\\N", "\\_", "\\0", "\\e", "\\x7F", "\\u0001"})
    expect_refusal("a: 1\nb: \"" + escape + "\"\n", ":2:4", "control character");
}

TEST(ConfigurationFile, IsLenientWhenItIsATermiteYaml) {
  const base::TemporaryFolder folder;
  EXPECT_TRUE(read_configuration(folder.write("termite.yaml", "a: 1\n")).lenient);
  EXPECT_FALSE(read_configuration(folder.write("alate.yaml", "a: 1\n")).lenient);
}

TEST(ConfigurationFile, SaysWhenItCannotBeRead) {
  const base::TemporaryFolder folder;
  const auto missing = folder.path() / "nowhere.yaml";
  const Error error = error_of([&] { read_configuration(missing); });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_NE(error.message().find(missing.string()), std::string::npos);
  EXPECT_THROW(read_configuration(folder.path()), Error);
  const auto huge = folder.write("huge.yaml", std::string((1 << 20) + 1, '#'));
  EXPECT_EQ(error_of([&] { read_configuration(huge); }).code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace alate::server
