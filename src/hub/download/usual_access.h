// The server that a pull's options and a reference mean, and who asks it.
#pragma once

#include <string>

#include "alate/hub.h"
#include "hub/download/hub_access.h"

namespace alate::hub {

/// `endpoint` is a reference's own; empty: that of the options, else the environment's. The token of the options, else
/// of the environment, is for the usual endpoint, and not for a server that a reference names. Throws as HubAccess.
HubAccess access_for(const std::string& endpoint, const PullOptions& options);

/// Of a registry, without a token.
HubAccess registry_access_for(const std::string& registry, const PullOptions& options);

/// Whether the options, else the environment, forbid the network.
bool is_offline(const PullOptions& options);

}  // namespace alate::hub
