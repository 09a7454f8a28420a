#include "base/split_text.h"

#include <gtest/gtest.h>

#include "base/nearest_name.h"
#include "tests/unit/base/expect_error.h"

namespace alate::base {
namespace {

using Parts = std::vector<std::string_view>;
using Entries = std::vector<std::string>;

TEST(SplitText, KeepsPartsThatAreEmpty) {
  EXPECT_EQ(split_text("a/b", '/'), (Parts{"a", "b"}));
  EXPECT_EQ(split_text("", '/'), (Parts{""}));
  EXPECT_EQ(split_text("/a//", '/'), (Parts{"", "a", "", ""}));
}

TEST(SplitList, StripsSpacesAndOmitsEmptyEntries) {
  EXPECT_EQ(split_list("cats, dogs"), (Entries{"cats", "dogs"}));
  EXPECT_EQ(split_list(" cats ,\tdogs and foxes\n"), (Entries{"cats", "dogs and foxes"}));
  EXPECT_EQ(split_list("cats,, ,dogs,"), (Entries{"cats", "dogs"}));
  EXPECT_TRUE(split_list("").empty());
  EXPECT_TRUE(split_list(" , ").empty());
}

TEST(SplitList, TakesEntriesWithCommasInQuotes) {
  EXPECT_EQ(split_list(R"("cats, dogs")"), (Entries{"cats, dogs"}));
  EXPECT_EQ(split_list(R"(birds, "cats, dogs" ,fish)"), (Entries{"birds", "cats, dogs", "fish"}));
  EXPECT_EQ(split_list(R"("a ""b""", " c ")"), (Entries{R"(a "b")", " c "}));
  EXPECT_EQ(split_list(R"(a 5" screen,x)"), (Entries{R"(a 5" screen)", "x"}));  // only at its beginning is it a quote
  EXPECT_EQ(split_list(R"("")"), (Entries{""}));
}

TEST(SplitList, RefusesQuotesThatAreNotClosed) {
  for (const char* text : {R"("cats, dogs)", R"(a,")", R"("a"")"})
    EXPECT_NE(error_of([&] { split_list(text); }).message().find("no closing one"), std::string_view::npos) << text;
  EXPECT_NE(error_of([] { split_list(R"("a" b)"); }).message().find("after its closing quote"), std::string_view::npos);
}

TEST(NearestName, IsAHintOnlyWhereOneIsNear) {
  const Parts known = {"reference", "onnx"};
  EXPECT_EQ(did_you_mean("refrence", known), "; did you mean reference?");
  EXPECT_EQ(did_you_mean("abacus", known), "");
}

}  // namespace
}  // namespace alate::base
