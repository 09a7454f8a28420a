#include "pipelines/modules/module_list.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "pipelines/modules/module_files.h"
#include "runtime/loading/model_files.h"

namespace alate::pipelines {
namespace {

namespace fs = std::filesystem;
using formats::Json;

constexpr std::size_t kMostModules = 64, kMostRoutes = 64;

bool is_router(std::string_view type) { return type == "Router" || type == "Asym"; }

// "None" is empty; "'query'" is its text; nothing for other values.
std::optional<std::string> key_part(std::string_view text) {
  if (text == "None") return "";
  const bool is_quoted =
      text.size() >= 2 && text.front() == text.back() && (text.front() == '\'' || text.front() == '"');
  return is_quoted ? std::optional(std::string(text.substr(1, text.size() - 2))) : std::nullopt;
}

// The key of a mapping is written as Python writes a tuple of task and modality.
std::optional<std::pair<std::string, std::string>> key_of(std::string_view text) {
  const std::size_t comma = text.find(", ");
  if (comma == std::string_view::npos || !text.starts_with('(') || !text.ends_with(')')) return std::nullopt;
  const auto task = key_part(text.substr(1, comma - 1));
  const auto modality = key_part(text.substr(comma + 2, text.size() - comma - 3));
  if (!task || !modality) return std::nullopt;
  return std::pair(*task, *modality);
}

// Mappings that name the modality come before those for any.
void read_mappings(const Json& mappings, RouteTable& routes) {
  for (const std::string_view modality : {"text", ""}) {
    for (const auto& [key, route] : mappings.as_object("route_mappings")) {
      const auto parts = key_of(key);
      if (!parts || parts->second != modality) continue;
      const std::string& name = route.as_string("route_mappings");
      if (!parts->first.empty())
        routes.tasks.emplace(parts->first, name);
      else if (routes.any_task.empty())
        routes.any_task = name;
    }
  }
}

RouteTable read_routes(const Json& config, const fs::path& file) {
  RouteTable routes;
  const Json* structure = config.find("structure");
  if (structure == nullptr || !structure->is_object() || structure->as_object("structure").empty() ||
      structure->as_object("structure").size() > kMostRoutes)
    throw make_error(ErrorCode::corrupt, file.string(), " has no structure of 1 to ", kMostRoutes, " routes");
  for (const auto& [name, chain] : structure->as_object("structure")) routes.names.push_back(name);
  const Json parameters = config.find("parameters") == nullptr ? Json(Json::Object{}) : *config.find("parameters");
  const Json* mappings = parameters.find("route_mappings");
  if (mappings != nullptr && !mappings->is_null()) read_mappings(*mappings, routes);
  const Json* otherwise = parameters.find("default_route");
  if (otherwise != nullptr && otherwise->is_string()) {
    routes.otherwise = otherwise->as_string("default_route");
  } else if (parameters.get_bool("allow_empty_key", true)) {
    routes.otherwise = routes.names.front();
  }
  const auto require = [&](const std::string& name) {
    if (!name.empty() && std::ranges::find(routes.names, name) == routes.names.end())
      throw make_error(ErrorCode::corrupt, file.string(), " has no route ", formats::quoted_name(name));
  };
  for (const auto& [task, name] : routes.tasks) require(name);
  require(routes.any_task);
  require(routes.otherwise);
  return routes;
}

// The chain of each route.
std::vector<std::vector<ListedModule>> read_chains(const Json& config, const fs::path& folder, const fs::path& file) {
  std::vector<std::vector<ListedModule>> chains;
  const Json* types = config.find("types");
  for (const auto& [route, ids] : config.find("structure")->as_object("structure")) {
    std::vector<ListedModule>& chain = chains.emplace_back();
    for (const Json& id : ids.as_array(route)) {
      const std::string& name = id.as_string(route);
      const Json* type = types == nullptr ? nullptr : types->find(name);
      if (type == nullptr || !type->is_string())
        throw make_error(ErrorCode::corrupt, file.string(), " has no type of the module ", formats::quoted_name(name));
      chain.push_back({last_part(type->as_string(name)), runtime::module_folder(folder, name)});
    }
    if (chain.empty() || chain.size() > kMostModules)
      throw make_error(ErrorCode::corrupt, file.string(), ": the route ", formats::quoted_name(route), " has ",
                       chain.size(), " modules; it may have 1 to ", kMostModules);
  }
  return chains;
}

struct RouterFile {
  fs::path path;
  Json config;
};

RouterFile read_router(const fs::path& folder) {
  for (const std::string_view name : {"router_config.json", "config.json"}) {
    if (std::optional<Json> config = read_json(folder, name)) return {folder / name, *std::move(config)};
  }
  throw make_error(ErrorCode::corrupt, folder.string(), " has no router_config.json");
}

bool begins_with_transformer(const std::vector<ListedModule>& chain) {
  return !chain.empty() && (chain.front().type == "Transformer" || chain.front().type == "MLMTransformer");
}

}  // namespace

bool RouteTable::knows(std::string_view task) const {
  return tasks.contains(task) || std::ranges::find(names, task) != names.end();
}

bool RouteTable::has_default() const {
  return !otherwise.empty() || !any_task.empty() || std::ranges::find(names, "text") != names.end();
}

std::size_t RouteTable::place_of(std::string_view task) const {
  const auto place = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  if (!task.empty()) {
    if (const auto found = tasks.find(task); found != tasks.end()) return place(found->second);
  }
  if (!any_task.empty()) return place(any_task);
  for (const std::string_view name : {task, std::string_view("text")}) {
    if (!name.empty() && place(name) < names.size()) return place(name);
  }
  if (task.empty() && !otherwise.empty()) return place(otherwise);
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  throw make_error(ErrorCode::invalid_argument, "the model's Router has no route for ",
                   task.empty() ? std::string("texts without a task") : "the task " + formats::quoted_name(task),
                   "; it has ", known);
}

std::vector<std::size_t> chains_over(const fs::path& transformer, const ModuleList& list) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < list.chains.size(); ++place) {
    const std::vector<ListedModule>& chain = list.chains[place];
    if (!begins_with_transformer(chain) || chain.front().folder == transformer) places.push_back(place);
  }
  return places;
}

ModuleList read_module_list(const fs::path& home, const Json& list) {
  const fs::path file = home / "modules.json";
  const Json::Array& entries = list.as_array(file.string());
  if (entries.empty() || entries.size() > kMostModules)
    throw make_error(ErrorCode::corrupt, file.string(), " has ", entries.size(), " modules; it may have 1 to ",
                     kMostModules);
  ModuleList read{.routes = {}, .chains = {{}}};
  for (const Json& entry : entries) {
    const std::string type = last_part(entry.get_string("type", ""));
    const fs::path folder = runtime::module_folder(home, entry.get_string("path", ""));
    if (!is_router(type)) {
      for (std::vector<ListedModule>& chain : read.chains) chain.push_back({type, folder});
      continue;
    }
    if (!read.routes.names.empty())
      throw make_error(ErrorCode::unsupported, file.string(), " has several Routers; one is built: ", type);
    const RouterFile router = read_router(folder);
    read.routes = read_routes(router.config, router.path);
    const std::vector<ListedModule> before = std::move(read.chains.front());
    read.chains = read_chains(router.config, folder, router.path);
    for (std::vector<ListedModule>& chain : read.chains) chain.insert(chain.begin(), before.begin(), before.end());
  }
  return read;
}

}  // namespace alate::pipelines
