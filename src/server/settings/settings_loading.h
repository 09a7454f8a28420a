// Loads settings from all sources: options, environment, file, defaults.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/settings/configuration_file.h"
#include "server/settings/settings_values.h"

namespace alate::server {

/// The sources, in descending precedence.
struct SettingSources {
  std::map<std::string, std::vector<std::string>, std::less<>> options;       // "--port" → its values
  std::function<std::optional<std::string>(const std::string&)> environment;  // returns a variable's value
  const ConfigurationFile* file = nullptr;
};

struct LoadedSettings {
  Settings settings;
  std::vector<std::string> unknown_keys;   // from a termite.yaml, each with its position; errors elsewhere
  std::vector<std::string> idle_settings;  // one sentence per setting that has no effect in this version
};

/// Precedence: options, ALATE_… variables, the file, other systems' variables, defaults. Throws invalid_argument that
/// says where the value is, what is wrong and what is allowed; for an unknown key in the file it suggests the closest
/// existing one. Reads no file other than the given one: whether models and certificates exist is checked by their
/// users.
LoadedSettings load_settings(const SettingSources& sources);

/// Whether a value comes from another system's variable, set perhaps by someone unaware of Alate, and so is only a
/// preference.
bool is_foreign_variable(std::string_view origin);

/// The value of one setting from the file, else from another system's variable: for the commands' own options.
std::optional<SettingValue> configured_value(const Setting& setting, const SettingSources& sources);

/// alate.yaml in the user's configuration folder, whether or not it exists; nothing without a home folder.
std::optional<std::filesystem::path> default_configuration_path();

/// All server settings by key, secrets hidden: as a nested object, or as the text of a file.
formats::Json settings_as_json(const Settings& settings);
std::string settings_as_yaml(const Settings& settings);

}  // namespace alate::server
