#include "pipelines/modules/kind_files.h"

#include <cstddef>

#include "alate/error.h"
#include "pipelines/modules/module_files.h"

namespace alate::pipelines {

using formats::Json;

namespace {

constexpr std::size_t kMostModules = 64;

}  // namespace

std::vector<ModuleEntry> entries_of(const Json& list) {
  const Json::Array& modules = list.as_array("modules.json");
  if (modules.size() > kMostModules)
    throw make_error(ErrorCode::corrupt, "modules.json has ", modules.size(), " modules; it may have ", kMostModules);
  std::vector<ModuleEntry> entries;
  for (const Json& module : modules) {
    const std::string type = module.get_string("type", "");
    entries.push_back({last_part(type), type, module.get_string("path", "")});
  }
  return entries;
}

std::string special_token(const Json& config, std::string_view role, std::string_view otherwise) {
  const Json* token = config.find(role);
  if (token != nullptr && token->is_object()) token = token->find("content");
  return token != nullptr && token->is_string() ? token->as_string(role) : std::string(otherwise);
}

}  // namespace alate::pipelines
