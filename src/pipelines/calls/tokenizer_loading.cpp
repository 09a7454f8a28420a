#include "pipelines/calls/tokenizer_loading.h"

#include "base/os/process_limits.h"
#include "base/threads/thread_pool.h"

namespace alate::pipelines {
namespace {

// Whether the tokenizer is loaded in parallel with the model: a large vocabulary takes many milliseconds. Not where one
// thread was asked for, nor where address space is limited: another thread takes a stack and a heap of its own.
bool may_load_side_by_side(const LoadOptions& options) {
  return options.threads != 1 && base::ThreadPool::shared().size() > 1 && base::process_limits().limit_bytes == 0;
}

}  // namespace

std::future<Tokenizer> begin_loading_tokenizer(const std::filesystem::path& folder, const LoadOptions& options) {
  constexpr std::launch kEither =
      std::launch::async | std::launch::deferred;  // on this thread when no other can be started
  const std::launch when = may_load_side_by_side(options) ? kEither : std::launch::deferred;
  std::future<Tokenizer> tokenizer = std::async(when, [folder] { return Tokenizer::load(folder); });
  if (when == std::launch::deferred) tokenizer.wait();
  return tokenizer;
}

}  // namespace alate::pipelines
