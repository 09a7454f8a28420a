// Derives model loading and batching options from the settings.
#pragma once

#include <string>

#include "runtime/batching/batch_scheduler.h"
#include "server/models/model_loading.h"
#include "server/settings/settings.h"

namespace alate::server {

/// How models are loaded. Throws unsupported for a dtype that this version lacks.
runtime::LoadRequest load_request(const Settings& settings);

/// Throws if backend_priority or policy are invalid, as machine::select: impossible settings are reported before
/// anything is served.
HostingOptions hosting_options(const Settings& settings, runtime::BatchObserver observer);

/// Whether the client itself named the backend.
bool is_named_by_request(const machine::ChoiceOrigin& origin);

/// Options for a request that names a backend, NAME:INDEX: only that one may be used. Empty: unchanged.
HostingOptions on_backend(HostingOptions options, const std::string& backend);

}  // namespace alate::server
