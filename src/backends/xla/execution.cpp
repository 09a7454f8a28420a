#include "backends/xla/execution.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/threads/mutex.h"

namespace alate::xla {
namespace {

constexpr std::chrono::milliseconds kPollInterval{10};

}  // namespace

struct Execution::Signal {
  std::shared_ptr<const Plugin> plugin;
  base::Mutex mutex;
  std::condition_variable changed;
  bool is_done = false;

  // The plugin's callback. The run's error is read when its event is awaited.
  static void receive(abi::Error* error, void* context) {
    const std::unique_ptr<std::shared_ptr<Signal>> own(static_cast<std::shared_ptr<Signal>*>(context));
    Signal& signal = **own;
    if (error != nullptr) signal.plugin->destroy(error);
    const std::lock_guard lock(signal.mutex);
    signal.is_done = true;
    signal.changed.notify_all();
  }
};

Execution::Execution(std::shared_ptr<const Client> client, Program program, std::vector<Client::Argument> arguments,
                     abi::Event* done)
    : client_(std::move(client)), program_(std::move(program)), arguments_(std::move(arguments)), done_(done) {}

Execution::~Execution() {
  if (done_ == nullptr) return;
  abi::EventCall wait;
  wait.event = done_;
  client_->plugin_->try_call(&abi::Api::event_await, wait);
  client_->destroy(done_);
}

// Asks the plugin to notify the signal when the run is done; false where it cannot.
bool Execution::watch() {
  if (signal_ != nullptr) return true;
  auto signal = std::make_shared<Signal>();
  signal->plugin = client_->plugin_;
  auto context = std::make_unique<std::shared_ptr<Signal>>(signal);
  abi::EventOnReady call;
  call.event = done_;
  call.callback = Signal::receive;
  call.context = context.get();
  if (!client_->plugin_->try_call(&abi::Api::event_on_ready, call)) return false;
  static_cast<void>(context.release());  // now owned by the callback
  signal_ = std::move(signal);
  return true;
}

bool Execution::wait(base::Cancellation cancellation) {
  if (done_ == nullptr || !cancellation.is_possible() || client_->is_ready(done_) || !watch()) return true;
  const auto is_done = [this] { return signal_->is_done; };
  std::unique_lock<std::mutex> lock(signal_->mutex);
  while (!signal_->changed.wait_for(lock, kPollInterval, is_done)) {
    if (cancellation.is_requested()) return false;
  }
  return true;
}

std::vector<DeviceBuffer> Execution::finish() {
  client_->await(std::exchange(done_, nullptr), "running on xla");
  return std::move(results_);
}

}  // namespace alate::xla
