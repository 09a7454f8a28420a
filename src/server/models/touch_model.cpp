#include "server/models/touch_model.h"

#include <algorithm>
#include <string_view>

namespace alate::server {

void touch_model(Exchange& exchange, ModelHost& models, const HostedModel& model,
                 std::optional<std::chrono::nanoseconds> keep_alive) {
  if (!keep_alive || exchange.may_unload) return models.touch(model, keep_alive);
  if (models.lengthen(model, *keep_alive)) return;
  // A request may touch several models, and each of them more than once.
  constexpr std::string_view kIgnored = "X-Keep-Alive-Ignored";
  auto& headers = exchange.answer_headers;
  if (std::ranges::find(headers, kIgnored, &Headers::Entry::first) == headers.end())
    headers.emplace_back(kIgnored, "only administrators may have a model unloaded earlier");
}

}  // namespace alate::server
