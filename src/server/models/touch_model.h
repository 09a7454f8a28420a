// How long a model stays after a request.
#pragma once

#include <chrono>
#include <optional>

#include "server/exchange/exchange.h"
#include "server/models/model_host.h"

namespace alate::server {

/// Postpones the model's unloading; `keep_alive` is what the request asks for, as ModelHost::touch takes it. A shorter
/// time than the model has counts only from those who may unload it (Exchange::may_unload): for others it is ignored,
/// and the answer's header X-Keep-Alive-Ignored says so. For the thread working on the request.
void touch_model(Exchange& exchange, ModelHost& models, const HostedModel& model,
                 std::optional<std::chrono::nanoseconds> keep_alive);

}  // namespace alate::server
