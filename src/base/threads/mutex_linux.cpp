#include <pthread.h>

#include "base/threads/mutex.h"

namespace alate::base {

// std::mutex is a pthread_mutex_t that is not yet locked, so it can be reinitialized as another type. If that fails, it
// stays as it was.
CheckedMutex::CheckedMutex() {
  pthread_mutexattr_t kind;
  if (::pthread_mutexattr_init(&kind) != 0) return;
  if (::pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK) == 0) ::pthread_mutex_init(native_handle(), &kind);
  ::pthread_mutexattr_destroy(&kind);
}

CheckedMutex::~CheckedMutex() { ::pthread_mutex_destroy(native_handle()); }

}  // namespace alate::base
