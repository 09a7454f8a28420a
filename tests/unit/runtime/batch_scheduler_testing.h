// A model that tests can block, release and inspect, and the results of jobs sent to its scheduler.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/threads/mutex.h"
#include "runtime/batching/batch_program.h"
#include "runtime/batching/batch_scheduler.h"

namespace alate::runtime {

using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kPoison = -1;  // a row that begins with it fails

constexpr std::uint64_t kProgramOfTokens = 7;  // gives a value for each token, besides those of the row

inline std::size_t width_of(std::uint64_t program, const BatchRow& row) {
  return program == kProgramOfTokens ? 2 + row.ids.size() : 2;
}

/// The values of a row: any function of all that makes it.
inline std::vector<float> values_of(std::uint64_t program, const BatchRow& row) {
  float sum = static_cast<float>(program) * 1000;
  for (std::size_t i = 0; i < row.ids.size(); ++i) sum += static_cast<float>(i + 1) * static_cast<float>(row.ids[i]);
  for (const std::int32_t type : row.type_ids) sum = sum * 3 + static_cast<float>(type);
  std::vector<float> values = {sum, static_cast<float>(row.pool_skip)};
  if (program == kProgramOfTokens) values.insert(values.end(), row.ids.begin(), row.ids.end());
  return values;
}

/// What the programs of jobs compute with. Thread-safe. There is one at a time, and it outlives the scheduler.
class FakeModel {
 public:
  FakeModel() { current_ = this; }
  ~FakeModel() { current_ = nullptr; }
  FakeModel(const FakeModel&) = delete;
  FakeModel& operator=(const FakeModel&) = delete;
  static FakeModel& current() { return *current_; }

  /// Calls that begin from now on stay inside until `release`, or until nobody wants them.
  void hold() {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }
  void await_calls(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return batches_.size() >= count; });
  }
  /// Whether the call under way, which must be held, is told that nobody waits for it.
  bool is_cancelled() {
    const std::lock_guard lock(mutex_);
    return cancellation_.value().is_requested();
  }
  /// The ids of all calls' rows, in their order.
  std::vector<std::vector<Ids>> batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }
  std::vector<std::uint64_t> programs() {
    const std::lock_guard lock(mutex_);
    return programs_;
  }

  Tensor compute(std::uint64_t program, std::span<const BatchRow* const> rows, base::Cancellation cancellation) {
    std::vector<Ids> all;
    for (const BatchRow* row : rows) all.push_back(row->ids);
    {
      std::unique_lock lock(mutex_);
      batches_.push_back(all);
      programs_.push_back(program);
      cancellation_ = cancellation;
      changed_.notify_all();
      while (held_ && !cancellation.is_requested()) changed_.wait_for(lock, std::chrono::milliseconds(1));
      cancellation_.reset();
    }
    cancellation.check();
    std::vector<float> values;
    for (const BatchRow* row : rows) {
      if (!row->ids.empty() && row->ids.front() == kPoison)
        throw Error(ErrorCode::invalid_argument, "poison " + std::to_string(row->ids.back()));
      const std::vector<float> own = values_of(program, *row);
      values.insert(values.end(), own.begin(), own.end());
    }
    return Tensor::from<float>({static_cast<std::int64_t>(values.size())}, std::span<const float>(values));
  }

 private:
  static inline FakeModel* current_ = nullptr;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  std::optional<base::Cancellation> cancellation_;
  std::vector<std::vector<Ids>> batches_;
  std::vector<std::uint64_t> programs_;
};

class FakeProgram final : public BatchProgram {
 public:
  explicit FakeProgram(std::uint64_t number) : number_(number) {}
  std::size_t width(const BatchRow& row) const override { return width_of(number_, row); }
  Tensor run_rows(std::span<const BatchRow* const> rows, const backends::RunOptions& options) const override {
    return FakeModel::current().compute(number_, rows, options.cancellation);
  }

 private:
  std::uint64_t number_;
};

