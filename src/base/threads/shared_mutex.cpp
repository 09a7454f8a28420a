#include "base/threads/shared_mutex.h"

#include <algorithm>
#include <system_error>
#include <vector>

namespace alate::base {
namespace {

// The mutexes that this thread holds, shared or exclusive; few at a time.
std::vector<const CheckedSharedMutex*>& held() {
  thread_local std::vector<const CheckedSharedMutex*> mutexes;
  return mutexes;
}

void require_not_held(const CheckedSharedMutex* mutex) {
  if (std::ranges::find(held(), mutex) != held().end())
    throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur));
}

}  // namespace

void CheckedSharedMutex::lock() {
  require_not_held(this);
  mutex_.lock();
  held().push_back(this);
}

void CheckedSharedMutex::unlock() {
  std::erase(held(), this);
  mutex_.unlock();
}

void CheckedSharedMutex::lock_shared() {
  require_not_held(this);
  mutex_.lock_shared();
  held().push_back(this);
}

void CheckedSharedMutex::unlock_shared() {
  std::erase(held(), this);
  mutex_.unlock_shared();
}

}  // namespace alate::base
