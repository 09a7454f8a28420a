#include "formats/json.h"

#include <gtest/gtest.h>

#include <limits>

#include "alate/error.h"
#include "tests/unit/formats/refusals.h"

namespace alate::formats {
namespace {

std::string round_trip(std::string_view text) { return to_json_text(parse_json(text, "text")); }

std::string json_refusal(std::string_view text, const JsonLimits& limits = {}, ErrorCode code = ErrorCode::corrupt) {
  try {
    parse_json(text, "input", limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.message();
  }
  return "accepted";
}

TEST(Json, ReadsEveryKindOfValue) {
  EXPECT_EQ(round_trip(" null "), "null");
  EXPECT_EQ(round_trip("[true,false]"), "[true,false]");
  EXPECT_EQ(round_trip("[0,-1,9223372036854775807,-9223372036854775808,18446744073709551615]"),
            "[0,-1,9223372036854775807,-9223372036854775808,18446744073709551615]");
  EXPECT_EQ(round_trip("\"text\""), "\"text\"");
  EXPECT_EQ(round_trip("{ \"b\" : [ ] ,\n\"a\":{ },\t\"c\":[{\"d\":[1,[2]]},3]}"),
            R"({"b":[],"a":{},"c":[{"d":[1,[2]]},3]})");
}

TEST(Json, KeepsTheOrderOfMembers) {
  const Json json = parse_json(R"({"z":1,"a":2,"m":3})", "text");
  std::string keys;
  for (const auto& [key, value] : json.as_object("text")) keys += key;
  EXPECT_EQ(keys, "zam");
}

// 0.1 + 0.2, the smallest denormal and a number halfway between two doubles: the decimal estimate of the parser's own
// arithmetic is off by a bit on some of these.
TEST(Json, ReadsDoublesToTheLastBit) {
  EXPECT_EQ(parse_json("0.30000000000000004", "x").as_double("x"), 0.1 + 0.2);
  EXPECT_EQ(parse_json("5e-324", "x").as_double("x"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(parse_json("9007199254740993.0", "x").as_double("x"), 9007199254740992.0);
  EXPECT_EQ(parse_json("-8.098876953125", "x").as_double("x"), -8.098876953125);
  EXPECT_EQ(parse_json("1.7976931348623157e308", "x").as_double("x"), std::numeric_limits<double>::max());
  EXPECT_EQ(parse_json("123456789012345678901234567890", "x").as_double("x"), 123456789012345678901234567890.0);
  EXPECT_EQ(parse_json("1e-400", "x").as_double("x"), 0.0);
}

TEST(Json, RefusesNumbersBeyondDoubles) {
  EXPECT_TRUE(contains(json_refusal("1e400"), "too large"));
  EXPECT_TRUE(contains(json_refusal("[1e99999999999]"), "exponent"));
}

TEST(Json, DecodesEscapes) {
  EXPECT_EQ(parse_json(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u65e5\ud83d\ude00\u0000")", "x").as_string("x"),
            std::string("\"\\/\b\f\n\r\tA\u00e9\u65e5\U0001F600\0", 19));
  EXPECT_EQ(parse_json(R"({"\u0061":1})", "x").get_int("a", 0), 1);
}

TEST(Json, JoinsLongStringsWithEscapes) {
  const std::string plain(5000, 'x');
  const std::string text = "\"" + plain + "\\n" + plain + "\\u00e9" + plain + "\"";
  EXPECT_EQ(parse_json(text, "x").as_string("x"), plain + "\n" + plain + "\u00e9" + plain);
  EXPECT_EQ(parse_json("{" + text + ":0}", "x").as_object("x").front().first, plain + "\n" + plain + "\u00e9" + plain);
}

TEST(Json, ReplacesLoneSurrogates) {
  EXPECT_EQ(parse_json(R"("\ud800")", "x").as_string("x"), "\uFFFD");
  EXPECT_EQ(parse_json(R"("\udc00\ud800")", "x").as_string("x"), "\uFFFD\uFFFD");
  EXPECT_EQ(parse_json(R"("\ud800\ud83d\ude00")", "x").as_string("x"), "\uFFFD\U0001F600");
  EXPECT_EQ(parse_json(R"("\\ud800")", "x").as_string("x"), "\\ud800");
  EXPECT_TRUE(contains(json_refusal(R"(["\ud800",x])"), "byte 10"));
}

TEST(Json, RefusesTextsThatAreNoJson) {
  for (const char* text :
       {"",   " ",  "{",  "[1,", "[1,]", "{\"a\":1,}", "{\"a\"}",  "{a:1}",   "{'a':1}",     "nul", "NaN", "-",
        "01", "1.", ".5", "+1",  "1 2",  "// c\n1",    "\"a\nb\"", "\"\\x\"", "\"\\u12g4\"", "\"a", "[1}"}) {
    EXPECT_NE(json_refusal(text), "accepted") << text;
  }
}

TEST(Json, RefusesNulBytesAfterTheValue) { EXPECT_NE(json_refusal(std::string_view("1\0", 2)), "accepted"); }

TEST(Json, SaysWhereAndWhatIsWrong) {
  EXPECT_TRUE(contains(json_refusal("[1,2 3]"), "input: JSON, byte 5"));
  EXPECT_TRUE(contains(json_refusal("[1] [2]"), "byte 4: there is more text"));
  EXPECT_TRUE(contains(json_refusal("[1,"), "ends too early"));
}

TEST(Json, RefusesInvalidUtf8) {
  for (const char* bytes :
       {"\x80", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "\xE2\x82"}) {
    EXPECT_TRUE(contains(json_refusal("[\"ab" + std::string(bytes) + "\"]"), "byte 4: this is no UTF-8")) << bytes;
  }
}

TEST(Json, RefusesDuplicateKeys) {
  EXPECT_TRUE(contains(json_refusal(R"({"a":1,"b":2,"a":3})"), "the key \"a\" occurs twice"));
  EXPECT_TRUE(contains(json_refusal(R"([{"x":{"a":1,"\u0061":3}}])"), "the key \"a\" occurs twice"));
  EXPECT_EQ(json_refusal(R"([{"a":1},{"a":1,"b":{"a":1}}])"), "accepted");
}

TEST(Json, RefusesDuplicateKeysAmongMany) {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) text += "\"key" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  EXPECT_EQ(parse_json(text + "\"last\":0}", "x").as_object("x").size(), 5001U);
  EXPECT_TRUE(contains(json_refusal(text + "\"key1234\":0}"), "the key \"key1234\" occurs twice"));
}

// Keys whose hashes end in the same bits, as someone would choose them to make a hash table slow.
TEST(Json, FindsDuplicatesAmongKeysChosenToCollide) {
  std::string text = "{";
  std::string last;
  for (int i = 0, found = 0; found < 200; ++i) {
    last = "key" + std::to_string(i);
    if ((std::hash<std::string_view>()(last) & 511) != 0) continue;
    text += "\"" + last + "\":0,";
    ++found;
  }
  EXPECT_EQ(parse_json(text + "\"unlike\":0}", "x").as_object("x").size(), 201U);
  EXPECT_TRUE(contains(json_refusal(text + "\"" + last + "\":0}"), "the key \"" + last + "\" occurs twice"));
}

TEST(Json, BoundsDepth) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(json_refusal(nested(64)), "accepted");
  EXPECT_TRUE(contains(json_refusal(nested(65)), "nested too deeply"));
  EXPECT_TRUE(contains(json_refusal(nested(3), {.max_depth = 2}), "nested too deeply"));
  EXPECT_TRUE(contains(json_refusal(std::string(1000000, '[')), "nested too deeply"));
}

TEST(Json, BoundsBytesAndValues) {
  EXPECT_TRUE(contains(json_refusal("[1,2,3]", {.max_bytes = 6}, ErrorCode::resource_exhausted), "7 bytes"));
  EXPECT_EQ(json_refusal("[1,{\"a\":3}]", {.max_values = 4}), "accepted");
  EXPECT_TRUE(contains(json_refusal("[1,{\"a\":3}]", {.max_values = 3}, ErrorCode::resource_exhausted), "more values"));
}

TEST(Json, ConvertsNumbersWhenTheValueAllows) {
  EXPECT_EQ(parse_json("3.0", "x").as_int("x"), 3);
  EXPECT_EQ(parse_json("-1e3", "x").as_int("x"), -1000);
  EXPECT_EQ(parse_json("7", "x").as_double("x"), 7.0);
  EXPECT_FALSE(parse_json("3.0", "x").is_integer());
  EXPECT_TRUE(parse_json("18446744073709551615", "x").is_integer());
  for (const char* text : {"3.5", "1e300", "18446744073709551615", "9223372036854775808.0", "\"3\"", "null"}) {
    EXPECT_THROW(parse_json(text, "x").as_int("x"), Error) << text;
  }
}

TEST(Json, MembersHaveDefaultsAndTypedErrors) {
  const Json json = parse_json(R"({"n":2,"s":"t","b":true,"d":0.5,"none":null})", "x");
  EXPECT_EQ(json.get_int("n", 0), 2);
  EXPECT_EQ(json.get_int("none", 7), 7);
  EXPECT_EQ(json.get_string("s", ""), "t");
  EXPECT_EQ(json.get_string("absent", "other"), "other");
  EXPECT_TRUE(json.get_bool("b", false));
  EXPECT_EQ(json.get_double("d", 0), 0.5);
  EXPECT_EQ(json.find("absent"), nullptr);
  EXPECT_EQ(Json(1).find("absent"), nullptr);
  try {
    json.get_int("s", 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.message(), "s is string where an integer is expected");
  }
}

TEST(JsonText, EscapesWhatJsonDemandsAndNothingElse) {
  std::string out;
  append_json_string(out, std::string_view("\"\\/\b\f\n\r\t\x01\x1f\x7f\0\u00e9", 14));
  EXPECT_EQ(out, "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000\u00e9\"");
}

TEST(JsonText, PrintsTheShortestNumberThatReadsBack) {
  const auto text = [](auto value) {
    std::string out;
    append_json_number(out, value);
    return out;
  };
  EXPECT_EQ(text(0.1F), "0.1");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(1e-7), "1e-07");
  EXPECT_EQ(text(static_cast<double>(0.1F)), "0.10000000149011612");
  EXPECT_EQ(text(-0.0), "-0.0");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(text(std::numeric_limits<float>::quiet_NaN()), "null");
}

TEST(JsonText, ShortensLongNamesBetweenCharacters) {
  EXPECT_EQ(quoted_name("a\nb"), "\"a\\nb\"");
  // Two names that look alike must not be told as one; directions change what a line seems to say.
  EXPECT_EQ(quoted_name("a\u200bb \u202etxt\u2066 \x7f \U000e0041"),
            R"("a\u200bb \u202etxt\u2066 \u007f \udb40\udc41")");
  std::string name = std::string(119, 'a') + "\u00e9" + "tail";
  EXPECT_EQ(quoted_name(name), "\"" + std::string(119, 'a') + "\"...");
}

}  // namespace
}  // namespace alate::formats
