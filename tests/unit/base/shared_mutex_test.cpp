#include "base/threads/shared_mutex.h"

#include <gtest/gtest.h>

#include <mutex>
#include <system_error>
#include <thread>

namespace alate::base {
namespace {

template <typename First, typename Second>
std::error_code code_of_taking_both() {
  CheckedSharedMutex mutex;
  const First first(mutex);
  try {
    const Second second(mutex);
  } catch (const std::system_error& error) {
    return error.code();
  }
  return {};
}

using Shared = std::shared_lock<CheckedSharedMutex>;
using Exclusive = std::unique_lock<CheckedSharedMutex>;

TEST(SharedMutex, AThreadThatTakesItTwiceIsTold) {
  const std::error_code told = std::make_error_code(std::errc::resource_deadlock_would_occur);
  EXPECT_EQ((code_of_taking_both<Exclusive, Exclusive>()), told);
  EXPECT_EQ((code_of_taking_both<Exclusive, Shared>()), told);
  EXPECT_EQ((code_of_taking_both<Shared, Exclusive>()), told);
  EXPECT_EQ((code_of_taking_both<Shared, Shared>()), told);
}

TEST(SharedMutex, MayBeTakenAgainOnceItWasGivenBackAndByOtherThreads) {
  CheckedSharedMutex mutex;
  { const Exclusive lock(mutex); }
  { const Shared lock(mutex); }
  const Shared lock(mutex);
  std::thread([&] { const Shared other(mutex); }).join();
}

TEST(SharedMutex, IsTheCheckedOneWhereverAssertionsAre) {
#ifdef NDEBUG
  EXPECT_TRUE((std::is_same_v<SharedMutex, std::shared_mutex>));
#else
  EXPECT_TRUE((std::is_same_v<SharedMutex, CheckedSharedMutex>));
#endif
}

}  // namespace
}  // namespace alate::base
