#include "alate/error.h"
#include "alate/threads.h"
#include "base/threads/thread_pinning.h"
#include "base/threads/thread_pool.h"

namespace alate {

void configure_threads(const ThreadSettings& settings) {
  constexpr std::size_t kMost = 4096;
  if (settings.threads > kMost)
    throw make_error(ErrorCode::invalid_argument, settings.threads, " threads are too many; at most ", kMost,
                     " are possible");
  base::ThreadPool::configure_shared(settings.threads);
  base::pin_workers(settings.pin);
}

}  // namespace alate
