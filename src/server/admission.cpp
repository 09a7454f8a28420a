#include "server/admission.h"

#include <algorithm>
#include <utility>

namespace alate::server {

Admission::Admission(std::size_t max_running, std::size_t max_waiting, WorkQueue& work)
    : max_running_(std::max<std::size_t>(max_running, 1)), max_waiting_(max_waiting), work_(work) {}

std::shared_ptr<void> Admission::make_place() {
  return {static_cast<void*>(this), [this](void*) { leave(); }};
}

bool Admission::enter(const std::shared_ptr<Exchange>& exchange, std::function<void()> go) {
  {
    std::unique_lock lock(mutex_);
    if (running_ < max_running_) {
      ++running_;
      lock.unlock();
      exchange->hold(make_place());
      go();
      return true;
    }
    if (waiting_ >= max_waiting_) return false;
    ++waiting_;
    waiters_[exchange->client].push_back({exchange, std::move(go), Clock::now()});
  }
  exchange->on_abandon([this, waits = exchange.get()] { forget(waits); });
  return true;
}

void Admission::forget(const Exchange* exchange) {
  Waiter forgotten;  // let go of without the lock
  const std::lock_guard lock(mutex_);
  for (auto client = waiters_.begin(); client != waiters_.end(); ++client) {
    auto& queue = client->second;
    const auto found = std::ranges::find(queue, exchange, [](const Waiter& waiter) { return waiter.exchange.get(); });
    if (found == queue.end()) continue;
    forgotten = std::move(*found);
    queue.erase(found);
    --waiting_;
    if (queue.empty()) waiters_.erase(client);
    return;
  }
}

void Admission::leave() {
  Waiter next;
  {
    const std::lock_guard lock(mutex_);
    if (waiters_.empty()) {
      --running_;
      return;
    }
    // The place goes to the next client in order after the one that was served last.
    auto client = waiters_.upper_bound(last_client_);
    if (client == waiters_.end()) client = waiters_.begin();
    last_client_ = client->first;
    next = std::move(client->second.front());
    client->second.pop_front();
    if (client->second.empty()) waiters_.erase(client);
    --waiting_;
  }
  work_.push([place = make_place(), next = std::move(next)]() mutable {
    if (next.exchange->abandoned()) return;
    next.exchange->stages.queue += Clock::now() - next.since;
    next.exchange->hold(std::move(place));
    next.go();
  });
}

Admission::Counts Admission::counts() const {
  const std::lock_guard lock(mutex_);
  return {running_, waiting_};
}

}  // namespace alate::server
