// Derives model loading and batching options from the settings.
#pragma once

#include <string>

#include "runtime/batching/batch_scheduler.h"
#include "server/models/model_loading.h"
#include "server/settings/settings.h"

namespace alate::server {

/// Throws if backend_priority or policy are invalid, as machine::select: impossible settings are reported before
/// anything is served.
HostingOptions hosting_options(const Settings& settings, runtime::BatchObserver observer);

/// Options for a request that names a backend, NAME:INDEX: only that one may be used. Empty: unchanged.
HostingOptions on_backend(HostingOptions options, const std::string& backend);

}  // namespace alate::server
