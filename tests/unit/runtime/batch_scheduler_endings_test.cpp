// How jobs end without a result: cancelled, too late, failed, or with the scheduler gone. And tasks.
#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <utility>

#include "batch_scheduler_testing.h"

namespace alate::runtime {
namespace {

using BatchEndings = BatchSchedulerTest;
using Clock = BatchScheduler::Clock;

BatchJob due(BatchJob job, Clock::time_point deadline) {
  job.deadline = deadline;
  return job;
}

BatchJob task_of(std::function<void(base::Cancellation)> task, std::size_t tokens = 1) {
  BatchJob job;
  job.task = std::move(task);
  job.tokens = tokens;
  return job;
}

TEST_F(BatchEndings, ACancelledJobIsNeverComputedNorDone) {
  start_busy();
  Sent gone = send({{1}, {2}}), stays = send({{3}});
  scheduler->cancel(gone.id);
  EXPECT_TRUE(gone.dropped());
  EXPECT_EQ(scheduler->depth().rows, 2u);
  go();
  EXPECT_EQ(stays.values(), all_values({{3}}));
  EXPECT_EQ(batches(), (std::vector<std::vector<Ids>>{{{3}}}));
}

TEST_F(BatchEndings, UnknownAndFinishedJobsMayBeCancelled) {
  start();
  Sent sent = send({{1}});
  sent.values();
  scheduler->cancel(sent.id);
  scheduler->cancel(12345);
  EXPECT_EQ(send({{2}}).values(), all_values({{2}}));
}

TEST_F(BatchEndings, ABatchIsCancelledOnceNobodyWaitsForAnyOfItsRows) {
  start_busy();
  Sent a = send({{1}, {2}}, "a"), b = send({{3}, {2}}, "b");
  model.release();
  plug.values();
  a.values(), b.values();

  model.hold();
  const std::size_t before = model.batches().size();
  Sent blocker = send({{50}});
  model.await_calls(before + 1);
  Sent c = send({{1}, {2}}, "c"), d = send({{3}, {2}}, "d");
  scheduler->cancel(blocker.id);  // the model gives it up by itself
  model.await_calls(before + 2);
  EXPECT_FALSE(model.is_cancelled());
  scheduler->cancel(c.id);
  EXPECT_FALSE(model.is_cancelled());
  Sent e = send({{4}}, "e");
  scheduler->cancel(d.id);  // and this
  model.release();
  EXPECT_EQ(e.values(), all_values({{4}}));
  EXPECT_TRUE(c.dropped());
  EXPECT_TRUE(d.dropped());
  EXPECT_EQ(model.batches().size(), before + 3);
}

TEST_F(BatchEndings, AnExpiredJobIsNeverComputed) {
  std::atomic<int> expired = 0;
  start_busy({}, {.ran = {}, .cache_hit = {}, .expired = [&] { ++expired; }});
  Sent late = send(*scheduler, due(job_of({{1}}), Clock::now())), fine = send({{2}});
  Sent in_time = send(*scheduler, due(job_of({{3}}), Clock::now() + std::chrono::hours(1)));
  go();
  EXPECT_EQ(late.error().code(), ErrorCode::deadline_exceeded);
  EXPECT_EQ(fine.values(), all_values({{2}}));
  EXPECT_EQ(in_time.values(), all_values({{3}}));
  EXPECT_EQ(batches(), (std::vector<std::vector<Ids>>{{{2}, {3}}}));
  scheduler.reset();
  EXPECT_EQ(expired, 1);
}

TEST_F(BatchEndings, AJobThatWaitsForMoreRowsExpiresWithoutThem) {
  start({.max_wait = std::chrono::hours(1)});
  Sent late = send(*scheduler, due(job_of({{1}}), Clock::now() + std::chrono::milliseconds(5)));
  EXPECT_EQ(late.error().code(), ErrorCode::deadline_exceeded);
  EXPECT_TRUE(model.batches().empty());
}

TEST_F(BatchEndings, ASharedRowOutlivesTheDeadlineOfTheJobThatBroughtIt) {
  start_busy();
  Sent late = send(*scheduler, due(job_of({{1}}, "a"), Clock::now())), other = send({{1}}, "b");
  go();
  EXPECT_EQ(late.error().code(), ErrorCode::deadline_exceeded);
  EXPECT_EQ(other.values(), all_values({{1}}));
}

TEST_F(BatchEndings, WhatRunsWhenItsTimeIsOverIsStillAnswered) {
  start();
  model.hold();
  const auto deadline = Clock::now() + std::chrono::milliseconds(50);
  Sent sent = send(*scheduler, due(job_of({{1}}), deadline));
  model.await_calls(1);
  std::this_thread::sleep_until(deadline);
  model.release();
  EXPECT_EQ(sent.values(), all_values({{1}}));
}

TEST_F(BatchEndings, OnlyTheRowThatFailsFailsItsJobs) {
  start_busy();
  Sent a = send({{1}, {2}}, "a"), b = send({{3}, {kPoison, 7}}, "b"), c = send({{kPoison, 7}}, "c"),
       d = send({{4}}, "d");
  go();
  EXPECT_EQ(a.values(), all_values({{1}, {2}}));
  EXPECT_EQ(d.values(), all_values({{4}}));
  const Error error = b.error();
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.message(), "poison 7");
  EXPECT_EQ(c.error().message(), "poison 7");
}

TEST_F(BatchEndings, AFailedJobsOtherRowsAreDropped) {
  start_busy({.max_tokens = 2});
  Sent bad = send({{kPoison, 1}, {1, 1}, {2, 2}, {3, 3}}), good = send({{3, 3}}, "b");
  go();
  EXPECT_EQ(bad.error().message(), "poison 1");
  EXPECT_EQ(good.values(), all_values({{3, 3}}));
  for (const auto& batch : batches()) EXPECT_TRUE(batch[0] == (Ids{kPoison, 1}) || batch[0] == (Ids{3, 3}));
  EXPECT_EQ(scheduler->depth().rows, 0u);
}

TEST_F(BatchEndings, TheFirstErrorOfAJobIsTheOneItGets) {
  start_busy();
  Sent bad = send({{kPoison, 1}, {kPoison, 2}});
  go();
  EXPECT_EQ(bad.error().message(), "poison 1");
  EXPECT_EQ(batches(), (std::vector<std::vector<Ids>>{{{kPoison, 1}, {kPoison, 2}}, {{kPoison, 1}}}));
}

class FaultyProgram final : public BatchProgram {
 public:
  explicit FaultyProgram(std::function<Tensor()> fault) : fault_(std::move(fault)) {}
  std::size_t width(const BatchRow&) const override { return 2; }
  Tensor run_rows(std::span<const BatchRow* const>, const backends::RunOptions&) const override { return fault_(); }

