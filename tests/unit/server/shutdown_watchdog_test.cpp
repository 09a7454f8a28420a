// The watchdog for a process that hangs at shutdown. Each test has a process of its own to end.
#include "server/http/shutdown_watchdog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace alate::server {
namespace {

using std::chrono::milliseconds;

class ShutdownWatchdogDeath : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }  // there are other threads
};

// Long enough to fail the test, not for ever.
void hang() { std::this_thread::sleep_for(std::chrono::minutes(2)); }

TEST_F(ShutdownWatchdogDeath, EndsWhatDoesNotStopInTime) {
  const auto run = [] {
    const ShutdownWatchdog watchdog(milliseconds(50));
    ::raise(SIGTERM);
    hang();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(1), "did not stop in time.*the time for it is up");
}

TEST_F(ShutdownWatchdogDeath, ASecondSignalDoesNotWaitForTheLimit) {
  const auto run = [] {
    const ShutdownWatchdog watchdog(std::chrono::hours(1));
    ::raise(SIGTERM);
    ::raise(SIGINT);
    hang();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(1), "a second signal");
}

std::atomic<int> passed_on = 0;

TEST(ShutdownWatchdog, PassesSignalsOnAndLeavesOthersHandlers) {
  passed_on = 0;
  const auto count = +[](int) { ++passed_on; };
  const auto before = std::signal(SIGTERM, count);
  {
    const ShutdownWatchdog watchdog(std::chrono::hours(1));
    ::raise(SIGTERM);
    EXPECT_EQ(passed_on, 1);
  }
  EXPECT_EQ(std::signal(SIGTERM, before), count);
}

}  // namespace
}  // namespace alate::server
