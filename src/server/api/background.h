// Background work of routes that would block the transport's thread: reading disks, large texts.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "server/exchange/route.h"
#include "server/models/model_host.h"

namespace alate::server {

/// Goes on with a request on the services' work queue, unless it has been abandoned by then; exceptions get the format
/// of the call's family.
void go_on_in_background(const Call& call, std::function<void()> work);

/// Answers with the result of `work`, as `go_on_in_background`.
void answer_in_background(const Call& call, std::function<Response()> work);

/// The same once the model is loaded; an empty name is the default model. The answer carries the model's fingerprint.
/// `keep_alive` is as in touch_model.
void answer_with_model(const Call& call, std::string_view model, std::function<Response(const HostedModel& model)> work,
                       std::optional<std::chrono::nanoseconds> keep_alive = {});

/// Goes on with the call on the work queue once the model is loaded, where what is done depends on what the model is
/// for. `go_on` may throw like a route's handler, which it is in place of. `purpose` is as in ModelHost::acquire.
void go_on_with_model(const Call& call, std::string_view model,
                      std::function<void(Call& call, const HostedModel& model)> go_on,
                      const ModelPurpose& purpose = {});

}  // namespace alate::server
