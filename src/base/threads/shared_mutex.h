// The reader-writer mutex; debug builds detect a thread that would deadlock with itself.
#pragma once

#include <shared_mutex>

namespace alate::base {

/// A std::shared_mutex that throws std::system_error (resource_deadlock_would_occur) when a thread that holds it,
/// shared or exclusive, locks it again, shared or exclusive. A second shared lock counts too: it blocks forever if a
/// writer has queued in between.
class CheckedSharedMutex {
 public:
  void lock();
  void unlock();
  void lock_shared();
  void unlock_shared();

 private:
  std::shared_mutex mutex_;
};

// As with Mutex (base/threads/mutex.h), release builds omit the checks.
#ifdef NDEBUG
using SharedMutex = std::shared_mutex;
#else
using SharedMutex = CheckedSharedMutex;
#endif

}  // namespace alate::base
