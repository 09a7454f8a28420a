// Many threads at once; all results are checked. Meant for the thread sanitizer too.
#include <atomic>
#include <random>

#include "batch_scheduler_testing.h"

namespace alate::runtime {
namespace {

struct Outcome {
  std::vector<Ids> rows;
  std::uint64_t program = 0;
  std::atomic<int> told = 0;
  bool cancelled = false;
  BatchResult result;
};

bool is_poisoned(const std::vector<Ids>& rows) {
  return std::ranges::any_of(rows, [](const Ids& ids) { return ids.front() == kPoison; });
}

// Sends jobs of few different rows, so that many are shared, and cancels some at once and some later.
void send_many(BatchScheduler& scheduler, unsigned seed, std::vector<std::unique_ptr<Outcome>>& outcomes) {
  std::mt19937 random(seed);
  std::vector<std::pair<std::uint64_t, Outcome*>> open;
  for (int i = 0; i < 400; ++i) {
    auto outcome = std::make_unique<Outcome>();
    for (std::size_t count = 1 + random() % 6; count > 0; --count) {
      const auto value = static_cast<std::int32_t>(random() % 60);
      outcome->rows.emplace_back(1 + random() % 5, random() % 100 == 0 ? kPoison : value);
    }
    outcome->program = random() % 2;
    BatchJob job = job_of(outcome->rows, std::to_string(random() % 3), outcome->program);
    if (random() % 16 == 0) job.deadline = BatchScheduler::Clock::now() + std::chrono::microseconds(random() % 500);
    job.done = [raw = outcome.get()](BatchResult result) {
      raw->result = std::move(result);
      ++raw->told;
    };
    const std::uint64_t id = scheduler.submit(std::move(job));
    if (random() % 8 == 0) {
      scheduler.cancel(id);
      outcome->cancelled = true;
    } else {
      open.emplace_back(id, outcome.get());
    }
    if (random() % 16 == 0) {
      const auto& [earlier, its] = open[random() % open.size()];
      scheduler.cancel(earlier);
      its->cancelled = true;
    }
    if (random() % 32 == 0) scheduler.depth();
    outcomes.push_back(std::move(outcome));
  }
}

TEST(BatchSchedulerStress, EveryJobGetsItsOwnValuesOnce) {
  for (const std::size_t cache_size : {0u, 20u}) {
    FakeModel model;
    constexpr std::size_t kThreads = 4;
    std::vector<std::vector<std::unique_ptr<Outcome>>> outcomes(kThreads);
    {
      BatchScheduler scheduler({.max_tokens = 24, .cache_size = cache_size});
      std::vector<std::thread> threads;
      for (std::size_t i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] { send_many(scheduler, static_cast<unsigned>(i + 1), outcomes[i]); });
      }
      for (std::thread& thread : threads) thread.join();
      while (scheduler.depth().jobs > 0) std::this_thread::yield();
      EXPECT_EQ(scheduler.depth().rows, 0u);
      EXPECT_EQ(scheduler.depth().tokens, 0u);
    }
    std::size_t values = 0;
    for (const auto& of_thread : outcomes) {
      for (const auto& outcome : of_thread) {
        EXPECT_LE(outcome->told, 1);
        EXPECT_TRUE(outcome->cancelled || outcome->told == 1);
        if (outcome->told == 0) continue;
        if (outcome->result.error == nullptr) {
          EXPECT_FALSE(is_poisoned(outcome->rows));
          EXPECT_EQ(outcome->result.values, all_values(outcome->rows, outcome->program));
          ++values;
          continue;
        }
        try {
          std::rethrow_exception(outcome->result.error);
        } catch (const Error& error) {
          EXPECT_TRUE(error.code() == ErrorCode::deadline_exceeded ||
                      (error.code() == ErrorCode::invalid_argument && is_poisoned(outcome->rows)))
              << error.what();
        }
      }
    }
    EXPECT_GT(values, 0u);
  }
}

TEST(BatchSchedulerStress, SchedulersEndWhileJobsAreUnderWay) {
  FakeModel model;
  for (int round = 0; round < 50; ++round) {
    std::vector<Sent> sent;
    {
      BatchScheduler scheduler({.max_tokens = 8});
      for (std::int32_t i = 0; i < 20; ++i) sent.push_back(send(scheduler, job_of(rows_from(i, 3, 2), "a")));
      if (round % 2 == 0) sent.front().result.wait();
    }
    for (Sent& each : sent) {
      const BatchResult result = each.result.get();
      EXPECT_TRUE(result.error != nullptr || result.values.size() == 6);
    }
  }
}

}  // namespace
}  // namespace alate::runtime
