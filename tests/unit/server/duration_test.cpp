#include "server/settings/duration.h"

#include <gtest/gtest.h>

namespace alate::server {
namespace {

using namespace std::chrono_literals;

TEST(Duration, ANumberAloneIsSeconds) {
  EXPECT_EQ(parse_duration("0"), 0ns);
  EXPECT_EQ(parse_duration("300"), 300s);
  EXPECT_EQ(parse_duration("1.5"), 1500ms);
  EXPECT_EQ(parse_duration(".5"), 500ms);
  EXPECT_EQ(parse_duration("-1"), -1s);
  EXPECT_EQ(parse_duration("+2"), 2s);
}

TEST(Duration, KnowsEachUnit) {
  EXPECT_EQ(parse_duration("7ns"), 7ns);
  EXPECT_EQ(parse_duration("7us"), 7us);
  EXPECT_EQ(parse_duration("7µs"), 7us);
  EXPECT_EQ(parse_duration("7ms"), 7ms);
  EXPECT_EQ(parse_duration("7s"), 7s);
  EXPECT_EQ(parse_duration("7m"), 7min);
  EXPECT_EQ(parse_duration("7h"), 7h);
}

TEST(Duration, AddsSeveralParts) {
  EXPECT_EQ(parse_duration("1h30m"), 90min);
  EXPECT_EQ(parse_duration("1m0.5s"), 60500ms);
  EXPECT_EQ(parse_duration("-1h30m"), -90min);
}

TEST(Duration, FractionsAreExact) {
  EXPECT_EQ(parse_duration("0.1s"), 100ms);
  EXPECT_EQ(parse_duration("0.3"), 300ms);
  EXPECT_EQ(parse_duration("0.1h"), 6min);
  EXPECT_EQ(parse_duration("1.9ns"), 1ns);
  EXPECT_EQ(parse_duration("0.3333333333333333333333333333s"), 333333333ns);
}

TEST(Duration, RefusesWhatIsNoDuration) {
  for (const char* text : {"",      "-",   "+",  "s", "5x",   "5 m",  " 5",  "5 ",  "--5", "5m30",
                           "5s-3s", "1e3", "m5", ".", "5.s.", "1..5", "nan", "inf", "5M",  "0x10"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Duration, RefusesWhatDoesNotFit) {
  EXPECT_TRUE(parse_duration("2562047h"));
  EXPECT_FALSE(parse_duration("2562048h"));
  EXPECT_FALSE(parse_duration("99999999999999999999"));
  EXPECT_FALSE(parse_duration("9223372036s9223372036s"));
}

}  // namespace
}  // namespace alate::server
