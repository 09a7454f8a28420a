// Third-party backends behind Alate's interface; see include/alate/backend_abi.h.
#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/plugin/plugin_search.h"

namespace alate::plugin {

/// Opens nothing yet: the library is opened at first use.
std::unique_ptr<backends::Backend> make_backend(const FoundPlugin& plugin);

/// The library's aliases; opens it. Empty when it cannot be opened.
std::vector<std::string> aliases_of(const FoundPlugin& plugin);

}  // namespace alate::plugin
