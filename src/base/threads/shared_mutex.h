// A mutex that readers share: builds that check find a thread that would wait for itself.
#pragma once

#include <shared_mutex>

namespace alate::base {

/// A std::shared_mutex that throws std::system_error (resource_deadlock_would_occur) when a thread that holds it, in
/// either way, takes it again, in either way. A second shared lock counts too: it waits for ever once a writer has come
/// in between.
class CheckedSharedMutex {
 public:
  void lock();
  void unlock();
  void lock_shared();
  void unlock_shared();

 private:
  std::shared_mutex mutex_;
};

// As with Mutex (base/threads/mutex.h), release builds go without the checks.
#ifdef NDEBUG
using SharedMutex = std::shared_mutex;
#else
using SharedMutex = CheckedSharedMutex;
#endif

}  // namespace alate::base
