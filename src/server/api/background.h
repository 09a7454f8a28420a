// Work of routes that would hold up the transport's thread: reading disks, large texts.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "server/models/model_host.h"
#include "server/route.h"

namespace alate::server {

/// Answers with what `work` returns on the services' work queue; what it throws gets the shape of the call's family.
/// Does nothing for a request that has been abandoned by then.
void answer_in_background(const Call& call, std::function<Response()> work);

/// The same once the model is there; an empty name is the default one. The answer names the model's fingerprint.
void answer_with_model(const Call& call, std::string_view model,
                       std::function<Response(const HostedModel& model)> work);

}  // namespace alate::server
