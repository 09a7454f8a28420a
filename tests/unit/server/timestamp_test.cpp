#include "server/api/timestamp.h"

#include <gtest/gtest.h>

namespace alate::server {
namespace {

using std::chrono::system_clock;

// date -u -d @1700000000 +%FT%TZ
TEST(Timestamp, IsUtcToTheMillisecond) {
  EXPECT_EQ(rfc3339(system_clock::time_point(std::chrono::seconds(1700000000))), "2023-11-14T22:13:20.000Z");
  EXPECT_EQ(rfc3339(system_clock::time_point(std::chrono::milliseconds(951782400007))), "2000-02-29T00:00:00.007Z");
}

TEST(Timestamp, ReachesBeforeTheEpoch) {
  EXPECT_EQ(rfc3339(system_clock::time_point(std::chrono::milliseconds(-1))), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace alate::server
