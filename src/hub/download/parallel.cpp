#include "hub/download/parallel.h"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/threads/mutex.h"

namespace alate::hub {

void run_in_parallel(std::size_t threads, const std::stop_token& outer,
                     const std::function<void(std::stop_token)>& work) {
  std::stop_source source;
  const std::stop_callback forward(outer, [&] { source.request_stop(); });
  base::Mutex mutex;
  std::exception_ptr first;
  const auto guarded = [&] {
    try {
      work(source.get_token());
    } catch (...) {
      const std::lock_guard<base::Mutex> lock(mutex);
      if (!first) first = std::current_exception();
      source.request_stop();
    }
  };
  if (threads == 1) {
    guarded();
  } else {
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < threads; ++i) running.emplace_back(guarded);
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace alate::hub
