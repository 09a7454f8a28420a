// Expected texts are those of Python's str.format.
#include "pipelines/classify/hypothesis_template.h"

#include <gtest/gtest.h>

#include "alate/error.h"
#include "tests/unit/base/expect_error.h"

namespace alate::pipelines {
namespace {

std::string of_sport(std::string_view text) { return HypothesisTemplate(text).of("sport"); }

TEST(HypothesisTemplate, BracesAreThoseOfPythonsFormat) {
  EXPECT_EQ(of_sport("This example is {}."), "This example is sport.");
  EXPECT_EQ(of_sport("{0}"), "sport");
  EXPECT_EQ(of_sport("{{}} is {}."), "{} is sport.");
  EXPECT_EQ(of_sport("{{{}}}"), "{sport}");
  EXPECT_EQ(of_sport("{0}{{0}}"), "sport{0}");
  EXPECT_EQ(of_sport("{}}}"), "sport}");
  EXPECT_EQ(of_sport("}}{}{{"), "}sport{");
  EXPECT_EQ(of_sport("{{{{}}}}{}"), "{{}}sport");
  EXPECT_EQ(HypothesisTemplate("a {}").of("{}{{"), "a {}{{");  // a label is no template
}

TEST(HypothesisTemplate, RefusesWhatHasNotOnePlaceForTheLabel) {
  for (const std::string_view text : {"", "no place", "{{}}", "{} and {}", "{0} and {0}", "{", "}", "a } {}", "{} {",
                                      "{1}", "{ }", "{label}", "{!r}"}) {
    EXPECT_EQ(base::error_of([&] { of_sport(text); }).code(), ErrorCode::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace alate::pipelines
