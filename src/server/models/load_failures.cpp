#include "server/models/load_failures.h"

#include <algorithm>
#include <mutex>

namespace alate::server {
namespace {

constexpr std::size_t kMostKept = 1000;

}  // namespace

void LoadFailures::add(const std::string& key, const std::string& digest, const Error& error, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto found = failures_.find(key);
  const bool is_again = found != failures_.end() && found->second.digest == digest;
  const std::chrono::seconds pause = is_again ? std::min(2 * found->second.pause, kLongest) : kFirst;
  if (failures_.size() >= kMostKept && found == failures_.end()) failures_.clear();
  failures_.insert_or_assign(key, Failure{.digest = digest, .error = error, .until = now + pause, .pause = pause});
}

void LoadFailures::remove(const std::string& key) {
  const std::lock_guard lock(mutex_);
  failures_.erase(key);
}

void LoadFailures::check(const std::string& key, const std::string& digest, Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  const auto found = failures_.find(key);
  if (found == failures_.end() || found->second.digest != digest || found->second.until <= now) return;
  const auto left = std::chrono::ceil<std::chrono::seconds>(found->second.until - now);
  throw make_error(found->second.error.code(), found->second.error.message(), " (found before; tried again in ",
                   left.count(), " s, or when its files change)");
}

}  // namespace alate::server
