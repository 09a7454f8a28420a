#include "base/threads/mutex.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <system_error>
#include <thread>
#include <type_traits>

namespace alate::base {
namespace {

template <typename Tested>
std::error_code code_of_taking_it_twice() {
  Tested mutex;
  const std::lock_guard lock(mutex);
  try {
    mutex.lock();
  } catch (const std::system_error& error) {
    return error.code();
  }
  return {};
}

TEST(Mutex, ItsOwnerIsToldWhenItTakesItTwice) {
  EXPECT_EQ(code_of_taking_it_twice<CheckedMutex>(), std::errc::resource_deadlock_would_occur);
}

TEST(Mutex, IsTheCheckedOneWhereverAssertionsAre) {
#ifdef NDEBUG
  EXPECT_TRUE((std::is_same_v<Mutex, std::mutex>));
#else
  EXPECT_EQ(code_of_taking_it_twice<Mutex>(), std::errc::resource_deadlock_would_occur);
#endif
}

TEST(Mutex, OtherThreadsWaitAndConditionVariablesGiveItBack) {
  CheckedMutex mutex;
  std::condition_variable changed;
  int turn = 0;
  std::thread other([&] {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return turn == 1; });
    turn = 2;
    changed.notify_all();
  });
  {
    std::unique_lock<std::mutex> lock(mutex);
    turn = 1;
    changed.notify_all();
    changed.wait(lock, [&] { return turn == 2; });
  }
  other.join();
  EXPECT_EQ(turn, 2);
}

}  // namespace
}  // namespace alate::base
