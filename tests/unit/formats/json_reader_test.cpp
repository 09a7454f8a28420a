#include "formats/json_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "alate/error.h"

namespace alate::formats {
namespace {

TEST(JsonReader, ReadsMembersAndElementsInOrder) {
  JsonReader reader(R"( {"a" : ["x", "y\n"], "b":{}, "":-1.5e3} )", "test");
  std::string_view key;
  reader.begin_object();
  ASSERT_TRUE(reader.next_member(key));
  EXPECT_EQ(key, "a");
  reader.begin_array();
  ASSERT_TRUE(reader.next_element());
  EXPECT_EQ(reader.read_string(), "x");
  ASSERT_TRUE(reader.next_element());
  EXPECT_EQ(reader.read_string(), "y\n");
  EXPECT_FALSE(reader.next_element());
  ASSERT_TRUE(reader.next_member(key));
  EXPECT_EQ(key, "b");
  reader.begin_object();
  EXPECT_FALSE(reader.next_member(key));
  ASSERT_TRUE(reader.next_member(key));
  EXPECT_EQ(key, "");
  EXPECT_EQ(reader.read_number(), "-1.5e3");
  EXPECT_FALSE(reader.next_member(key));
  reader.finish();
}

TEST(JsonReader, DecodesEscapesAndReplacesLoneSurrogates) {
  const auto read = [](std::string_view text) { return std::string(JsonReader(text, "test").read_string()); };
  EXPECT_EQ(read(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(read(R"("long enough to be plain \u00e9 and on")"), "long enough to be plain \u00E9 and on");
  EXPECT_EQ(read(R"("\ud83d\ude00")"), "\U0001F600");
  EXPECT_EQ(read(R"("\ud83dx")"), "\uFFFDx");
  EXPECT_EQ(read(R"("\ud83d\u0041")"), "\uFFFDA");
  EXPECT_EQ(read(R"("\ude00\ud83d\ude00")"), "\uFFFD\U0001F600");
}

TEST(JsonReader, SkippedValuesAreTheTextsThatTheParserAccepts) {
  const std::vector<std::string> accepted = {
      "null", "true", "-0", "0.5E-7", R"("a\u0000")", "[]", "[1,[2,{}],3]", R"({"a":[{"b":null}]})", "{ }"};
  for (const std::string& text : accepted) {
    const std::string padded = " " + text + " ";
    JsonReader reader(padded, "test");
    EXPECT_EQ(reader.skip_value(), text);
    reader.finish();
    EXPECT_NO_THROW(parse_json(text, "test"));
  }
  const std::vector<std::string> refused = {
      "",        "nul",   "01",  "1.",      ".5",       "+1",    "1e",  "[1,]",     "[,1]", "{\"a\":1,}",
      "{\"a\"}", "{1:2}", "\"a", "\"\\x\"", "\"\x01\"", "[1 2]", "[1}", "{\"a\":}", "1 2",  "\"\\u12g4\""};
  for (const std::string& text : refused) {
    const auto skip = [&] {
      JsonReader reader(text, "test");
      reader.skip_value();
      reader.finish();
    };
    EXPECT_THROW(skip(), Error) << text;
    EXPECT_THROW(parse_json(text, "test"), Error) << text;
  }
}

TEST(JsonReader, RefusesDeepNestingAndInvalidUtf8AndTooMuchText) {
  const std::string deep = std::string(65, '[') + std::string(65, ']');
  EXPECT_THROW(JsonReader(deep, "test").skip_value(), Error);
  const std::string allowed = std::string(64, '[') + std::string(64, ']');
  EXPECT_EQ(JsonReader(allowed, "test").skip_value(), allowed);
  EXPECT_THROW(JsonReader("\"\xFF\"", "test"), Error);
  EXPECT_THROW(JsonReader("[1,2]", "test", {.max_bytes = 4}), Error);
}

TEST(JsonReader, NamesTheInputAndThePlaceInErrors) {
  try {
    JsonReader reader("[1, x]", "file.json", {}, 100);
    reader.skip_value();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    EXPECT_NE(error.message().find("file.json: JSON, byte 104"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace alate::formats
