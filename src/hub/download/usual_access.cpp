#include "hub/download/usual_access.h"

#include <utility>

namespace alate::hub {
namespace {

RetryPolicy retries_of(const PullOptions& options) {
  return {.first_delay = options.retry_delay, .longest_delay = 30 * options.retry_delay};
}

}  // namespace

HubAccess access_for(const std::string& endpoint, const PullOptions& options) {
  const std::string usual = options.endpoint.empty() ? hub_endpoint() : options.endpoint;
  const std::string& asked = endpoint.empty() ? usual : endpoint;
  const bool is_usual = parse_http_url(asked).has_origin_of(parse_http_url(usual));
  std::string token = options.token ? *options.token : hub_token();
  if (!is_usual) token.clear();
  return {asked, std::move(token), options.timeout, retries_of(options), options.stop};
}

HubAccess registry_access_for(const std::string& registry, const PullOptions& options) {
  return HubAccess(registry, "", options.timeout, retries_of(options), options.stop).of_registry();
}

bool is_offline(const PullOptions& options) { return options.offline.value_or(is_hub_offline()); }

}  // namespace alate::hub
