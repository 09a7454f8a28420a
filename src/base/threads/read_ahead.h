// Items that are made on a thread of their own while the caller uses the ones before.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/threads/mutex.h"

namespace alate::base {

/// At most one item waits for the caller, and the next is begun when it has been taken. One thread at a time.
template <typename Item>
class ReadAhead {
 public:
  /// Gives the next item, nothing at the end. Runs on the other thread. It should return soon, with anything, once a
  /// stop is requested: the destructor waits for it.
  using Make = std::function<std::optional<Item>(const std::stop_token& stop)>;

  explicit ReadAhead(Make make)
      : make_(std::move(make)), thread_([this](const std::stop_token& stop) { work(stop); }) {}
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// The next item, nothing after the last, and nothing if `stop` is requested while it waits for one. Throws what
  /// making it has thrown, once all items before have been taken; after that there are no more.
  std::optional<Item> next(const std::stop_token& stop = {}) {
    std::unique_lock<Mutex> lock(mutex_);
    changed_.wait(lock, stop, [this] { return item_ || has_ended_; });
    if (!item_) {
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      return std::nullopt;
    }
    std::optional<Item> item = std::exchange(item_, std::nullopt);
    changed_.notify_all();
    return item;
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock<Mutex> lock(mutex_);
    for (;;) {
      if (!changed_.wait(lock, stop, [this] { return !item_; }) || stop.stop_requested()) return;
      lock.unlock();
      std::optional<Item> made;
      std::exception_ptr error;
      try {
        made = make_(stop);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      item_ = std::move(made);
      error_ = error;
      has_ended_ = !item_;
      changed_.notify_all();
      if (has_ended_) return;
    }
  }

  Make make_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Item> item_;
  std::exception_ptr error_;
  bool has_ended_ = false;
  std::jthread thread_;  // last: it is stopped before the rest goes
};

}  // namespace alate::base
