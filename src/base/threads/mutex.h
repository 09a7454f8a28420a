// The mutexes of everything that runs models: builds that check find a thread that would wait for itself.
#pragma once

#include <mutex>

namespace alate::base {

/// A std::mutex whose lock() throws std::system_error (resource_deadlock_would_occur) when its owner takes it again,
/// where the system can tell (Linux): the thread would hold its lock, and all who wait for it, for ever. Condition
/// variables take it through std::unique_lock<std::mutex>, spelled out.
class CheckedMutex : public std::mutex {
 public:
  CheckedMutex();
  ~CheckedMutex();
  CheckedMutex(const CheckedMutex&) = delete;
  CheckedMutex& operator=(const CheckedMutex&) = delete;
};

// Checking costs each lock a few instructions more, so that release builds go without.
#ifdef NDEBUG
using Mutex = std::mutex;
#else
using Mutex = CheckedMutex;
#endif

}  // namespace alate::base
