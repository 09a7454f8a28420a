#include "generation/sampling/exponentials.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace alate::generation {
namespace {

TEST(Exponentials, AreWithinTwoUnitsInTheLastPlace) {
  for (int i = 0; i < 87'000; ++i) {
    const float x = -static_cast<float>(i) / 1000;
    const double exact = std::exp(static_cast<double>(x));
    ASSERT_NEAR(static_cast<double>(exp_of_nonpositive(x)), exact, exact * 2 * 0x1p-23) << x;
  }
}

TEST(Exponentials, HaveExactEnds) {
  EXPECT_EQ(exp_of_nonpositive(0), 1.0F);
  EXPECT_EQ(exp_of_nonpositive(-0.0F), 1.0F);
  EXPECT_EQ(exp_of_nonpositive(-88), 0.0F);
  EXPECT_EQ(exp_of_nonpositive(-std::numeric_limits<float>::max()), 0.0F);
  EXPECT_EQ(exp_of_nonpositive(-std::numeric_limits<float>::infinity()), 0.0F);
}

TEST(Exponentials, AddUpToTheirSum) {
  std::vector<float> logits, weights(1003);
  for (int i = 0; i < 1003; ++i) logits.push_back(static_cast<float>(i % 7));
  const double sum = exponentials(logits, 6, weights);
  double expected = 0;
  for (const float logit : logits) expected += std::exp(static_cast<double>(logit) - 6);
  EXPECT_NEAR(sum, expected, 1e-4);
}

}  // namespace
}  // namespace alate::generation
