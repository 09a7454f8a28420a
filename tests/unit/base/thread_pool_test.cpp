#include "base/threads/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "alate/threads.h"
#include "base/threads/spin.h"
#include "tests/unit/base/expect_error.h"

namespace alate::base {
namespace {

// Waits for a condition that other threads bring about; a hung test ends by the test runner's limit.
template <typename Condition>
void wait_until(const Condition& condition) {
  while (!condition()) std::this_thread::yield();
}

class ThreadPoolSizes : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, ThreadPoolSizes, testing::Values(1, 2, 3, 8, 33));

TEST_P(ThreadPoolSizes, RunsEveryIndexOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.size(), GetParam());
  for (const std::size_t count : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> runs(count);
    pool.parallel_for(count, 0, [&](std::size_t index, std::size_t) { runs[index].fetch_add(1); });
    EXPECT_TRUE(std::ranges::all_of(runs, [](const std::atomic<int>& n) { return n == 1; })) << count;
  }
}

TEST_P(ThreadPoolSizes, ManyShortLoopsInARowAreAllComplete) {
  ThreadPool pool(GetParam());
  std::vector<std::size_t> squares(16);
  for (std::size_t round = 0; round < 2000; ++round) {
    // Plain writes: that they are seen afterwards is what a loop promises.
    pool.parallel_for(squares.size(), 0, [&](std::size_t index, std::size_t) { squares[index] = round * index; });
    for (std::size_t i = 0; i < squares.size(); ++i) ASSERT_EQ(squares[i], round * i);
  }
}

TEST_P(ThreadPoolSizes, AWorkerNumberIsUsedByOneThreadAtATimeAndStaysBelowTheCap) {
  ThreadPool pool(GetParam());
  for (const std::size_t cap : {0, 1, 2, 3, 100}) {
    const std::size_t most = cap == 0 ? pool.size() : std::min<std::size_t>(cap, pool.size());
    std::vector<std::atomic<int>> users(most);
    std::atomic<int> mistakes{0};
    for (int round = 0; round < 50; ++round) {
      pool.parallel_for(64, cap, [&](std::size_t, std::size_t worker) {
        if (worker >= most) {
          ++mistakes;
          return;
        }
        if (users[worker].fetch_add(1) != 0) ++mistakes;
        std::this_thread::yield();
        users[worker].fetch_sub(1);
      });
    }
    EXPECT_EQ(mistakes, 0) << "cap " << cap;
  }
}

