// alate/hub.h's pull_model for a model of a registry.
#pragma once

#include <string_view>

#include "alate/hub.h"

namespace alate::hub {

/// REQUIRES: is_registry_reference(reference, options.registry). Throws as pull_model.
PulledModel pull_from_registry(std::string_view reference, const PullOptions& options);

}  // namespace alate::hub
