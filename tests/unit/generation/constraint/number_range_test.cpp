#include "generation/constraint/number_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "constrained_texts.h"
#include "formats/json.h"

namespace alate::generation {
namespace {

std::shared_ptr<const Grammar> between(const std::string& type, const std::string& bounds) {
  return compiled(Kind::json_schema, "{\"type\": \"" + type + "\", " + bounds + "}");
}

std::string text_of(double value) {
  std::string text;
  formats::append_json_number(text, value);
  return text;
}

TEST(NumberRange, WholeNumbersBetweenAllBoundsOfTwoDigits) {
  for (int least = -23; least <= 112; least += 9) {
    for (int most = least; most <= 131; most += 13) {
      const auto grammar =
          between("integer", "\"minimum\": " + std::to_string(least) + ", \"maximum\": " + std::to_string(most));
      for (int value = -130; value <= 1200; value += value > 140 ? 97 : 1) {
        EXPECT_EQ(fits(*grammar, std::to_string(value)), value >= least && value <= most)
            << value << " in " << least << " to " << most;
      }
      EXPECT_FALSE(fits(*grammar, "01"));
    }
  }
}

TEST(NumberRange, OneBoundIsEnough) {
  EXPECT_TRUE(fits(*between("integer", "\"minimum\": 18"), "999999999999999"));
  EXPECT_FALSE(fits(*between("integer", "\"minimum\": 18"), "17"));
  EXPECT_TRUE(fits(*between("integer", "\"maximum\": -5"), "-123456"));
  EXPECT_FALSE(fits(*between("integer", "\"exclusiveMaximum\": -5"), "-5"));
  EXPECT_TRUE(fits(*between("integer", "\"exclusiveMinimum\": 0.5"), "1"));
  EXPECT_TRUE(fits(*between("integer", "\"minimum\": -1e300"), "-999999999999999"));
}

TEST(NumberRange, FractionsBetweenBounds) {
  const std::vector<double> bounds = {-12.5, -1, -0.25, 0, 0.05, 0.3, 1, 1.25, 7, 99.9, 100};
  std::vector<std::string> texts = {"-0", "0.0", "-0.0", "1.000", "0.300", "1.2500", "-0.250", "99.900"};
  for (double value = -14; value < 15; value += 0.05) texts.push_back(text_of(std::round(value * 100) / 100));
  for (const double value : bounds) {
    for (const double step : {-0.001, 0.0, 0.001}) texts.push_back(text_of(value + step));
  }
  for (const double least : bounds) {
    for (const double most : bounds) {
      if (most < least) continue;
      for (const bool excludes : {false, true}) {
        if (excludes && least == most) continue;
        const std::string open = excludes ? "\"exclusive" : "\"";
        const auto grammar =
            between("number", open + (excludes ? "Minimum\": " : "minimum\": ") + text_of(least) + ", " + open +
                                  (excludes ? "Maximum\": " : "maximum\": ") + text_of(most));
        for (const std::string& text : texts) {
          const double value = std::strtod(text.c_str(), nullptr);
          if (text.find('e') != std::string::npos) continue;
          EXPECT_EQ(fits(*grammar, text), excludes ? value > least && value < most : value >= least && value <= most)
              << text << " in " << least << " to " << most << (excludes ? " without them" : "");
        }
      }
    }
  }
}

TEST(NumberRange, DigitsThatADoubleDoesNotHoldAreNotWrittenBesideAnExcludedBound) {
  const auto grammar = between("number", "\"exclusiveMinimum\": 5");
  EXPECT_TRUE(fits(*grammar, "5.00000000000001"));
  EXPECT_FALSE(fits(*grammar, "5.0000000000000001"));
}

TEST(NumberRange, RefusesBoundsThatCannotBeReached) {
  expect_refused([] { between("integer", "\"minimum\": 1e300"); }, "do not reach");
  expect_refused([] { between("number", "\"minimum\": 0.1234567890123456"); }, "round it");
  expect_refused([] { between("integer", "\"minimum\": 3, \"maximum\": 2"); }, "no text");
}

}  // namespace
}  // namespace alate::generation
