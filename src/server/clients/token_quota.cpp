#include "server/clients/token_quota.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>
#include <utility>

#include "server/exchange/client_account.h"
#include "server/exchange/family.h"
#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

constexpr double kSecondsAMinute = 60;

// The seconds in which so much of a minute's share comes back.
double seconds_for(double amount, std::size_t a_minute) {
  return std::max(amount, 0.0) * kSecondsAMinute / static_cast<double>(a_minute);
}

[[noreturn]] void refuse_for_now(std::string what, std::size_t limit, double seconds) {
  Problem problem;
  problem.kind = Problem::Kind::overloaded;
  problem.retry_after = static_cast<int>(std::min(std::ceil(std::max(seconds, 1.0)), kSecondsAMinute));
  problem.message = "this client may have " + std::to_string(limit) + " " + std::move(what) +
                    " a minute, and has had them: try again in " + std::to_string(*problem.retry_after) + " s";
  throw RequestError(std::move(problem));
}

void add_headers(std::vector<Headers::Entry>& headers, const std::string& what, std::size_t limit, double used) {
  if (limit == 0) return;
  const double left = std::max(static_cast<double>(limit) - used, 0.0);
  headers.emplace_back("x-ratelimit-limit-" + what, std::to_string(limit));
  headers.emplace_back("x-ratelimit-remaining-" + what, std::to_string(static_cast<std::size_t>(left)));
  const auto reset = static_cast<std::size_t>(std::ceil(seconds_for(used, limit)));
  headers.emplace_back("x-ratelimit-reset-" + what, std::to_string(reset) + "s");
}

}  // namespace

QuotaLimits quota_limits(const Settings& settings) {
  const std::size_t all = settings.generation_max_queue_tokens;
  return {.requests_a_minute = settings.max_requests_per_minute,
          .tokens_a_minute = settings.max_tokens_per_minute,
          .waiting_tokens = all,
          .client_waiting_tokens = client_share(all, settings.max_client_percent, 1)};
}

// What is left of what the client has used.
TokenQuota::Used TokenQuota::at(const ClientId& client, Clock::time_point now) const {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return {.since = now};
  Used used = found->second;
  const double seconds = std::max(std::chrono::duration<double>(now - used.since).count(), 0.0);
  const auto less = [&](double amount, std::size_t a_minute) {
    return std::max(amount - seconds * static_cast<double>(a_minute) / kSecondsAMinute, 0.0);
  };
  used.requests = less(used.requests, limits_.requests_a_minute);
  used.tokens = less(used.tokens, limits_.tokens_a_minute);
  used.since = now;
  return used;
}

// REQUIRES: the lock. Clients that have used nothing for a minute are forgotten now and then.
TokenQuota::Used& TokenQuota::used(const ClientId& client, Clock::time_point now) {
  if (clients_.size() >= sweep_at_) {
    std::erase_if(clients_, [&](const auto& each) {
      const Used left = at(each.first, now);
      return left.requests == 0 && left.tokens == 0 && left.waiting == 0;
    });
    sweep_at_ = std::max<std::size_t>(64, 2 * clients_.size());
  }
  const Used left = at(client, now);
  return clients_.insert_or_assign(client, left).first->second;
}

void TokenQuota::count_request(const ClientId& client, Clock::time_point now) {
  if (limits_.requests_a_minute == 0) return;
  const std::lock_guard lock(mutex_);
  Used& so_far = used(client, now);
  const double over = so_far.requests + 1 - static_cast<double>(limits_.requests_a_minute);
  if (over > 0)
    refuse_for_now("requests for texts", limits_.requests_a_minute, seconds_for(over, limits_.requests_a_minute));
  ++so_far.requests;
}

void TokenQuota::count_prompts(const ClientId& client, std::size_t tokens, Clock::time_point now) {
  if (limits_.tokens_a_minute == 0) return;
  if (tokens > limits_.tokens_a_minute)
    refuse(Problem::Kind::too_large,
           "the request has " + std::to_string(tokens) + " tokens, and this client may have " +
               std::to_string(limits_.tokens_a_minute) + " a minute (max_tokens_per_minute): send less at a time");
  const std::lock_guard lock(mutex_);
  Used& so_far = used(client, now);
  const auto count = static_cast<double>(tokens);
  const double over = so_far.tokens + count - static_cast<double>(limits_.tokens_a_minute);
  if (over > 0) refuse_for_now("tokens", limits_.tokens_a_minute, seconds_for(over, limits_.tokens_a_minute));
  so_far.tokens += count;
}

void TokenQuota::count_written(const ClientId& client, std::size_t tokens, Clock::time_point now) {
  if (limits_.tokens_a_minute == 0) return;
  const std::lock_guard lock(mutex_);
  used(client, now).tokens += static_cast<double>(tokens);
}

std::vector<Headers::Entry> TokenQuota::headers(const ClientId& client, Clock::time_point now) const {
  std::vector<Headers::Entry> headers;
  if (limits_.requests_a_minute == 0 && limits_.tokens_a_minute == 0) return headers;
  const std::lock_guard lock(mutex_);
  const Used left = at(client, now);
  add_headers(headers, "requests", limits_.requests_a_minute, left.requests);
  add_headers(headers, "tokens", limits_.tokens_a_minute, left.tokens);
  return headers;
}

std::shared_ptr<void> TokenQuota::hold_prompts(const ClientId& client, std::size_t tokens) {
  if (limits_.waiting_tokens == 0) return nullptr;
  if (tokens > limits_.client_waiting_tokens)
    refuse(Problem::Kind::too_large, "the request has " + std::to_string(tokens) +
                                         " tokens of prompts, and one client may have " +
                                         std::to_string(limits_.client_waiting_tokens) +
                                         " that wait (generation.max_queue_tokens, max_client_percent): send several");
  // Made before the tokens are counted, so that they are always given back.
  struct Hold {
    TokenQuota* quota = nullptr;
    ClientId client = {};
    std::size_t tokens = 0;
    Hold() = default;
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() {
      if (quota != nullptr) quota->release(client, tokens);
    }
  };
  const auto hold = std::make_shared<Hold>();
  const std::lock_guard lock(mutex_);
  Used& so_far = used(client, Clock::now());
  if (so_far.waiting + tokens > limits_.client_waiting_tokens || waiting_ + tokens > limits_.waiting_tokens)
    refuse(Problem::Kind::overloaded,
           "as many tokens of prompts wait as may (generation.max_queue_tokens, max_client_percent): try again in a "
           "moment");
  so_far.waiting += tokens;
  waiting_ += tokens;
  hold->client = client;
  hold->tokens = tokens;
  hold->quota = this;
  return hold;
}

void TokenQuota::release(const ClientId& client, std::size_t tokens) noexcept {
  const std::lock_guard lock(mutex_);
  waiting_ -= tokens;
  clients_.find(client)->second.waiting -= tokens;
}

}  // namespace alate::server
