// alate list --remote
#pragma once

#include <string>

#include "alate/hub.h"
#include "apps/alate/common_options.h"

namespace alate::app {

struct RemoteList {
  ModelSearchOptions search = {};
  OutputFormat format = OutputFormat::text;
};

/// The models that search_models finds, in the format; the log says what was left out. Throws as
/// search_models.
std::string list_remote(const RemoteList& list);

}  // namespace alate::app
