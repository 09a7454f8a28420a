#include "base/threads/thread_pinning.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace alate::base {
namespace {

TEST(ThreadPinning, WorkersLeaveTheFirstCoreToTheCallerAndTakeTurns) {
  const std::vector<std::size_t> cores = {0, 2, 4};
  EXPECT_EQ(processor_of_worker(0, cores), 2U);
  EXPECT_EQ(processor_of_worker(1, cores), 4U);
  EXPECT_EQ(processor_of_worker(2, cores), 0U);
  EXPECT_EQ(processor_of_worker(3, cores), 2U);
  EXPECT_EQ(processor_of_worker(7, {5}), 5U);
}

TEST(ThreadPinning, TheCoresOfThisMachineAreSorted) {
  const std::vector<std::size_t> cores = processors_of_cores();
  ASSERT_FALSE(cores.empty());
  EXPECT_TRUE(std::ranges::is_sorted(cores));
}

TEST(ThreadPinning, AProcessorThatThereIsNotIsRefused) { EXPECT_FALSE(pin_this_thread(1'000'000)); }

}  // namespace
}  // namespace alate::base
