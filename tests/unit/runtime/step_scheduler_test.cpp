// The loop of steps as its callers see it, from several threads at once. Meant for the thread sanitizer too.
#include "runtime/decoding/step_scheduler.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "base/threads/mutex.h"
#include "step_testing.h"

namespace alate::runtime {
namespace {

class StepSchedulerTest : public StepTest {
 protected:
  // Waits for jobs, whose `done` runs on another thread.
  struct Waiter {
    base::Mutex mutex;
    std::condition_variable_any changed;
    std::size_t done = 0;

    void watch(StepJob& job) {
      job.done = [this, before = std::move(job.done)](const StepResult& result) {
        before(result);
        const std::lock_guard lock(mutex);
        ++done;
        changed.notify_all();
      };
    }
    void await(std::size_t count) {
      std::unique_lock<base::Mutex> lock(mutex);
      changed.wait(lock, [&] { return done >= count; });
    }
  };
};

TEST_F(StepSchedulerTest, ManyThreadsGetTheirOwnTexts) {
  constexpr std::size_t kThreads = 4, kTexts = 12;
  std::vector<std::vector<std::shared_ptr<Text>>> texts(kThreads);
  const auto prompt_of = [&](std::size_t i) { return random_ids(20 + 7 * i, i % 3); };
  StepScheduler scheduler(program_, {.most_pages = 20, .max_tokens = 64});
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (std::size_t t = 0; t < kThreads; ++t) waiters.push_back(std::make_unique<Waiter>());
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::size_t wanted = 0;
      for (std::size_t i = 0; i < kTexts; ++i) {
        texts[t].push_back(std::make_shared<Text>());
        StepJob job = job_of(prompt_of(i), 10 + i, t, texts[t].back());
        job.client = std::to_string(t);
        waiters[t]->watch(job);
        const std::uint64_t id = scheduler.submit(std::move(job));
        if (i % 4 == 3) {
          scheduler.cancel(id);
        } else {
          ++wanted;
        }
        (void)scheduler.counts();
      }
      waiters[t]->await(wanted);
    });
  }
  for (std::thread& thread : threads) thread.join();
  scheduler.stop();
  for (std::size_t t = 0; t < kThreads; ++t) {
    for (std::size_t i = 0; i < kTexts; ++i) {
      if (i % 4 != 3) expect_same(*texts[t][i], alone(prompt_of(i), 10 + i, t));
    }
  }
  EXPECT_EQ(scheduler.counts().pages_read, 0U);
}

TEST_F(StepSchedulerTest, CancelledJobsAreNotToldAndFreeTheirPages) {
  StepScheduler scheduler(program_, {.most_pages = 20});
  const auto text = std::make_shared<Text>();
  Waiter waiter, other;
  StepJob job = job_of(random_ids(50, 1), 400, 1, text);
  bool has_begun = false;
  job.choose = [&, choose = std::move(job.choose)](std::span<const float> logits, std::size_t worker) {
    const std::lock_guard lock(waiter.mutex);
    has_begun = true;
    waiter.changed.notify_all();
    return choose(logits, worker);
  };
  const std::uint64_t id = scheduler.submit(std::move(job));
  {
    std::unique_lock<base::Mutex> lock(waiter.mutex);
    waiter.changed.wait(lock, [&] { return has_begun; });
  }
  scheduler.cancel(id);
  scheduler.cancel(id);
  scheduler.cancel(999);
  const auto after = std::make_shared<Text>();
  StepJob last = job_of(random_ids(5, 2), 3, 2, after);
  other.watch(last);
  scheduler.submit(std::move(last));
  other.await(1);
  scheduler.stop();
  EXPECT_EQ(text->ended, 0U);
  expect_same(*after, alone(random_ids(5, 2), 3, 2));
  EXPECT_EQ(scheduler.counts().pages_read, 0U);
}

