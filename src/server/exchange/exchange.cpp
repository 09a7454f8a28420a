#include "server/exchange/exchange.h"

#include <array>
#include <cstdio>
#include <exception>
#include <utility>

#include "base/log.h"

namespace alate::server {
namespace {

// Durations in milliseconds, as specified by https://www.w3.org/TR/server-timing/.
std::string server_timing(const StageTimes& stages) {
  const auto milliseconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  std::array<char, 128> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "queue;dur=%.3f, tokenize;dur=%.3f, compute;dur=%.3f",
                    milliseconds(stages.queue), milliseconds(stages.tokenize), milliseconds(stages.compute));
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

Exchange::Exchange(Request request, std::string id, Clock::time_point deadline, std::function<void(Response)> send)
    : request_(std::move(request)), id_(std::move(id)), deadline_(deadline), send_(std::move(send)) {}

void Exchange::release_body() { std::string().swap(request_.body); }

void Exchange::reply(Response response) { answer(std::move(response), false); }

AnswerWriter Exchange::begin(Response head) {
  AnswerEnds ends = make_answer_stream();
  head.stream = std::move(ends.reader);
  answer(std::move(head), true);
  return std::move(ends.writer);
}

void Exchange::answer(Response response, bool streams) {
  std::function<void(Response)> send;
  std::function<void(int)> end;
  std::vector<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mutex_);
    send.swap(send_);
    end.swap(end_);
    if (send && streams) {
      streams_ = true;
    } else if (!streams_) {
      dropped.swap(hooks_);  // may hold much memory; released without the lock
    }
  }
  if (!send) return;
  if (end) end(response.status);
  if (stages.computed) response.headers.set("Server-Timing", server_timing(stages));
  for (auto& [name, value] : answer_headers) response.headers.add(std::move(name), std::move(value));
  send(std::move(response));
}

void Exchange::hold(std::shared_ptr<void> place) {
  const std::lock_guard lock(mutex_);
  // The argument, and with it anything not kept, outlives the lock.
  if (!finished_ && !abandoned_) place_.swap(place);
}

void Exchange::finish() noexcept {
  std::shared_ptr<void> left;
  std::vector<std::function<void()>> dropped;
  const std::lock_guard lock(mutex_);
  finished_ = true;
  streams_ = false;
  left.swap(place_);
  dropped.swap(hooks_);
}

void Exchange::abandon() {
  std::function<void(Response)> send;
  std::function<void(int)> end;
  std::vector<std::function<void()>> hooks;
  std::shared_ptr<void> left;
  {
    const std::lock_guard lock(mutex_);
    if (!send_ && !std::exchange(streams_, false)) return;  // already answered or abandoned
    send.swap(send_);
    end.swap(end_);
    hooks.swap(hooks_);
    left.swap(place_);
    abandoned_ = true;
  }
  if (end) end(0);
  for (const auto& hook : hooks) {
    try {
      hook();
    } catch (const std::exception& error) {
      // Continue: the other hooks release resources too.
      base::log(base::LogLevel::error, "abandoning a request failed", {{"id", id_}, {"reason", error.what()}});
    }
  }
}

void Exchange::on_end(std::function<void(int status)> hook) {
  const std::lock_guard lock(mutex_);
  if (send_) end_.swap(hook);  // the earlier one is released without the lock
}

void Exchange::on_abandon(std::function<void()> hook) {
  {
    const std::lock_guard lock(mutex_);
    if (!abandoned_) {
      if (send_ || streams_) hooks_.push_back(std::move(hook));
      return;
    }
  }
  hook();
}

}  // namespace alate::server
