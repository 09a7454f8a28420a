// Environment variables that look like this program's but are mistyped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace alate::app {

/// Every variable that the program reads: those of all verbs' options and of the configuration's keys, and its own.
std::vector<std::string> known_variables();

/// Those of `names` that begin with ALATE_ and that nothing reads: neither the program, nor its tests and tools, nor
/// Kubernetes, which sets variables for a service called alate. Sorted.
std::vector<std::string> unknown_variables(std::vector<std::string> names);

/// Logs one warning if the environment has such variables, with the nearest known name of each.
void warn_of_unknown_variables();

}  // namespace alate::app
