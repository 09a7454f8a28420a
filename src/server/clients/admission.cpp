#include "server/clients/admission.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.h"
#include "server/exchange/client_account.h"

namespace alate::server {

// Created before it is needed, so that nothing can fail between taking a slot and owning it.
class Admission::Place {
 public:
  Place(Admission& admission, const ClientId& client) : admission_(admission), client_(client) {}
  ~Place() {
    if (taken_) admission_.leave(client_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  // REQUIRES: the admission's lock is held.
  void take(Client& client) {
    ++admission_.running_;
    ++client.running;
    taken_ = true;
  }

 private:
  Admission& admission_;
  const ClientId client_;
  bool taken_ = false;
};

Admission::Admission(std::size_t max_running, std::size_t max_waiting, std::size_t client_percent, WorkQueue& work)
    : max_running_(std::max<std::size_t>(max_running, 1)),
      max_waiting_(max_waiting),
      client_running_(client_share(max_running_, client_percent, 1)),
      client_waiting_(client_share(max_waiting, client_percent, 1)),
      work_(work) {}

bool Admission::may_begin(const Client& client, const Exchange& exchange) const {
  return running_ < max_running_ && client.running < client_running_ &&
         (exchange.account == nullptr || exchange.account->may_begin());
}

bool Admission::enter(const std::shared_ptr<Exchange>& exchange, Go go) {
  auto place = std::make_shared<Place>(*this, exchange->client_id);
  std::list<Waiter> displaced;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto client = clients_.try_emplace(exchange->client_id).first;
    if (client->second.waiters.empty() && may_begin(client->second, *exchange)) {
      place->take(client->second);
      last_client_ = client->first;
      lock.unlock();
      exchange->hold(std::move(place));
      go(Outcome::begins);
      return true;
    }
    const bool full = waiting_ >= max_waiting_;
    if (full) displaced = displace_for(client->second);
    if (client->second.waiters.size() >= client_waiting_ || (full && displaced.empty())) {
      if (client->second.running == 0 && client->second.waiters.empty()) clients_.erase(client);
      return false;
    }
    client->second.waiters.push_back({exchange, std::move(go), Clock::now(), std::move(place)});
    ++waiting_;
    begin_waiters(lock);
  }
  for (const Waiter& each : displaced) each.go(Outcome::displaced);
  exchange->on_abandon([this, waits = exchange.get()] { forget(*waits); });
  return true;
}

// Removes the last waiter of the client with the most waiters; none if that would be no fairer.
std::list<Admission::Waiter> Admission::displace_for(const Client& client) {
  std::list<Waiter> displaced;
  if (client.waiters.size() >= client_waiting_) return displaced;
  const auto most = std::ranges::max_element(
      clients_, {}, [](const Clients::value_type& entry) { return entry.second.waiters.size(); });
  std::list<Waiter>& waiters = most->second.waiters;
  if (waiters.size() <= client.waiters.size() + 1) return displaced;
  displaced.splice(displaced.end(), waiters, std::prev(waiters.end()));
  --waiting_;
  return displaced;
}

void Admission::forget(const Exchange& exchange) {
  std::list<Waiter> forgotten;  // released without the lock
  const std::lock_guard lock(mutex_);
  const auto client = clients_.find(exchange.client_id);
  if (client == clients_.end()) return;
  std::list<Waiter>& waiters = client->second.waiters;
  const auto found = std::ranges::find(waiters, &exchange, [](const Waiter& waiter) { return waiter.exchange.get(); });
  if (found == waiters.end()) return;
  forgotten.splice(forgotten.end(), waiters, found);
  --waiting_;
  if (client->second.running == 0 && waiters.empty()) clients_.erase(client);
}

void Admission::leave(const ClientId& id) noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  --running_;
  const auto client = clients_.find(id);
  --client->second.running;
  if (client->second.running == 0 && client->second.waiters.empty()) clients_.erase(client);
  begin_waiters(lock);
}

void Admission::wake() {
  std::unique_lock<std::mutex> lock(mutex_);
  begin_waiters(lock);
}

// Runs on one thread at a time: other threads only release their slots, which this loop then sees. A request that is
// handed over can thus release its slot immediately without recursion.
void Admission::begin_waiters(std::unique_lock<std::mutex>& lock) noexcept {
  if (std::exchange(beginning_, true)) return;
  for (std::list<Waiter> next = next_waiter(); !next.empty(); next = next_waiter()) {
    lock.unlock();
    hand_over(next.front());
    next.clear();
    lock.lock();
  }
  beginning_ = false;
}

// Round-robin: the next waiter of the client after the one served last, in order of client ids.
std::list<Admission::Waiter> Admission::next_waiter() {
  std::list<Waiter> next;
  if (waiting_ == 0 || running_ >= max_running_) return next;
  auto client = clients_.upper_bound(last_client_);
  for (std::size_t i = 0; i < clients_.size(); ++i, ++client) {
    if (client == clients_.end()) client = clients_.begin();
    std::list<Waiter>& waiters = client->second.waiters;
    if (waiters.empty() || !may_begin(client->second, *waiters.front().exchange)) continue;
    waiters.front().place->take(client->second);
    next.splice(next.end(), waiters, waiters.begin());
    --waiting_;
    last_client_ = client->first;
    return next;
  }
  return next;
}

void Admission::hand_over(Waiter& waiter) noexcept {
  try {
    waiter.exchange->stages.queue += Clock::now() - waiter.since;
    work_.push(waiter.exchange, [next = waiter]() mutable {
      next.exchange->hold(std::move(next.place));
      next.go(Outcome::begins);
    });
  } catch (const std::exception&) {
    // There is not enough memory to begin it, but perhaps enough to say so; otherwise it times out.
    try {
      waiter.go(Outcome::displaced);
    } catch (const std::exception& error) {
      base::log(base::LogLevel::error, "a request that waited is dropped", {{"reason", error.what()}});
    }
  }
}

Admission::Counts Admission::counts() const {
  const std::lock_guard lock(mutex_);
  return {running_, waiting_};
}

}  // namespace alate::server
