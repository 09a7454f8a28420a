#include "server/exchange/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace alate::server {
namespace {

const ClientId kGreedy = client_of_address("127.0.0.1"), kOther = client_of_address("127.0.0.2"),
               kThird = client_of_address("127.0.0.3");

std::shared_ptr<Exchange> exchange_of(const ClientId& client, Clock::time_point deadline = Clock::time_point::max()) {
  auto exchange = std::make_shared<Exchange>(Request{}, "id", deadline, [](const Response&) {});
  exchange->client_id = client;
  return exchange;
}

// Work of the server's own that holds one thread until it is let go.
class Held {
 public:
  explicit Held(WorkQueue& queue) {
    queue.push([this, end = end_.get_future().share()] {
      begun_.set_value();
      end.wait();
    });
    begun_.get_future().wait();
  }
  void let_go() { end_.set_value(); }

 private:
  std::promise<void> begun_, end_;
};

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

TEST(WorkQueue, WorkOfNoRequestHasATurnAndIsTimed) {
  std::promise<void> begun, end, ran;
  WorkQueue queue(2);
  queue.push(kGreedy, [&] {
    begun.set_value();
    end.get_future().wait();
  });
  begun.get_future().wait();
  queue.push(kGreedy, [] {});
  queue.push(kOther, [&] { ran.set_value(); });
  ran.get_future().wait();
  EXPECT_EQ(queue.counts().waiting, 1U);  // one client never has all threads
  while (queue.longest_run() == std::chrono::nanoseconds(0)) std::this_thread::yield();
  end.set_value();
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
    queue.push(exchange_of(kOther), [&ran, kept] { ran = true; });
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

TEST(WorkQueue, GivesClientsTurns) {
  std::vector<std::string> order;
  std::vector<std::shared_ptr<Exchange>> exchanges;
  std::promise<void> end;
  WorkQueue queue(1);
  Held held(queue);
  const auto push = [&](const std::string& name, const ClientId& client) {
    exchanges.push_back(exchange_of(client));
    queue.push(exchanges.back(), [&order, name] { order.push_back(name); });
  };
  for (const char* name : {"g1", "g2", "g3", "g4"}) push(name, kGreedy);
  for (const char* name : {"o1", "o2"}) push(name, kOther);
  push("t1", kThird);
  exchanges.push_back(exchange_of(kGreedy));
  queue.push(exchanges.back(), [&] { end.set_value(); });
  EXPECT_EQ(queue.counts().waiting, 8U);
  held.let_go();
  end.get_future().wait();
  EXPECT_EQ(order, (std::vector<std::string>{"g1", "o1", "t1", "g2", "o2", "g3", "g4"}));
}

// Whose work never ends.
TEST(WorkQueue, LeavesAThreadToOtherClients) {
  std::latch taken(2);
  std::promise<void> go_on;
  std::atomic<int> begun = 0, served = 0;
  std::atomic<bool> left = false;
  std::vector<std::shared_ptr<Exchange>> exchanges;
  WorkQueue queue(3);
  for (int i = 0; i < 5; ++i) {
    exchanges.push_back(exchange_of(kGreedy));
    queue.push(exchanges.back(), [&, end = i == 0 ? go_on.get_future().share() : std::shared_future<void>()] {
      if (++begun <= 2) taken.count_down();
      if (end.valid()) return end.wait();
      while (!left) std::this_thread::yield();
    });
  }
  taken.wait();
  for (int i = 0; i < 20; ++i) {
    const auto other = exchange_of(i % 2 == 0 ? kOther : kThird);
    queue.push(other, [&] { ++served; });
    while (served <= i) std::this_thread::yield();
    EXPECT_EQ(begun, 2);
  }
  EXPECT_EQ(queue.counts().waiting, 3U);
  left = true;
  go_on.set_value();
  while (queue.counts().waiting + queue.counts().running > 0) std::this_thread::yield();
  EXPECT_EQ(begun, 5);
}

TEST(WorkQueue, DropsTheWorkOfAClientThatHasLeftAtOnce) {
  std::atomic<int> dropped = 0, taken = 0;
  std::promise<void> end;
  WorkQueue queue(1, {.taken = [&](auto) { ++taken; }, .dropped = [&] { ++dropped; }});
  Held held(queue);
  const auto memory = std::make_shared<int>(1);
  std::atomic<bool> ran = false;
  const auto left = exchange_of(kGreedy);
  queue.push(left, [&ran, memory] { ran = true; });
  EXPECT_EQ(memory.use_count(), 2);
  left->abandon();
  EXPECT_EQ(memory.use_count(), 1) << "while all threads are busy";
  EXPECT_EQ(dropped, 1);
  EXPECT_EQ(queue.counts().waiting, 0U);
  // What is pushed for it afterwards is dropped as well.
  queue.push(left, [&ran, memory] { ran = true; });
  EXPECT_EQ(memory.use_count(), 1);
  EXPECT_EQ(dropped, 2);
  // An answer drops nothing.
  const auto answered = exchange_of(kGreedy);
  queue.push(answered, [&] { end.set_value(); });
  answered->reply({});
  held.let_go();
  end.get_future().wait();
  EXPECT_FALSE(ran);
  EXPECT_EQ(taken, 2);
}

TEST(WorkQueue, WorkThatRunsIsToldThatNobodyWaits) {
  const auto exchange = exchange_of(kGreedy);
  std::promise<void> begun, ended;
  WorkQueue queue(1);
  queue.push(exchange, [&] {
    begun.set_value();
    while (!exchange->cancellation().is_requested()) std::this_thread::yield();
    ended.set_value();
  });
  begun.get_future().wait();
  exchange->abandon();
  ended.get_future().wait();
}

TEST(WorkQueue, NobodyWaitsBehindTheDeadline) {
  EXPECT_FALSE(exchange_of(kGreedy, Clock::now() + std::chrono::hours(1))->cancellation().is_requested());
  EXPECT_TRUE(exchange_of(kGreedy, Clock::now())->cancellation().is_requested());
}

TEST(WorkQueue, TellsHowLongARequestsWorkWaited) {
  std::atomic<std::int64_t> waited = 0;
  std::promise<void> end;
  WorkQueue queue(1, {.taken = [&](std::chrono::nanoseconds time) { waited = time.count(); }, .dropped = {}});
  Held held(queue);
  const auto exchange = exchange_of(kGreedy);
  queue.push(exchange, [&] { end.set_value(); });
  while (queue.longest_wait() < std::chrono::milliseconds(2)) std::this_thread::yield();
  held.let_go();
  end.get_future().wait();
  EXPECT_GE(exchange->stages.queue, std::chrono::milliseconds(2));
  EXPECT_EQ(exchange->stages.queue.count(), waited);
}

TEST(WorkQueue, GoesOnAfterWorkThatThrows) {
  std::promise<void> end;
  WorkQueue queue(1);
  queue.push([] { throw std::runtime_error("of no interest"); });
  queue.push(exchange_of(kOther), [] { throw std::runtime_error("of no interest"); });
  queue.push([&] { end.set_value(); });
  end.get_future().wait();
  EXPECT_EQ(queue.counts().waiting, 0U);
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

// A client that has much to do is no fault of the server's; work that does not end when it is told to is.
TEST(WorkQueue, TakesLongRequestsForNoHang) {
  std::promise<void> begun, go_on;
  WorkQueue queue(2);
  const auto greedy = exchange_of(kGreedy), behind = exchange_of(kGreedy);
  queue.push(greedy, [&] {
    begun.set_value();
    go_on.get_future().wait();
  });
  begun.get_future().wait();
  queue.push(behind, [] {});
  EXPECT_EQ(queue.longest_run().count(), 0);
  EXPECT_EQ(queue.longest_wait().count(), 0) << "it waits for its own work";
  greedy->abandon();
  while (queue.longest_run() < std::chrono::milliseconds(2)) std::this_thread::yield();
  // Now the other thread is held too.
  Held held(queue);
  const auto other = exchange_of(kOther);
  queue.push(other, [] {});
  while (queue.longest_wait() < std::chrono::milliseconds(2)) std::this_thread::yield();
  held.let_go();
  go_on.set_value();
  while (queue.longest_wait().count() + queue.longest_run().count() != 0) std::this_thread::yield();
}

TEST(WorkQueue, HoldsNothingOfWorkThatIsOver) {
  WorkQueue queue(1);
  const auto held = std::make_shared<int>(1), of_request = std::make_shared<int>(1);
  const auto exchange = exchange_of(kGreedy);
  queue.push([held] {});
  queue.push(exchange, [of_request, exchange] {});
  while (held.use_count() > 1 || of_request.use_count() > 1 || exchange.use_count() > 1) std::this_thread::yield();
  SUCCEED();
}

}  // namespace
}  // namespace alate::server