 private:
  std::function<Tensor()> fault_;
};

TEST_F(BatchEndings, WhateverTheModelThrowsBecomesAnError) {
  start();
  const auto code_of = [&](std::function<Tensor()> fault) {
    BatchJob job = job_of({{1}});
    job.program = std::make_shared<FaultyProgram>(std::move(fault));
    return send(*scheduler, std::move(job)).error().code();
  };
  EXPECT_EQ(code_of([]() -> Tensor { throw std::bad_alloc(); }), ErrorCode::resource_exhausted);
  EXPECT_EQ(code_of([]() -> Tensor { throw std::runtime_error("x"); }), ErrorCode::internal);
  EXPECT_EQ(code_of([]() -> Tensor { throw 1; }), ErrorCode::internal);
  EXPECT_EQ(code_of([] { return Tensor::zeros({DType::f32, {2, 3}}); }), ErrorCode::internal);
  EXPECT_EQ(code_of([] { return Tensor(); }), ErrorCode::internal);
}

TEST_F(BatchEndings, DestructionFailsWhatIsLeft) {
  start_busy();
  Sent waiting = send({{1}}), task = send(*scheduler, task_of([](base::Cancellation) {}));
  scheduler.reset();  // the model notices that nobody waits for what it computes
  EXPECT_EQ(plug.error().code(), ErrorCode::cancelled);
  EXPECT_EQ(waiting.error().code(), ErrorCode::cancelled);
  EXPECT_EQ(task.error().code(), ErrorCode::cancelled);
  EXPECT_TRUE(batches().empty());
}

TEST_F(BatchEndings, OnceStoppedNoCallbackRunsAndNothingIsTaken) {
  std::atomic<int> running = 0;
  start({}, {.ran = [&](auto, auto, auto) { ++running; }, .cache_hit = {}, .expired = {}});
  model.hold();
  Sent first = send({{1}}), second = send({{2}});
  model.await_calls(1);
  scheduler->stop();
  const int after = running;
  EXPECT_EQ(first.error().code(), ErrorCode::cancelled);
  EXPECT_EQ(second.error().code(), ErrorCode::cancelled);
  EXPECT_EQ(send({{3}}).error().code(), ErrorCode::cancelled);
  EXPECT_EQ(running, after);
  scheduler->stop();
}

TEST_F(BatchEndings, DepthSaysForHowLongACallHasBeenUnderWay) {
  start();
  EXPECT_EQ(scheduler->depth().running.count(), 0);
  model.hold();
  Sent sent = send({{1}});
  model.await_calls(1);
  while (scheduler->depth().running < std::chrono::milliseconds(2)) std::this_thread::yield();
  model.release();
  sent.values();
  while (scheduler->depth().running.count() != 0) std::this_thread::yield();
}

TEST_F(BatchEndings, AJobSubmittedWhileTheSchedulerEndsIsCancelled) {
  start_busy();
  std::promise<ErrorCode> code;
  BatchJob job = job_of({{1}});
  job.done = [&code, ending = scheduler.get()](const BatchResult&) {
    code.set_value(runtime::send(*ending, job_of({{2}})).error().code());
  };
  scheduler->submit(std::move(job));
  scheduler.reset();
  EXPECT_EQ(code.get_future().get(), ErrorCode::cancelled);
}

TEST_F(BatchEndings, ItMayBeDestroyedByItsOwnCallback) {
  start_busy();
  std::shared_ptr<BatchScheduler> owned = std::move(scheduler);
  BatchScheduler& last = *owned;
  BatchJob job = job_of({{1}});
  job.done = [owned = std::move(owned)](const BatchResult&) {};  // holds the scheduler alone
  last.submit(std::move(job));
  Sent after = send(last, job_of({{2}}));
  go();
  // It goes with the first job's callback, before or after the second one is done.
  after.result.wait();
}

TEST_F(BatchEndings, DoneMaySubmitAndCancel) {
  start_busy();
  Sent unlucky = send({{5}});
  std::promise<Sent> next;
  BatchJob job = job_of({{1}});
  job.done = [&](const BatchResult&) {
    scheduler->cancel(unlucky.id);
    next.set_value(send({{6}}));
  };
  scheduler->submit(std::move(job));
  go();
  EXPECT_EQ(next.get_future().get().values(), all_values({{6}}));
  unlucky.result.wait();  // done or dropped: both came out of one batch
}

TEST_F(BatchEndings, AJobThatIsFinishedButNotYetToldCanStillBeCancelled) {
  start_busy();
  std::atomic<int> told = 0;
  std::vector<std::uint64_t> ids;
  for (std::int32_t i = 0; i < 2; ++i) {
    BatchJob job = job_of({{i}});
    job.done = [&](const BatchResult&) {
      ++told;
      for (const std::uint64_t id : ids) scheduler->cancel(id);
    };
    ids.push_back(scheduler->submit(std::move(job)));
  }
  go();
  send({{100}}).values();
  EXPECT_EQ(told, 1);
}

TEST_F(BatchEndings, ATaskRunsAloneInItsTurn) {
  start_busy();
  Sent before = send({{1}}, "a");
  std::thread::id thread;
  Sent task = send(*scheduler, task_of([&](base::Cancellation cancellation) {
    thread = std::this_thread::get_id();
    EXPECT_FALSE(cancellation.is_requested());
  }));
  Sent after = send({{2}}, "a");
  EXPECT_EQ(scheduler->depth().tokens, 4u);
  go();
  EXPECT_EQ(task.result.get().error, nullptr);
  EXPECT_NE(thread, std::thread::id());
  EXPECT_NE(thread, std::this_thread::get_id());
  before.values(), after.values();
  EXPECT_EQ(scheduler->depth().tokens, 0u);
}

TEST_F(BatchEndings, ATaskThatThrowsFails) {
  start();
  Sent task = send(*scheduler, task_of([](base::Cancellation) { throw Error(ErrorCode::unsupported, "no"); }));
  EXPECT_EQ(task.error().code(), ErrorCode::unsupported);
}

TEST_F(BatchEndings, ATaskIsToldThatNobodyWaits) {
  start();
  std::promise<void> begun, noticed;
  Sent task = send(*scheduler, task_of([&](base::Cancellation cancellation) {
    begun.set_value();
    while (!cancellation.is_requested()) std::this_thread::yield();
    noticed.set_value();
  }));
  begun.get_future().wait();
  scheduler->cancel(task.id);
  noticed.get_future().wait();
  EXPECT_TRUE(task.dropped());
  EXPECT_EQ(send({{1}}).values(), all_values({{1}}));
}

TEST_F(BatchEndings, TasksAndRowsTakeTurns) {
  start_busy({.max_tokens = 16});
  std::vector<Sent> tasks;
  std::size_t batches_before_last = 0;
  for (int i = 0; i < 4; ++i) {
    tasks.push_back(
        send(*scheduler, task_of([&](base::Cancellation) { batches_before_last = batches().size(); }, 1000000)));
  }
  const auto many = rows_from(1000, 100, 4);
  Sent rows = send(many, "rows");
  go();
  for (Sent& task : tasks) EXPECT_EQ(task.result.get().error, nullptr);
  EXPECT_EQ(rows.values(), all_values(many));
  EXPECT_GE(batches_before_last, 3u);  // long tasks leave room for others between them
}

}  // namespace
}  // namespace alate::runtime
