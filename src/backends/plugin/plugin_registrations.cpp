#include "backends/plugin/plugin_registrations.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "backends/plugin/plugin_backend.h"
#include "backends/plugin/plugin_search.h"
#include "base/log.h"
#include "base/os/environment.h"

namespace alate::plugin {
namespace {

struct Plugin {
  FoundPlugin found;
  std::string sentence;
  std::unique_ptr<backends::Backend> backend;
};

struct Plugins {
  std::vector<std::unique_ptr<Plugin>> all;
  std::vector<backends::Registration> rows;  // in the same order, with views of the plugins
  std::vector<std::string> refused;
};

Plugins find(std::span<const backends::Registration> built_in) {
  std::vector<std::string_view> taken = {"auto"};
  for (const backends::Registration& row : built_in) {
    taken.push_back(row.name);
    taken.insert(taken.end(), row.aliases.begin(), row.aliases.end());
  }
  PluginSearch search = find_plugins(base::environment("ALATE_BACKEND_PATH").value_or(""), taken);
  Plugins plugins;
  for (FoundPlugin& found : search.found) {
    auto plugin = std::make_unique<Plugin>();
    plugin->sentence = "The library " + found.file.string();
    plugin->backend = make_backend(found);
    plugin->found = std::move(found);
    backends::Backend* backend = plugin->backend.get();
    plugins.rows.push_back(
        {plugin->found.name, {}, plugin->sentence, [backend]() -> backends::Backend& { return *backend; }});
    plugins.all.push_back(std::move(plugin));
  }
  plugins.refused = std::move(search.refused);
  for (const std::string& refused : plugins.refused)
    base::log(base::LogLevel::warn, "backend of ALATE_BACKEND_PATH refused", {{"reason", refused}},
              "a backend of ALATE_BACKEND_PATH is refused: " + refused);
  return plugins;
}

// The first caller's names are used. Never destroyed: executables may outlive the program's main function.
const Plugins& plugins(std::span<const backends::Registration> built_in = {}) {
  static const Plugins& found = *new Plugins(find(built_in));
  return found;
}

}  // namespace

std::span<const backends::Registration> plugin_registrations(std::span<const backends::Registration> built_in) {
  return plugins(built_in).rows;
}

std::span<const std::string> refused_plugins() { return plugins().refused; }

std::string_view find_plugin_by_alias(std::string_view alias) {
  for (const std::unique_ptr<Plugin>& plugin : plugins().all) {
    const std::vector<std::string> aliases = aliases_of(plugin->found);
    if (std::ranges::find(aliases, alias) != aliases.end()) return plugin->found.name;
  }
  return {};
}

}  // namespace alate::plugin