TEST_F(StepSchedulerTest, AllJobsEndWhenItStops) {
  StepScheduler scheduler(program_, {.most_pages = 20});
  std::vector<std::shared_ptr<Text>> texts;
  for (std::uint64_t i = 0; i < 5; ++i) {
    texts.push_back(std::make_shared<Text>());
    scheduler.submit(job_of(random_ids(50, i), 400, i, texts.back()));
  }
  scheduler.stop();
  texts.push_back(std::make_shared<Text>());
  scheduler.submit(job_of(random_ids(50, 1), 4, 1, texts.back()));
  scheduler.stop();
  for (const auto& text : texts) {
    EXPECT_EQ(text->ended, 1U);
    EXPECT_EQ(text->error(), ErrorCode::cancelled);
  }
}

TEST_F(StepSchedulerTest, MayBeStoppedByAJob) {
  auto scheduler = std::make_unique<StepScheduler>(program_, StepLoopOptions{.most_pages = 20});
  const auto text = std::make_shared<Text>();
  Waiter waiter;
  StepJob job = job_of({1, 2}, 1, 1, text);
  std::promise<void> submitted;  // only then may the scheduler go
  job.done = [&, before = std::move(job.done)](const StepResult& result) {
    submitted.get_future().wait();
    scheduler.reset();
    before(result);
  };
  waiter.watch(job);
  scheduler->submit(std::move(job));
  submitted.set_value();
  waiter.await(1);
  EXPECT_EQ(text->result.error, nullptr);
}

TEST_F(StepSchedulerTest, PromptsThatTheCacheCannotHoldAreResults) {
  StepScheduler scheduler(program_, {.most_pages = 2});
  const auto text = std::make_shared<Text>();
  Waiter waiter;
  StepJob job = job_of(random_ids(65, 1), 1, 1, text);
  waiter.watch(job);
  scheduler.submit(std::move(job));
  waiter.await(1);
  EXPECT_EQ(text->error(), ErrorCode::resource_exhausted);
}

TEST_F(StepSchedulerTest, ModelsOnTheSameCoresTakeTurns) {
  const auto turns = std::make_shared<StepTurns>();
  const StepLoopOptions options{.most_pages = 32};
  StepScheduler first(program_, options, turns), second(program_, options, turns);
  std::atomic<int> at_once = 0, most = 0;
  Waiter waiter;
  std::vector<std::shared_ptr<Text>> texts;
  for (std::uint64_t i = 0; i < 2; ++i) {
    texts.push_back(std::make_shared<Text>());
    StepJob job = job_of(random_ids(5, i), 60, i, texts.back());
    job.choose = [&, choose = std::move(job.choose)](std::span<const float> logits, std::size_t worker) {
      most = std::max<int>(most, ++at_once);
      std::this_thread::yield();
      --at_once;
      return choose(logits, worker);
    };
    waiter.watch(job);
    (i == 0 ? first : second).submit(std::move(job));
  }
  waiter.await(2);
  EXPECT_EQ(most, 1);
  for (std::uint64_t i = 0; i < 2; ++i) expect_same(*texts[i], alone(random_ids(5, i), 60, i));
}

TEST_F(StepSchedulerTest, SaysThatAJobOfTheStepUnderWayIsNotDone) {
  std::promise<void> begun, go_on;  // outlive the thread that uses them
  StepScheduler scheduler(program_, {.most_pages = 32});
  StepJob job;
  job.prompt = {1};
  job.choose = [&](std::span<const float>, std::size_t) {
    begun.set_value();
    go_on.get_future().wait();
    return std::optional<std::int32_t>();
  };
  scheduler.submit(std::move(job));
  begun.get_future().wait();
  EXPECT_EQ(scheduler.counts().waiting + scheduler.counts().running, 1U);
  EXPECT_GT(scheduler.running().count(), 0);
  go_on.set_value();
}

}  // namespace
}  // namespace alate::runtime
