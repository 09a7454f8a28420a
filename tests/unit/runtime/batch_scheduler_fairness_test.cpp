// The composition of batches, and the order of clients' turns.
#include <map>

#include "batch_scheduler_testing.h"
#include "runtime/batching/batch_work.h"

namespace alate::runtime {
namespace {

using BatchScheduling = BatchSchedulerTest;

TEST_F(BatchScheduling, JobsThatWaitBecomeOneBatch) {
  start_busy();
  const std::vector<Ids> first = {{1, 2, 3}, {4}}, second = {{5, 6}};
  Sent a = send(first, "a"), b = send(second, "b"), c = send({{7}}, "a");
  go();
  EXPECT_EQ(a.values(), all_values(first));
  EXPECT_EQ(b.values(), all_values(second));
  EXPECT_EQ(c.values(), all_values({{7}}));
  ASSERT_EQ(batches().size(), 1u);
  EXPECT_EQ(batches()[0].size(), 4u);
}

TEST_F(BatchScheduling, ResultsSayWhereRowsBeginAndTimes) {
  start_busy();
  Sent sent = send({{1}, {2}});
  go();
  const BatchResult result = sent.result.get();
  EXPECT_EQ(result.starts, (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_GT(result.queue.count(), 0);
  EXPECT_GT(result.compute.count(), 0);
}

TEST_F(BatchScheduling, NoBatchIsOverTheBudgetButALoneLongRow) {
  start_busy({.max_tokens = 16});
  std::vector<Sent> sent;
  std::vector<std::vector<Ids>> jobs;
  for (std::int32_t i = 0; i < 12; ++i) {
    jobs.push_back(rows_from(100 * i, 5, static_cast<std::size_t>(1 + (7 * i) % 20)));
    sent.push_back(send(jobs.back(), std::to_string(i % 3)));
  }
  go();
  for (std::size_t i = 0; i < jobs.size(); ++i) EXPECT_EQ(sent[i].values(), all_values(jobs[i]));
  std::size_t long_rows = 0;
  for (const auto& batch : batches()) {
    std::size_t tokens = 0;
    for (const Ids& row : batch) tokens += row.size();
    if (tokens > 16) {
      EXPECT_EQ(batch.size(), 1u);
      ++long_rows;
    }
  }
  EXPECT_EQ(long_rows, 10u);  // lengths 19 and 17 stand in the list once each, five rows each
}

TEST_F(BatchScheduling, AHugeJobDelaysASmallOneOfAnotherClientByNoMoreThanTheBatchUnderWay) {
  start_busy({.max_tokens = 64});
  const auto huge = rows_from(1000, 200, 8);
  Sent large = send(huge, "a");
  Sent small = send({{1, 2, 3}}, "b");
  go();
  EXPECT_EQ(small.values(), all_values({{1, 2, 3}}));
  EXPECT_EQ(large.values(), all_values(huge));
  EXPECT_EQ(std::ranges::count(batches().at(0), Ids{1, 2, 3}), 1);
}

TEST_F(BatchScheduling, AHugeJobDelaysASmallOneOfTheSameClientByNoMoreThanTheBatchUnderWay) {
  start_busy({.max_tokens = 64});
  const auto huge = rows_from(1000, 200, 8);
  Sent large = send(huge, "a");
  Sent small = send({{1, 2, 3}}, "a");
  go();
  EXPECT_EQ(small.values(), all_values({{1, 2, 3}}));
  EXPECT_EQ(large.values(), all_values(huge));
  EXPECT_EQ(std::ranges::count(batches().at(0), Ids{1, 2, 3}), 1);
}

TEST_F(BatchScheduling, ClientsGetTheSameShareHoweverManyJobsTheySendAndHoweverLongTheirRowsAre) {
  start_busy({.max_tokens = 64});
  std::vector<Sent> sent;
  for (std::int32_t i = 0; i < 20; ++i) sent.push_back(send(rows_from(1000 + 100 * i, 20, 4), "many jobs"));
  sent.push_back(send(rows_from(20000, 100, 4), "one job"));
  sent.push_back(send(rows_from(30000, 10, 40), "long rows"));
  go();
  for (Sent& each : sent) each.values();
  // While all three have work, nobody is ahead of another by more than two quanta and a row.
  std::map<std::string, std::size_t> share;
  for (const auto& batch : batches()) {
    for (const Ids& row : batch) {
      const std::string client = row[0] >= 30000 ? "long rows" : row[0] >= 20000 ? "one job" : "many jobs";
      share[client] += row.size();
    }
    if (share["long rows"] == 400 || share["one job"] == 400) break;
    const auto [least, most] = std::minmax({share["many jobs"], share["one job"], share["long rows"]});
    EXPECT_LE(most - least, 2u * 16 + 40);
  }
  EXPECT_GE(share["many jobs"], 400u - 72);
}

TEST(BatchWork, GrowsWithTheSquareOfARowsLength) {
  EXPECT_EQ(batch_work(10, 10, 2304), 10u);  // 10 · 10 / 2304 is less than a token
  EXPECT_EQ(batch_work(2304, 2304, 2304), 2 * 2304u);
  EXPECT_EQ(batch_work(8192, 8192, 2048), 8192u + 8192 * 4);
  EXPECT_EQ(even_row_length(384), 2304u);
}

// A client of rows of 64 tokens, each as much work as 64 + 64² / 16 = 320 short ones.
TEST_F(BatchScheduling, LongRowsAreChargedForAttention) {
  start_busy({.max_tokens = 64, .even_row_length = 16});
  Sent long_rows = send(rows_from(30000, 10, 64), "long rows");
  Sent short_rows = send(rows_from(1000, 1000, 1), "short rows");
  go();
  long_rows.values(), short_rows.values();
  std::size_t long_count = 0, short_count = 0;
  for (const auto& batch : batches()) {
    for (const Ids& row : batch) ++(row.size() > 1 ? long_count : short_count);
    if (short_count == 1000 || long_count == 10) break;
    // By tokens alone the clients would be about even: 64 short rows for each long one.
    EXPECT_LE(long_count * 320, short_count + 2 * 320);
  }
  EXPECT_GT(long_count, 1u);
}

TEST_F(BatchScheduling, TasksAreChargedForAttentionToo) {
  start_busy({.max_tokens = 64, .even_row_length = 16});
  std::vector<Sent> tasks;
  std::vector<std::size_t> rows_before;
  for (int i = 0; i < 3; ++i) {
    BatchJob job;
    job.client = "tasks";
    job.tokens = job.row_length = 64;
    job.task = [&](const auto&) {
      std::size_t count = 0;
      for (const auto& batch : batches()) count += batch.size();
      rows_before.push_back(count);
    };
    tasks.push_back(runtime::send(*scheduler, std::move(job)));
  }
  Sent rows = send(rows_from(1000, 2000, 1), "rows");
  go();
  for (Sent& task : tasks) EXPECT_EQ(task.result.get().error, nullptr);
  rows.values();
  ASSERT_EQ(rows_before.size(), 3u);
  EXPECT_GE(rows_before[2] - rows_before[1], 320u - 2 * 64);
}

TEST_F(BatchScheduling, ARowThatDoesNotFitBeginsTheNextBatch) {
  start_busy({.max_tokens = 16});
  const auto small = rows_from(1000, 40, 2);
  Sent a = send(small, "a"), b = send(rows_from(5000, 1, 16), "b"), c = send(rows_from(2000, 40, 2), "c");
  go();
  a.values(), b.values(), c.values();
  const auto all = batches();
  const auto with = std::ranges::find_if(all, [](const auto& batch) { return batch.front().front() == 5000; });
  EXPECT_LE(with - all.begin(), 1);
}

TEST_F(BatchScheduling, RowsOfDifferentProgramsAreNeverInOneBatch) {
  start_busy();
  std::vector<Sent> sent;
  std::vector<std::vector<float>> wanted;
  for (std::int32_t i = 0; i < 20; ++i) {
    const auto program = static_cast<std::uint64_t>(i % 2);
    const std::vector<Ids> rows = {{i}, {i, i}, {5}};
    sent.push_back(send(rows, "a", program));
    wanted.push_back(all_values(rows, program));
  }
  go();
  for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(sent[i].values(), wanted[i]);
  // All of one program, then all of the other, though they came in turns.
  EXPECT_EQ(batches().size(), 2u);
}

TEST_F(BatchScheduling, NoProgramStarvesAnother) {
  start_busy({.max_tokens = 16});
  const auto many = rows_from(1000, 100, 4);
  Sent a = send(many, "a", 0), b = send(many, "b", 0), c = send(many, "b", 1);
  go();
  EXPECT_EQ(a.values(), all_values(many, 0));
  EXPECT_EQ(b.values(), all_values(many, 0));
  EXPECT_EQ(c.values(), all_values(many, 1));
  const auto programs = model.programs();
  EXPECT_LE(std::ranges::find(programs, 1u) - programs.begin(), 2);
  const auto last_of_first = std::ranges::find(programs.rbegin(), programs.rend(), 0u);
  EXPECT_LE(last_of_first - programs.rbegin(), 2);
}

TEST_F(BatchScheduling, AFullBatchDoesNotWaitAndOneThatIsNotWaitsForMore) {
  start({.max_tokens = 8, .max_wait = std::chrono::hours(1)});
  Sent a = send({{1, 2, 3, 4}}, "a");
  EXPECT_EQ(a.result.wait_for(std::chrono::milliseconds(1)), std::future_status::timeout);
  Sent b = send({{5, 6, 7, 8}}, "b");
  EXPECT_EQ(a.values(), all_values({{1, 2, 3, 4}}));
  EXPECT_EQ(b.values(), all_values({{5, 6, 7, 8}}));
  EXPECT_EQ(model.batches().size(), 1u);

  Sent c = send({{1, 2, 3, 9}}, "a"), d = send({{5, 6, 7, 9}}, "b");
  EXPECT_EQ(c.values(), all_values({{1, 2, 3, 9}}));
  EXPECT_EQ(d.values(), all_values({{5, 6, 7, 9}}));
  EXPECT_EQ(model.batches().size(), 2u);
}

TEST_F(BatchScheduling, WaitingForMoreEnds) {
  start({.max_wait = std::chrono::milliseconds(1)});
  EXPECT_EQ(send({{1}}).values(), all_values({{1}}));
}

TEST_F(BatchScheduling, DepthCountsWhatWaitsAndWhatRuns) {
  start_busy();
  Sent a = send({{1, 2, 3}, {4, 5}}, "a"), b = send({{1, 2, 3}}, "b");
  const auto depth = scheduler->depth();
  EXPECT_EQ(depth.jobs, 3u);
  EXPECT_EQ(depth.rows, 3u);  // the equal ones are one
  EXPECT_EQ(depth.tokens, 6u);
  go();
  a.values(), b.values();
  const auto after = scheduler->depth();
  EXPECT_EQ(after.jobs + after.rows + after.tokens, 0u);
}

TEST_F(BatchScheduling, AJobWithoutRowsIsDoneAtOnce) {
  start_busy();
  Sent sent = send({});
  ASSERT_EQ(sent.result.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_TRUE(sent.values().empty());
  go();
}

TEST_F(BatchScheduling, ARowWithoutTokensIsComputed) {
  start();
  EXPECT_EQ(send({{}, {1}}).values(), all_values({{}, {1}}));
}

TEST_F(BatchScheduling, RowsHaveAsManyValuesAsTheirTokensSay) {
  start_busy({.cache_size = 8});
  const std::vector<Ids> rows = {{1, 2, 3}, {}, {4}};
  Sent sent = send(rows, {}, kProgramOfTokens);
  Sent plain = send(rows);
  go();
  const BatchResult result = sent.result.get();
  EXPECT_EQ(result.values, all_values(rows, kProgramOfTokens));
  EXPECT_EQ(result.starts, (std::vector<std::size_t>{0, 5, 7, 10}));
  EXPECT_EQ(plain.values(), all_values(rows));
  EXPECT_EQ(send({{4}, {1, 2, 3}}, {}, kProgramOfTokens).values(), all_values({{4}, {1, 2, 3}}, kProgramOfTokens));
}

class WrongWidth final : public BatchProgram {
 public:
  std::size_t width(const BatchRow&) const override { return 3; }
  Tensor run_rows(std::span<const BatchRow* const> rows, const backends::RunOptions&) const override {
    return Tensor::zeros({DType::f32, {static_cast<std::int64_t>(rows.size()), 2}});
  }
};

TEST_F(BatchScheduling, AProgramThatGivesAnotherNumberOfValuesIsAnError) {
  start();
  BatchJob job = job_of({{1, 2}});
  job.program = std::make_shared<WrongWidth>();
  EXPECT_EQ(send(*scheduler, std::move(job)).error().code(), ErrorCode::internal);
}

TEST_F(BatchScheduling, TypesOfTokensMakeAnotherRow) {
  start_busy({.cache_size = 8});
  BatchJob job = job_of({{1, 2}, {1, 2}});
  job.rows[1].type_ids = {0, 1};
  Sent sent = send(*scheduler, std::move(job));
  go();
  std::vector<float> wanted = values_of(0, {.ids = {1, 2}});
  const std::vector<float> other = values_of(0, {.ids = {1, 2}, .type_ids = {0, 1}});
  wanted.insert(wanted.end(), other.begin(), other.end());
  EXPECT_EQ(sent.values(), wanted);
}

TEST_F(BatchScheduling, TheObserverHearsOfEveryBatch) {
  std::mutex mutex;
  std::vector<std::pair<std::size_t, std::size_t>> ran;
  start_busy({.max_tokens = 4}, {.ran =
                                     [&](std::size_t rows, std::size_t tokens, std::chrono::nanoseconds) {
                                       const std::lock_guard lock(mutex);
                                       ran.emplace_back(rows, tokens);
                                     },
                                 .cache_hit = {},
                                 .expired = {}});
  Sent sent = send({{1, 2}, {3, 4}, {5, 6, 7}});
  go();
  sent.values();
  scheduler.reset();
  EXPECT_EQ(ran, (std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {2, 4}, {1, 3}}));
}

}  // namespace
}  // namespace alate::runtime
