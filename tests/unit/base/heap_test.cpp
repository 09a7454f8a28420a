#include "base/os/heap.h"

#include <gtest/gtest.h>

namespace alate::base {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

TEST(FreeMemoryReturn, IsDueWhenABurstLeftMuchForSomeSeconds) {
  FreeMemoryReturn memory(10 * kMegabyte);
  for (int second = 0; second < 10; ++second) EXPECT_FALSE(memory.is_due(10 * kMegabyte));
  EXPECT_FALSE(memory.is_due(50 * kMegabyte));
  EXPECT_FALSE(memory.is_due(50 * kMegabyte));
  EXPECT_TRUE(memory.is_due(50 * kMegabyte));
  // What could not be given back: asking again would be of no use.
  for (int second = 0; second < 10; ++second) EXPECT_FALSE(memory.is_due(50 * kMegabyte));
}

TEST(FreeMemoryReturn, IsNotDueForShortBurstsAndLittleMemory) {
  FreeMemoryReturn memory(0);
  for (int second = 0; second < 10; ++second) EXPECT_FALSE(memory.is_due(second % 3 == 0 ? 0 : 100 * kMegabyte));
  for (int second = 0; second < 10; ++second) EXPECT_FALSE(memory.is_due(7 * kMegabyte));
}

TEST(FreeMemoryReturn, CountsFromTheLeastThatThereWasSince) {
  FreeMemoryReturn memory(300 * kMegabyte);
  EXPECT_FALSE(memory.is_due(100 * kMegabyte));
  for (int second = 0; second < 2; ++second) EXPECT_FALSE(memory.is_due(200 * kMegabyte));
  EXPECT_TRUE(memory.is_due(200 * kMegabyte));
}

}  // namespace
}  // namespace alate::base
