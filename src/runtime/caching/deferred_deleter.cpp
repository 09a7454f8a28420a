#include "runtime/caching/deferred_deleter.h"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/os/heap.h"
#include "base/threads/mutex.h"
#include "runtime/caching/model_census.h"

namespace alate::runtime {

struct DeferredDeleter::State {
  base::Mutex mutex;
  std::condition_variable news;
  bool closing = false;
  TrackedModel* first = nullptr;  // list linked through TrackedModel::next_released, latest first

  void serve() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      news.wait(lock, [this] { return closing || first != nullptr; });
      if (first == nullptr) return;
      TrackedModel* model = std::exchange(first, first->next_released);
      lock.unlock();
      std::default_delete<TrackedModel>()(model);
      base::return_free_memory();
      lock.lock();
    }
  }
};

DeferredDeleter::DeferredDeleter() : state_(std::make_shared<State>()) {
  try {
    thread_ = std::thread([state = state_] { state->serve(); });
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::resource_exhausted, "cannot start a thread that unloads models; allow this process more")
        .with_cause(error);
  }
}

DeferredDeleter::~DeferredDeleter() { close(); }

void DeferredDeleter::release(TrackedModel* model) noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->closing) {
      model->next_released = std::exchange(state_->first, model);
      state_->news.notify_one();
      return;
    }
  }
  std::default_delete<TrackedModel>()(model);
}

void DeferredDeleter::close() noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    state_->closing = true;
  }
  state_->news.notify_one();
  if (!thread_.joinable()) return;
  // The last reference may be held by a model being destroyed on this thread.
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

}  // namespace alate::runtime
