// How much text clients may have written: tokens that wait, and requests and tokens a minute.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/threads/mutex.h"
#include "server/exchange/client_id.h"
#include "server/exchange/exchange.h"
#include "server/settings/settings.h"

namespace alate::server {

/// 0: no limit.
struct QuotaLimits {
  std::size_t requests_a_minute = 0, tokens_a_minute = 0;  // of one client
  std::size_t waiting_tokens = 0, client_waiting_tokens = 0;
};
QuotaLimits quota_limits(const Settings& settings);

/// Thread-safe. A client that has used up its minute gets it back bit by bit, as a bucket fills.
class TokenQuota {
 public:
  explicit TokenQuota(const QuotaLimits& limits) : limits_(limits) {}

  /// Counts a request. Throws RequestError, overloaded and when to come back, for a client that has sent as many as it
  /// may.
  void count_request(const ClientId& client, Clock::time_point now);
  /// Counts the tokens of a request's prompts; throws as count_request, and too_large where the client may never have
  /// so many.
  void count_prompts(const ClientId& client, std::size_t tokens, Clock::time_point now);
  /// Counts tokens that were written.
  void count_written(const ClientId& client, std::size_t tokens, Clock::time_point now);
  /// Where the client stands, in the headers of OpenAI's answers; none without limits.
  std::vector<Headers::Entry> headers(const ClientId& client, Clock::time_point now) const;

  /// Tokens of prompts that wait or are worked on until the result goes. Throws RequestError, overloaded, where there
  /// is no room for them, and too_large where there never is. The quota must outlive it.
  std::shared_ptr<void> hold_prompts(const ClientId& client, std::size_t tokens);

 private:
  struct Used {
    double requests = 0, tokens = 0;  // of the last minute
    Clock::time_point since = {};     // when they were so many
    std::size_t waiting = 0;          // tokens
  };

  Used at(const ClientId& client, Clock::time_point now) const;
  Used& used(const ClientId& client, Clock::time_point now);
  void release(const ClientId& client, std::size_t tokens) noexcept;

  const QuotaLimits limits_;
  mutable base::Mutex mutex_;
  std::map<ClientId, Used> clients_;
  std::size_t waiting_ = 0;
  std::size_t sweep_at_ = 64;  // clients
};

}  // namespace alate::server
