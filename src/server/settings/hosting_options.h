// From the settings to how models are loaded and batched.
#pragma once

#include <string>

#include "runtime/batching/batch_scheduler.h"
#include "server/models/model_loading.h"
#include "server/settings/settings.h"

namespace alate::server {

/// Throws what is wrong with backend_priority and policy, as machine::select: what can never work is said before
/// anything is served.
HostingOptions hosting_options(const Settings& settings, runtime::BatchObserver observer);

/// For a request that names a backend, NAME:INDEX: it gets that one or an error. Empty: as they are.
HostingOptions on_backend(HostingOptions options, const std::string& backend);

}  // namespace alate::server
