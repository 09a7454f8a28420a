// Equal rows are computed once: unfinished ones, and those in the cache.
#include <atomic>

#include "batch_scheduler_testing.h"

namespace alate::runtime {
namespace {

using BatchSharing = BatchSchedulerTest;

TEST_F(BatchSharing, EqualRowsOfSeveralJobsAndOfOneAreComputedOnce) {
  start_busy();
  Sent a = send({{1, 2}, {3}, {1, 2}}, "a"), b = send({{3}, {1, 2}}, "b");
  go();
  EXPECT_EQ(a.values(), all_values({{1, 2}, {3}, {1, 2}}));
  EXPECT_EQ(b.values(), all_values({{3}, {1, 2}}));
  ASSERT_EQ(batches().size(), 1u);
  EXPECT_EQ(batches()[0], (std::vector<Ids>{{1, 2}, {3}}));
}

TEST_F(BatchSharing, RowsThatDifferInProgramOrSkipAreNotEqual) {
  start_busy();
  BatchJob skipping = job_of({{1, 2}});
  skipping.rows[0].pool_skip = 1;
  Sent a = send({{1, 2}}, "a", 0), b = send({{1, 2}}, "a", 1), c = send(*scheduler, std::move(skipping));
  go();
  EXPECT_EQ(a.values(), all_values({{1, 2}}, 0));
  EXPECT_EQ(b.values(), all_values({{1, 2}}, 1));
  EXPECT_EQ(c.values(), values_of(0, {.ids = {1, 2}, .pool_skip = 1}));
}

TEST_F(BatchSharing, AJobJoinsARowThatIsRunning) {
  start_busy();
  Sent late = send({{999}}, "late");
  go();
  EXPECT_EQ(late.values(), all_values({{999}}));
  EXPECT_EQ(model.batches().size(), 1u);
}

TEST_F(BatchSharing, ASharedRowStaysWhenTheJobThatBroughtItIsCancelled) {
  start_busy();
  Sent owner = send({{1, 2}, {3}}, "a"), other = send({{1, 2}}, "b");
  scheduler->cancel(owner.id);
  go();
  EXPECT_EQ(other.values(), all_values({{1, 2}}));
  EXPECT_EQ(batches(), (std::vector<std::vector<Ids>>{{{1, 2}}}));
  EXPECT_TRUE(owner.dropped());
}

TEST_F(BatchSharing, ARunningRowStaysWantedWhenTheJobThatBroughtItIsCancelled) {
  start_busy();
  Sent late = send({{999}}, "late");
  scheduler->cancel(plug.id);
  EXPECT_FALSE(model.is_cancelled());
  model.release();
  EXPECT_EQ(late.values(), all_values({{999}}));
  EXPECT_EQ(model.batches().size(), 1u);
}

TEST_F(BatchSharing, ARunningRowThatNobodyWantsAnyMoreIsComputedAnewForTheNext) {
  start_busy();
  scheduler->cancel(plug.id);
  Sent next = send({{999}}, "next");
  model.release();
  EXPECT_EQ(next.values(), all_values({{999}}));
  EXPECT_EQ(model.batches().size(), 2u);
}

TEST_F(BatchSharing, TheTurnThatComesFirstTakesASharedRow) {
  start_busy({.max_tokens = 8});
  // The row {7, 7} is the last of a long job and the only one of a short one.
  auto rows = rows_from(1000, 50, 2);
  rows.push_back({7, 7});
  Sent large = send(rows, "a"), small = send({{7, 7}}, "b");
  go();
  EXPECT_EQ(small.values(), all_values({{7, 7}}));
  EXPECT_EQ(large.values(), all_values(rows));
  EXPECT_EQ(std::ranges::count(batches().at(0), Ids{7, 7}), 1);
  std::size_t computed = 0;
  for (const auto& batch : batches()) computed += batch.size();
  EXPECT_EQ(computed, 51u);
}

TEST_F(BatchSharing, WithoutACacheAFinishedRowIsComputedAgain) {
  start();
  send({{1}}).values();
  send({{1}}).values();
  EXPECT_EQ(model.batches().size(), 2u);
}

TEST_F(BatchSharing, TheCacheAnswersWithoutTheModel) {
  std::atomic<int> hits = 0;
  start({.cache_size = 10}, {.ran = {}, .cache_hit = [&] { ++hits; }, .expired = {}});
  send({{1}, {2}}).values();
  Sent again = send({{2}, {1}, {2}});
  ASSERT_EQ(again.result.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_EQ(again.values(), all_values({{2}, {1}, {2}}));
  EXPECT_EQ(hits, 3);
  // Some from the cache, some from the model.
  EXPECT_EQ(send({{3}, {1}, {4}}).values(), all_values({{3}, {1}, {4}}));
  EXPECT_EQ(model.batches().at(1), (std::vector<Ids>{{3}, {4}}));
  EXPECT_EQ(send({{1}}, "", 1).values(), all_values({{1}}, 1));
}

TEST_F(BatchSharing, TheCacheDropsWhatWasUsedLongestAgo) {
  start({.cache_size = 2});
  send({{1}}).values();
  send({{2}}).values();
  send({{1}}).values();  // used: 2 is the one to go
  send({{3}}).values();
  EXPECT_EQ(model.batches().size(), 3u);
  send({{1}, {3}}).values();
  EXPECT_EQ(model.batches().size(), 3u);
  send({{2}}).values();
  EXPECT_EQ(model.batches().size(), 4u);
}

TEST_F(BatchSharing, TheCacheForgetsWhatIsTooOld) {
  start({.cache_size = 2, .cache_ttl = std::chrono::nanoseconds(1)});
  send({{1}}).values();
  EXPECT_EQ(send({{1}}).values(), all_values({{1}}));
  EXPECT_EQ(model.batches().size(), 2u);
}

TEST_F(BatchSharing, ErrorsAreNotCached) {
  start({.cache_size = 2});
  EXPECT_EQ(send({{kPoison}}).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(send({{kPoison}}).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(model.batches().size(), 2u);
}

}  // namespace
}  // namespace alate::runtime
