#include "hub/download/wait_for_lock.h"

#include <chrono>
#include <thread>

#include "alate/error.h"
#include "base/log.h"

namespace alate::hub {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{50};

}  // namespace

std::unique_ptr<base::FileLock> wait_for_lock(const std::filesystem::path& path, const std::stop_token& stop) {
  bool is_reported = false;
  for (;;) {
    if (auto lock = base::FileLock::try_lock(path)) return lock;
    if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "the download was stopped");
    if (!is_reported)
      base::log(base::LogLevel::info, "waiting for another process that fetches the same", {{"lock", path.string()}});
    is_reported = true;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

}  // namespace alate::hub