TEST_P(ThreadPoolSizes, TheFirstErrorComesOutAndNoFurtherIndexStarts) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 20; ++round) {
    std::atomic<std::size_t> started{0};
    std::string message;
    try {
      pool.parallel_for(100'000, 0, [&](std::size_t index, std::size_t) {
        started.fetch_add(1);
        if (index == 5) throw std::runtime_error("five");
        std::this_thread::yield();
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    EXPECT_EQ(message, "five");
    EXPECT_LT(started, 100'000U);
  }
  // And the pool goes on as before.
  std::atomic<int> runs{0};
  pool.parallel_for(10, 0, [&](std::size_t, std::size_t) { ++runs; });
  EXPECT_EQ(runs, 10);
}

// Sets a flag when it goes out of scope, also by an exception on its way to the handler.
class FlagAtExit {
 public:
  explicit FlagAtExit(std::atomic<bool>& flag) : flag_(flag) {}
  ~FlagAtExit() { flag_ = true; }
  FlagAtExit(const FlagAtExit&) = delete;
  FlagAtExit& operator=(const FlagAtExit&) = delete;

 private:
  std::atomic<bool>& flag_;
};

// Threads look whether they are to stop at any moment of a pool's end; one that looked too early would sleep forever.
TEST(ThreadPool, EndsAtAnyMoment) {
  for (int i = 0; i < 2000; ++i) {
    ThreadPool pool(4);
    std::atomic<int> done{0};
    if (i % 2 == 0) pool.parallel_for(2, 0, [&](std::size_t, std::size_t) { done.fetch_add(1); });
    for (int wait = 0; wait < i % 50; ++wait) relax_processor();
    ASSERT_EQ(done.load(), i % 2 == 0 ? 2 : 0);
  }
}

TEST(ThreadPool, OnlyTheErrorThrownFirstIsCarriedOut) {
  ThreadPool pool(2);
  std::atomic<int> inside{0};
  std::atomic<bool> first_unwound{false};
  try {
    pool.parallel_for(2, 0, [&](std::size_t index, std::size_t) {
      ++inside;
      wait_until([&] { return inside == 2; });
      if (index == 1) {
        // The other thread is some instructions before its handler now: let it get there.
        wait_until([&] { return first_unwound.load(); });
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        throw std::runtime_error("second");
      }
      const FlagAtExit flag(first_unwound);
      throw std::runtime_error("first");
    });
    ADD_FAILURE() << "no error came out";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
}

TEST(ThreadPool, WorkersReallyRunAtTheSameTime) {
  ThreadPool pool(4);
  std::atomic<int> inside{0};
  // Ends only when four threads are inside at once.
  pool.parallel_for(4, 0, [&](std::size_t, std::size_t) {
    ++inside;
    wait_until([&] { return inside == 4; });
  });
  EXPECT_EQ(inside, 4);
}

TEST(ThreadPool, WorkersWakeUpAfterALongIdleTime) {
  ThreadPool pool(3);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // longer than they spin
    std::atomic<int> inside{0};
    pool.parallel_for(3, 0, [&](std::size_t, std::size_t) {
      ++inside;
      wait_until([&] { return inside == 3; });
    });
    EXPECT_EQ(inside, 3);
  }
}

TEST(ThreadPool, TheCallerSleepsUntilASlowHelperIsDone) {
  ThreadPool pool(2);
  std::atomic<bool> helper_has_one{false};
  std::atomic<bool> done{false};
  const auto caller = std::this_thread::get_id();
  pool.parallel_for(2, 0, [&](std::size_t, std::size_t) {
    if (std::this_thread::get_id() == caller) {
      wait_until([&] { return helper_has_one.load(); });
    } else {
      helper_has_one = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    }
  });
  EXPECT_TRUE(done);
}

TEST(ThreadPool, IndicesStartInRisingOrder) {
  ThreadPool pool(4);
  std::vector<std::vector<std::size_t>> seen(4);
  pool.parallel_for(1000, 0, [&](std::size_t index, std::size_t worker) { seen[worker].push_back(index); });
  for (const auto& indices : seen) EXPECT_TRUE(std::ranges::is_sorted(indices));
}

TEST(ThreadPool, ALoopInsideATaskRunsOnThatThreadAlone) {
  ThreadPool pool(4);
  ThreadPool other(3);
  std::atomic<int> runs{0};
  std::atomic<int> mistakes{0};
  pool.parallel_for(8, 0, [&](std::size_t, std::size_t) {
    const auto outer = std::this_thread::get_id();
    for (ThreadPool* inner : {&pool, &other}) {
      std::size_t expected = 0;
      inner->parallel_for(16, 0, [&](std::size_t index, std::size_t worker) {
        if (std::this_thread::get_id() != outer || worker != 0 || index != expected++) ++mistakes;
        ++runs;
      });
    }
  });
  EXPECT_EQ(runs, 8 * 16 * 2);
  EXPECT_EQ(mistakes, 0);
}

TEST(ThreadPool, AnErrorOfAnInnerLoopComesOutOfTheOuterOne) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.parallel_for(4, 0,
                                 [&](std::size_t, std::size_t) {
                                   pool.parallel_for(2, 0,
                                                     [](std::size_t, std::size_t) { throw std::logic_error("in"); });
                                 }),
               std::logic_error);
}

TEST(ThreadPool, ACallerProgressesWhileAllWorkersAreBusyElsewhere) {
  ThreadPool pool(3);
  std::atomic<int> blocked{0};
  std::atomic<bool> release{false};
  std::thread hog([&] {
    pool.parallel_for(3, 0, [&](std::size_t, std::size_t) {
      ++blocked;
      wait_until([&] { return release.load(); });
    });
  });
  wait_until([&] { return blocked == 3; });
  int runs = 0;
  pool.parallel_for(10, 0, [&](std::size_t, std::size_t worker) {
    EXPECT_EQ(worker, 0U);
    ++runs;
  });
  EXPECT_EQ(runs, 10);
  release = true;
  hog.join();
}

