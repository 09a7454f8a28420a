#include "server/exchange/work_queue.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/log.h"

namespace alate::server {

WorkQueue::WorkQueue(std::size_t threads, WorkObserver observer)
    : thread_count_(std::max<std::size_t>(threads, 1)), observer_(std::move(observer)) {
  threads_.reserve(thread_count_);
  running_.resize(thread_count_);
  try {
    for (std::size_t i = 0; i < thread_count_; ++i) threads_.emplace_back([this, i] { serve(i); });
  } catch (const std::system_error& error) {
    stop();
    throw make_error(ErrorCode::resource_exhausted, "cannot start ", thread_count_,
                     " threads; allow this process more of them")
        .with_cause(error);
  }
}

WorkQueue::~WorkQueue() { stop(); }

void WorkQueue::stop() {
  std::vector<std::map<std::uint64_t, Work>> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (auto& [owner, client] : clients_) dropped.push_back(std::exchange(client.waiting, {}));
  }
  ready_.notify_all();
  dropped.clear();  // without the lock: destroying the work may run arbitrary code
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WorkQueue::push(const std::optional<ClientId>& client, std::function<void()> work) {
  enter(client, {std::move(work), nullptr, Clock::now()});
}

void WorkQueue::push(const std::shared_ptr<Exchange>& exchange, std::function<void()> work) {
  const Owner owner = exchange->client_id;
  const std::uint64_t number = enter(owner, {std::move(work), exchange, Clock::now()});
  if (number > 0) exchange->on_abandon([this, owner, number] { forget(owner, number); });
}

// The work's number; 0 where it is dropped.
std::uint64_t WorkQueue::enter(const Owner& owner, Work work) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return 0;
  clients_[owner].waiting.emplace(++last_number_, std::move(work));
  // Notify under the lock: the answer to this work may cause another thread to destroy the queue before this one
  // returns.
  ready_.notify_one();
  return last_number_;
}

void WorkQueue::forget(const Owner& owner, std::uint64_t number) {
  std::map<std::uint64_t, Work>::node_type forgotten;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    const auto client = clients_.find(owner);
    if (client == clients_.end()) return;
    const auto running = std::ranges::find(running_, number, &Running::number);
    if (running != running_.end()) running->due = Clock::now();
    forgotten = client->second.waiting.extract(number);
    if (client->second.waiting.empty() && client->second.running == 0) clients_.erase(client);
  }
  if (forgotten && observer_.dropped) observer_.dropped();
}

std::chrono::nanoseconds WorkQueue::longest_wait() const {
  const std::lock_guard lock(mutex_);
  Clock::duration longest{};
  for (const auto& [owner, client] : clients_) {
    if ((!owner || client.running == 0) && !client.waiting.empty())
      longest = std::max(longest, Clock::now() - client.waiting.begin()->second.since);
  }
  return longest;
}

std::chrono::nanoseconds WorkQueue::longest_run() const {
  const std::lock_guard lock(mutex_);
  Clock::duration longest{};
  for (const Running& each : running_) {
    if (each.due) longest = std::max(longest, Clock::now() - *each.due);
  }
  return longest;
}

WorkQueue::Counts WorkQueue::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts;
  for (const auto& [owner, client] : clients_) {
    counts.running += client.running;
    counts.waiting += client.waiting.size();
  }
  return counts;
}

bool WorkQueue::may_run(const Clients::value_type& client) const {
  const std::size_t most = client.first && thread_count_ > 1 ? thread_count_ - 1 : thread_count_;
  return !client.second.waiting.empty() && client.second.running < most;
}

// Round-robin: the first that may run behind the one served last. Few are passed over, since these have work that runs.
WorkQueue::Clients::iterator WorkQueue::next_client() {
  const auto is_next = [this](const Clients::value_type& client) { return may_run(client); };
  const auto behind = clients_.upper_bound(last_owner_);
  const auto found = std::find_if(behind, clients_.end(), is_next);
  if (found != clients_.end()) return found;
  const auto other = std::find_if(clients_.begin(), behind, is_next);
  return other == behind ? clients_.end() : other;
}

void WorkQueue::serve(std::size_t thread) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    Clients::iterator client;
    ready_.wait(lock, [&] { return (client = next_client()) != clients_.end() || stopping_; });
    if (client == clients_.end()) return;
    const Owner owner = last_owner_ = client->first;
    // Moved into this block, so that anything the work holds is released before the next wait.
    auto first = client->second.waiting.extract(client->second.waiting.begin());
    Work work = std::move(first.mapped());
    ++client->second.running;
    running_[thread] = {.number = first.key()};
    if (work.exchange == nullptr) running_[thread].due = Clock::now();
    lock.unlock();
    run(work);
    work = {};
    lock.lock();
    running_[thread] = {};
    client = clients_.find(owner);
    if (--client->second.running == 0 && client->second.waiting.empty()) clients_.erase(client);
  }
}

void WorkQueue::run(Work& work) const {
  try {
    if (!work.is_wanted()) {
      if (observer_.dropped) observer_.dropped();
      return;
    }
    const auto waited = Clock::now() - work.since;
    if (work.exchange != nullptr) work.exchange->stages.queue += waited;
    if (observer_.taken) observer_.taken(waited);
    work.run();
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, "work of the server failed", {{"reason", error.what()}});
  }
}

}  // namespace alate::server
