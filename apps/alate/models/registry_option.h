// --registry, of the verbs that look for models elsewhere.
#pragma once

#include <string>

#include "apps/alate/arguments.h"

namespace alate::app {

inline void declare_registry(Arguments& arguments, std::string& registry) {
  arguments.option("--registry", "URL",
                   "a registry of Termite's, such as https://registry.antfly.io/v1, in place of the hub", registry);
}

}  // namespace alate::app
