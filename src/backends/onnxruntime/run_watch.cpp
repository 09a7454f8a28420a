#include "backends/onnxruntime/run_watch.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "alate/error.h"
#include "base/log.h"
#include "base/threads/mutex.h"

namespace alate::onnxruntime {
namespace {

constexpr std::chrono::milliseconds kPollInterval{20};
// The thread keeps polling for so many rounds without a run: waking it for each run would cost short runs some
// microseconds.
constexpr int kIdleRounds = 50;

Owned<abi::RunOptions> make_options(const Library& library) {
  abi::RunOptions* made = nullptr;
  library.check<abi::CreateRunOptions>("preparing a run on onnx", &made);
  return library.own<abi::ReleaseRunOptions>(made);
}

// One per process, with a thread from the first run on. Never destroyed: runs on other threads may outlive main.
class RunWatch {
 public:
  std::list<WatchedRun*>::iterator add(WatchedRun* run) {
    std::list<WatchedRun*> one(1, run);
    const std::lock_guard lock(mutex_);
    start();
    runs_.splice(runs_.end(), one);
    if (sleeping_) wake_.notify_one();
    return std::prev(runs_.end());
  }

  void remove(std::list<WatchedRun*>::iterator place) {
    std::list<WatchedRun*> gone;
    const std::lock_guard lock(mutex_);
    gone.splice(gone.end(), runs_, place);
  }

 private:
  // Called with the lock held.
  void start() {
    if (is_started_) return;
    try {
      std::thread([this] { serve(); }).detach();
      is_started_ = true;
    } catch (const std::system_error& error) {
      throw Error(ErrorCode::resource_exhausted,
                  "cannot start a thread that ends runs; allow this process more of them")
          .with_cause(error);
    }
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (int idle = 0;;) {
      if (idle >= kIdleRounds) {
        sleeping_ = true;
        wake_.wait(lock, [this] { return !runs_.empty(); });
        sleeping_ = false;
        idle = 0;
      }
      for (WatchedRun* run : runs_) run->check();
      idle = runs_.empty() ? idle + 1 : 0;
      lock.unlock();
      std::this_thread::sleep_for(kPollInterval);
      lock.lock();
    }
  }

  base::Mutex mutex_;
  std::condition_variable wake_;
  bool is_started_ = false, sleeping_ = false;
  std::list<WatchedRun*> runs_;
};

RunWatch& watch() {
  static RunWatch& only = *std::make_unique<RunWatch>().release();
  return only;
}

}  // namespace

WatchedRun::WatchedRun(const Library& library, base::Cancellation cancellation)
    : library_(library), cancellation_(cancellation), options_(make_options(library)), place_(watch().add(this)) {}

WatchedRun::~WatchedRun() { watch().remove(place_); }

void WatchedRun::check() noexcept {
  if (is_ended_) return;
  try {
    if (!cancellation_.is_requested()) return;
    is_ended_ = true;
    library_.check<abi::RunOptionsSetTerminate>("ending a run on onnx", options_.get());
  } catch (const std::exception& error) {
    base::log(base::LogLevel::warn, "a run on onnx cannot be ended", {{"error", error.what()}},
              std::string("a run on onnx cannot be ended: ") + error.what());
  }
}

}  // namespace alate::onnxruntime
