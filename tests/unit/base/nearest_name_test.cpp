#include "base/nearest_name.h"

#include <gtest/gtest.h>

#include <array>

namespace alate::base {
namespace {

constexpr std::array<std::string_view, 4> kKnown = {"host", "port", "models_dir", "max_body_mb"};

TEST(NearestName, CountsASwapOfNeighboursAsOneEdit) {
  EXPECT_EQ(nearest_name("prot", kKnown), "port");
  EXPECT_EQ(nearest_name("hots", kKnown), "host");
  EXPECT_EQ(nearest_name("modles_dri", kKnown), "models_dir");
}

TEST(NearestName, IsAtMostAThirdOfItsLengthAway) {
  EXPECT_EQ(nearest_name("model_dir", kKnown), "models_dir");
  EXPECT_EQ(nearest_name("max_mb", kKnown), "");
  EXPECT_EQ(nearest_name("", kKnown), "");
  EXPECT_EQ(nearest_name("port" + std::string(64, 'x'), kKnown), "");
  EXPECT_EQ(did_you_mean("por", kKnown), "; did you mean port?");
  EXPECT_EQ(did_you_mean("elsewhere", kKnown), "");
}

TEST(ClosestName, IsThereHoweverFarAwayItIs) {
  EXPECT_EQ(closest_name("max_mb", kKnown), "max_body_mb");
  EXPECT_EQ(closest_name("postal", kKnown), "host");
  EXPECT_EQ(closest_name("a", {}), "");
}

}  // namespace
}  // namespace alate::base