/// The program of this number, always the same one.
inline std::shared_ptr<const BatchProgram> program_of(std::uint64_t number) {
  static base::Mutex mutex;
  static std::map<std::uint64_t, std::shared_ptr<const BatchProgram>> made;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const BatchProgram>& found = made[number];
  if (found == nullptr) found = std::make_shared<FakeProgram>(number);
  return found;
}

/// A job on its way.
struct Sent {
  std::uint64_t id = 0;
  std::future<BatchResult> result;

  /// Waits for values; a failed expectation when there is an error instead.
  std::vector<float> values() {
    const BatchResult got = result.get();
    EXPECT_EQ(got.error, nullptr);
    return got.values;
  }
  /// Waits for an error; a failed expectation when there is none.
  Error error() {
    const BatchResult got = result.get();
    try {
      if (got.error != nullptr) std::rethrow_exception(got.error);
    } catch (const Error& error) {
      EXPECT_TRUE(got.values.empty());
      return error;
    }
    ADD_FAILURE() << "no error";
    return Error(ErrorCode::internal, "");
  }
  /// Whether `done` will never be called, because the job and its `done` are gone.
  bool dropped() {
    try {
      result.get();
    } catch (const std::future_error& error) {
      return error.code() == std::future_errc::broken_promise;
    }
    return false;
  }
};

inline BatchJob job_of(const std::vector<Ids>& rows, std::string client = {}, std::uint64_t program = 0) {
  BatchJob job;
  job.program = program_of(program);
  job.client = std::move(client);
  for (const Ids& ids : rows) job.rows.push_back({.ids = ids});
  return job;
}

inline Sent send(BatchScheduler& scheduler, BatchJob job) {
  auto promise = std::make_shared<std::promise<BatchResult>>();
  Sent sent;
  sent.result = promise->get_future();
  job.done = [promise = std::move(promise)](BatchResult result) { promise->set_value(std::move(result)); };
  sent.id = scheduler.submit(std::move(job));
  return sent;
}

inline std::vector<float> all_values(const std::vector<Ids>& rows, std::uint64_t program = 0) {
  std::vector<float> all;
  for (const Ids& ids : rows) {
    const auto two = values_of(program, {.ids = ids});
    all.insert(all.end(), two.begin(), two.end());
  }
  return all;
}

/// `count` rows of `length` tokens, no two of them equal; those of another `first` differ too.
inline std::vector<Ids> rows_from(std::int32_t first, std::size_t count, std::size_t length) {
  std::vector<Ids> rows;
  for (std::size_t i = 0; i < count; ++i) rows.emplace_back(length, first + static_cast<std::int32_t>(i));
  return rows;
}

/// A scheduler whose model is busy with one row, so that what is sent now is looked at together after `go`.
class BatchSchedulerTest : public ::testing::Test {
 protected:
  void start(const BatchSchedulerOptions& options = {}, BatchObserver observer = {}) {
    scheduler = std::make_unique<BatchScheduler>(options, std::move(observer));
  }
  void start_busy(const BatchSchedulerOptions& options = {}, BatchObserver observer = {}) {
    start(options, std::move(observer));
    model.hold();
    plug = send(*scheduler, job_of({{999}}, "plug"));
    model.await_calls(1);
  }
  void go() {
    model.release();
    EXPECT_EQ(plug.values(), all_values({{999}}));
  }
  Sent send(BatchScheduler& to, BatchJob job) { return runtime::send(to, std::move(job)); }
  Sent send(const std::vector<Ids>& rows, const std::string& client = {}, std::uint64_t program = 0) {
    return runtime::send(*scheduler, job_of(rows, client, program));
  }
  /// The calls after the one that kept the model busy.
  std::vector<std::vector<Ids>> batches() {
    auto all = model.batches();
    if (!all.empty()) all.erase(all.begin());
    return all;
  }

  FakeModel model;
  std::unique_ptr<BatchScheduler> scheduler;
  Sent plug;
};

}  // namespace alate::runtime
