#include "formats/json_members.h"

#include <gtest/gtest.h>

#include <string>

#include "formats/json.h"

namespace alate::formats {
namespace {

using Texts = std::vector<std::string_view>;

TEST(JsonMemberTexts, KeepsTheSpellingOfNumbersAndStrings) {
  EXPECT_EQ(json_member_texts(R"({"id": 12345678901234567890123, "x":1.50e+2,"s":"a\u0041\"}", "n": null})"),
            (Texts{R"("id": 12345678901234567890123)", R"("x":1.50e+2)", R"("s":"a\u0041\"}")", R"("n": null)"}));
}

TEST(JsonMemberTexts, TakesNestedValuesWhole) {
  EXPECT_EQ(json_member_texts(" {\"a\" : [1, {\"b\": [\"]\", {}]} , []], \"c\":{\"d\":\"}\"}\t,\"e\":false } "),
            (Texts{R"("a" : [1, {"b": ["]", {}]} , []])", R"("c":{"d":"}"})", R"("e":false)"}));
}

TEST(JsonMemberTexts, OfAnEmptyObjectAreNone) {
  EXPECT_EQ(json_member_texts("{}"), Texts{});
  EXPECT_EQ(json_member_texts(" { } "), Texts{});
}

// Keys come from the parsed object, in the same order.
TEST(JsonMemberTexts, AreAsManyAsTheParserFinds) {
  for (const std::string text :
       {R"({"a\"b":"\\","":0,"\\":{"x":{}},"\u00e9":[[],[[]]]})", R"({"a":-1,"b":[true,null],"c":""})"}) {
    const Json parsed = parse_json(text, "text");
    const Texts members = json_member_texts(text);
    ASSERT_EQ(members.size(), parsed.as_object("text").size()) << text;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Json alone = parse_json("{" + std::string(members[i]) + "}", "member");
      EXPECT_EQ(alone.as_object("member")[0].first, parsed.as_object("text")[i].first);
      EXPECT_EQ(to_json_text(alone.as_object("member")[0].second), to_json_text(parsed.as_object("text")[i].second));
    }
  }
}

// Whatever it is given, it ends and stays inside.
TEST(JsonMemberTexts, CutTextsAreHarmless) {
  const std::string whole = R"({"id": [1, {"b": "\\\""}], "x": "y", "z": 3})";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const std::string text = whole.substr(0, length);
    for (const std::string_view member : json_member_texts(text)) {
      EXPECT_GE(member.data(), text.data());
      EXPECT_LE(member.data() + member.size(), text.data() + text.size());
    }
  }
}

}  // namespace
}  // namespace alate::formats
