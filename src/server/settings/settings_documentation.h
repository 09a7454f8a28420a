// Generates docs/configuration.md from the settings table.
#pragma once

#include <string>

namespace alate::server {

/// The whole file. A test compares it with the one in docs.
std::string settings_documentation();

}  // namespace alate::server
