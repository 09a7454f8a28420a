// The modules that modules.json lists, with those of a Router: chains of modules, one of which a text goes through.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"

namespace alate::pipelines {

struct ListedModule {
  std::string type;              // the last part of its class's dotted name
  std::filesystem::path folder;  // of its files
};

/// Which route texts take, as sentence-transformers' Router decides.
struct RouteTable {
  std::vector<std::string> names;                         // in the file's order; empty without a Router
  std::map<std::string, std::string, std::less<>> tasks;  // routes by task, from route_mappings
  std::string any_task;                                   // from route_mappings; empty: none
  std::string otherwise;                                  // where no task is given; empty: none

  /// Whether a route is for this task by name.
  bool knows(std::string_view task) const;
  /// Whether texts without a task have a route.
  bool has_default() const;
  /// The place in `names`. Throws invalid_argument for a task without a route, and without a task where none is the
  /// default.
  std::size_t place_of(std::string_view task) const;
};

/// modules.json with the Router, if there is one, replaced by each of its chains.
struct ModuleList {
  RouteTable routes;
  std::vector<std::vector<ListedModule>> chains;  // of each route; one without a Router
};

/// The places of the chains over a Transformer, and of those that begin with none.
std::vector<std::size_t> chains_over(const std::filesystem::path& transformer, const ModuleList& list);

/// Reads a modules.json of `home` and the Router's file. Throws corrupt for files that contradict themselves, and
/// unsupported for several Routers.
ModuleList read_module_list(const std::filesystem::path& home, const formats::Json& list);

}  // namespace alate::pipelines
