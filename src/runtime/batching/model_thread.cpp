#include "runtime/batching/model_thread.h"

#include <system_error>
#include <utility>

#include "alate/error.h"

namespace alate::runtime {

void ModelThread::start(std::function<void()> serve) {
  try {
    thread_ = std::thread(std::move(serve));
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::resource_exhausted, "cannot start a thread for a model; allow this process more of them")
        .with_cause(error);
  }
}

void ModelThread::finish() noexcept {
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

}  // namespace alate::runtime
