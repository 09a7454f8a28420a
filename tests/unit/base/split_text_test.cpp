#include "base/split_text.h"

#include <gtest/gtest.h>

#include "base/nearest_name.h"

namespace alate::base {
namespace {

using Parts = std::vector<std::string_view>;

TEST(SplitText, KeepsPartsThatAreEmpty) {
  EXPECT_EQ(split_text("a/b", '/'), (Parts{"a", "b"}));
  EXPECT_EQ(split_text("", '/'), (Parts{""}));
  EXPECT_EQ(split_text("/a//", '/'), (Parts{"", "a", "", ""}));
}

TEST(NearestName, IsAHintOnlyWhereOneIsNear) {
  const Parts known = {"reference", "onnx"};
  EXPECT_EQ(did_you_mean("refrence", known), "; did you mean reference?");
  EXPECT_EQ(did_you_mean("abacus", known), "");
}

}  // namespace
}  // namespace alate::base
