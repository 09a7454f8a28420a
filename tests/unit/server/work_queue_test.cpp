#include "server/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <vector>

namespace alate::server {
namespace {

TEST(WorkQueue, RunsWorkOfOneThreadInOrder) {
  std::vector<int> order;
  std::promise<void> end;
  WorkQueue queue(1);
  for (int i = 0; i < 100; ++i) queue.push([&order, i] { order.push_back(i); });
  queue.push([&] { end.set_value(); });
  end.get_future().wait();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(WorkQueue, RunsAsMuchAtATimeAsItHasThreads) {
  std::latch together(3);
  WorkQueue queue(3);
  std::promise<void> end;
  for (int i = 0; i < 2; ++i) queue.push([&] { together.arrive_and_wait(); });
  queue.push([&] {
    together.arrive_and_wait();
    end.set_value();
  });
  end.get_future().wait();
}

TEST(WorkQueue, HasAThreadWhenNoneIsAskedFor) {
  std::promise<void> end;
  WorkQueue queue(0);
  queue.push([&] { end.set_value(); });
  end.get_future().wait();
}

TEST(WorkQueue, EndsWhatRunsAndDropsTheRest) {
  std::promise<void> begun, go_on;
  std::atomic<bool> ended = false, ran = false;
  const auto kept = std::make_shared<int>(1);
  std::thread releaser;
  {
    WorkQueue queue(1);
    queue.push([&] {
      begun.set_value();
      go_on.get_future().wait();
      ended = true;
    });
    begun.get_future().wait();
    // Runs once the queue's end has dropped what waits.
    queue.push([&ran, kept] { ran = true; });
    releaser = std::thread([&] {
      while (kept.use_count() > 1) std::this_thread::yield();
      go_on.set_value();
    });
  }
  releaser.join();
  EXPECT_TRUE(ended);
  EXPECT_FALSE(ran);
}

TEST(WorkQueue, TakesWorkFromWork) {
  std::promise<void> end;
  WorkQueue queue(1);
  queue.push([&] { queue.push([&] { end.set_value(); }); });
  end.get_future().wait();
}

TEST(WorkQueue, TellsForHowLongItsThreadsHaveNotAnswered) {
  WorkQueue queue(2);
  EXPECT_EQ(queue.longest_wait().count(), 0);
  std::promise<void> go_on;
  const std::shared_future<void> end = go_on.get_future().share();
  queue.push([end] { end.wait(); });
  // One thread that hangs shows, though the other takes work.
  while (queue.longest_run() < std::chrono::milliseconds(5)) std::this_thread::yield();
  std::promise<void> taken;
  queue.push([&] { taken.set_value(); });
  taken.get_future().wait();
  EXPECT_EQ(queue.longest_wait().count(), 0);
  // Two that hang answer nobody.
  queue.push([end] { end.wait(); });
  queue.push([] {});
  while (queue.longest_wait() < std::chrono::milliseconds(5)) std::this_thread::yield();
  go_on.set_value();
  while (queue.longest_wait().count() + queue.longest_run().count() != 0) std::this_thread::yield();
}

TEST(WorkQueue, HoldsNothingOfWorkThatIsOver) {
  WorkQueue queue(1);
  const auto held = std::make_shared<int>(1);
  queue.push([held] {});
  while (held.use_count() > 1) std::this_thread::yield();
  SUCCEED();
}

}  // namespace
}  // namespace alate::server
