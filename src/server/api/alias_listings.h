// Aliases of the settings, for listings of models.
#pragma once

#include <string_view>
#include <vector>

#include "server/models/services.h"

namespace alate::server {

/// A listing for each alias, under its name, with the facts of the model that it stands for. Leaves out those whose
/// model has gone. Reads folders.
std::vector<ModelListing> alias_listings(const Services& services);

/// As ModelHost::describe, but an alias keeps its name.
ModelListing describe_by_name(const Services& services, std::string_view name);

}  // namespace alate::server
