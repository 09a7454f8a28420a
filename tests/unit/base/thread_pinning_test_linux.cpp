// Where the workers of pools may run, as the system sees it.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/threads/thread_pinning.h"
#include "base/threads/thread_pool.h"

namespace alate::base {
namespace {

std::set<std::size_t> allowed_here() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  std::set<std::size_t> processors;
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) processors.insert(i);
  }
  return processors;
}

// What the one worker of a new pool of two threads may run on.
std::set<std::size_t> allowed_to_worker() {
  ThreadPool pool(2);
  const auto caller = std::this_thread::get_id();
  std::set<std::size_t> processors;
  std::atomic<bool> seen{false};
  pool.parallel_for(2, 0, [&](std::size_t, std::size_t) {
    if (std::this_thread::get_id() == caller) {
      while (!seen) std::this_thread::yield();
    } else {
      processors = allowed_here();
      seen = true;
    }
  });
  return processors;
}

TEST(ThreadPinning, AWorkerStaysOnItsCoreOnlyWhereThatIsAskedFor) {
  const std::set<std::size_t> all = allowed_here();
  EXPECT_EQ(allowed_to_worker(), all);
  pin_workers(true);
  const std::set<std::size_t> pinned = allowed_to_worker();
  pin_workers(false);
  EXPECT_EQ(pinned, std::set<std::size_t>{processor_of_worker(0, processors_of_cores())});
  EXPECT_EQ(allowed_here(), all);  // the caller goes where it went
  EXPECT_EQ(allowed_to_worker(), all);
}

}  // namespace
}  // namespace alate::base
