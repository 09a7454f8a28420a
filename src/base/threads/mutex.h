// The mutex used throughout the engine; debug builds detect a thread that would deadlock with itself.
#pragma once

#include <mutex>

namespace alate::base {

/// A std::mutex whose lock() throws std::system_error (resource_deadlock_would_occur) when its owner locks it again,
/// where the system can tell (Linux): the thread, and all waiters, would otherwise block forever. Condition variables
/// take it through an explicit std::unique_lock<std::mutex>.
class CheckedMutex : public std::mutex {
 public:
  CheckedMutex();
  ~CheckedMutex();
  CheckedMutex(const CheckedMutex&) = delete;
  CheckedMutex& operator=(const CheckedMutex&) = delete;
};

// Checking costs a few more instructions per lock, so release builds omit it.
#ifdef NDEBUG
using Mutex = std::mutex;
#else
using Mutex = CheckedMutex;
#endif

}  // namespace alate::base