TEST(ThreadPool, ASecondCallerGetsItsShareOfTheWorkersOfALongLoop) {
  ThreadPool pool(6);  // two callers, and two workers for each
  std::atomic<bool> second_has_two_helpers{false};
  std::atomic<int> first_inside{0};
  std::thread first([&] {
    // Goes on until the second loop has got its share: so it ends only if workers move over.
    EXPECT_THROW(pool.parallel_for(std::size_t{1} << 40, 0,
                                   [&](std::size_t, std::size_t) {
                                     ++first_inside;
                                     if (second_has_two_helpers) throw std::runtime_error("enough");
                                     std::this_thread::yield();
                                   }),
                 std::runtime_error);
  });
  wait_until([&] { return first_inside > 100; });
  std::mutex mutex;
  std::set<std::thread::id> threads;
  EXPECT_THROW(pool.parallel_for(std::size_t{1} << 40, 0,
                                 [&](std::size_t, std::size_t) {
                                   const std::lock_guard lock(mutex);
                                   threads.insert(std::this_thread::get_id());
                                   if (threads.size() >= 3) second_has_two_helpers = true;
                                   if (second_has_two_helpers) throw std::runtime_error("enough");
                                 }),
               std::runtime_error);
  EXPECT_TRUE(second_has_two_helpers);
  first.join();
}

// Counts the indices that each thread begins.
class Tally {
 public:
  void count() {
    const std::lock_guard lock(mutex_);
    ++begun_[std::this_thread::get_id()];
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    begun_.clear();
  }
  /// Threads that have begun at least so many since.
  std::size_t threads_of(std::size_t indices) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::ranges::count_if(begun_, [&](const auto& each) { return each.second >= indices; }));
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::thread::id, std::size_t> begun_;
};

TEST(ThreadPool, SeveralCallersAndTheirHelpersAreNoMoreThreadsThanThePoolHas) {
  constexpr std::size_t kThreads = 4, kCallers = 3;
  ThreadPool pool(kThreads);
  Tally tally;
  std::array<std::atomic<bool>, kCallers> enough{};
  std::array<std::atomic<bool>, kCallers> begun{};
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      EXPECT_THROW(pool.parallel_for(std::size_t{1} << 40, 0,
                                     [&](std::size_t, std::size_t) {
                                       begun[caller] = true;
                                       tally.count();
                                       if (enough[caller]) throw std::runtime_error("enough");
                                       std::this_thread::yield();
                                     }),
                   std::runtime_error);
    });
  }
  wait_until([&] { return std::ranges::all_of(begun, [](const auto& each) { return each.load(); }); });
  // From here on a worker that is to stand back ends the index that it is in, at most begins one that it has taken.
  tally.clear();
  wait_until([&] { return tally.threads_of(200) >= kCallers; });
  EXPECT_LE(tally.threads_of(10), kThreads);

  // And when only one caller is left, all come back to it: this ends only if they do.
  for (std::size_t caller = 1; caller < kCallers; ++caller) {
    enough[caller] = true;
    callers[caller].join();
  }
  tally.clear();
  wait_until([&] { return tally.threads_of(10) >= kThreads; });
  enough[0] = true;
  callers[0].join();
}

TEST(ThreadPool, ManyCallersAtOnceAllFinish) {
  ThreadPool pool(4);
  constexpr std::size_t kCallers = 70;  // more than there are places for loops with helpers
  std::vector<std::size_t> sums(kCallers);
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 30; ++round) {
        std::atomic<std::size_t> sum{0};
        pool.parallel_for(20, 3, [&](std::size_t index, std::size_t) { sum += index; });
        sums[caller] += sum;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(std::ranges::all_of(sums, [](std::size_t sum) { return sum == 30 * 190; }));
}

TEST(ThreadPool, AnAbsurdSizeIsRefused) {
  EXPECT_EQ(error_of([] { ThreadPool pool(std::size_t{1} << 40); }).code(), ErrorCode::invalid_argument);
}

TEST(ThreadPool, TheSharedPoolKeepsItsSizeOnceItRuns) {
  EXPECT_EQ(error_of([] { configure_threads({.threads = 5000}); }).code(), ErrorCode::invalid_argument);
  ThreadPool::configure_shared(3);
  EXPECT_EQ(ThreadPool::shared().size(), 3U);
  EXPECT_EQ(&ThreadPool::shared(), &ThreadPool::shared());
  EXPECT_NO_THROW(ThreadPool::configure_shared(3));
  EXPECT_EQ(error_of([] { ThreadPool::configure_shared(2); }).code(), ErrorCode::internal);
  EXPECT_EQ(error_of([] { configure_threads({.threads = 2}); }).code(), ErrorCode::internal);
}

}  // namespace
}  // namespace alate::base
