#include "base/threads/read_ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

namespace alate::base {
namespace {

TEST(ReadAhead, GivesItemsInOrderAndThenNothing) {
  int made = 0;
  ReadAhead<std::unique_ptr<int>> ahead([&](const std::stop_token&) -> std::optional<std::unique_ptr<int>> {
    if (made == 1000) return std::nullopt;
    return std::make_unique<int>(made++);
  });
  for (int i = 0; i < 1000; ++i) {
    const auto item = ahead.next();
    ASSERT_TRUE(item.has_value());
    EXPECT_EQ(**item, i);
  }
  EXPECT_FALSE(ahead.next().has_value());
  EXPECT_FALSE(ahead.next().has_value());
}

TEST(ReadAhead, AnErrorComesAfterTheItemsBeforeIt) {
  int made = 0;
  ReadAhead<int> ahead([&](const std::stop_token&) -> std::optional<int> {
    if (made == 2) throw std::runtime_error("the third");
    return made++;
  });
  EXPECT_EQ(ahead.next(), 0);
  EXPECT_EQ(ahead.next(), 1);
  EXPECT_THROW(ahead.next(), std::runtime_error);
  EXPECT_FALSE(ahead.next().has_value());
}

TEST(ReadAhead, MakesOneItemWhileTheCallerUsesTheOneBeforeAndNoMore) {
  std::atomic<int> made = 0;
  ReadAhead<int> ahead([&](const std::stop_token&) -> std::optional<int> { return made++; });
  EXPECT_EQ(ahead.next(), 0);
  while (made < 2) std::this_thread::yield();  // ends only if it is made without being asked for
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(made, 2);
}

TEST(ReadAhead, EndsWhileAnItemIsMadeOrWaits) {
  {
    ReadAhead<int> waiting([](const std::stop_token& stop) -> std::optional<int> {
      while (!stop.stop_requested()) std::this_thread::yield();
      return 1;
    });
  }
  std::atomic<bool> is_made = false;
  ReadAhead<int> full([&](const std::stop_token&) -> std::optional<int> {
    is_made = true;
    return 1;
  });
  while (!is_made) std::this_thread::yield();
}

TEST(ReadAhead, WaitingForAnItemEndsWhenItIsAskedTo) {
  std::stop_source stop;
  ReadAhead<int> never([](const std::stop_token& own) -> std::optional<int> {
    while (!own.stop_requested()) std::this_thread::yield();
    return std::nullopt;
  });
  std::jthread asker([&] { stop.request_stop(); });
  EXPECT_FALSE(never.next(stop.get_token()).has_value());
}

}  // namespace
}  // namespace alate::base
