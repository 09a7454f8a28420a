// Settings from all that may say something about them: options, environment, file, defaults.
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

/// What there is, the strongest first.
struct SettingSources {
  std::map<std::string, std::vector<std::string>, std::less<>> options;       // "--port" → its values
  std::function<std::optional<std::string>(const std::string&)> environment;  // a variable's value
  const ConfigurationFile* file = nullptr;
};

struct LoadedSettings {
  Settings settings;
  std::vector<std::string> unknown_keys;   // of a termite.yaml, each with its place; elsewhere they are errors
  std::vector<std::string> idle_settings;  // a sentence for each that has no effect in this version
};

/// An option counts before the variable ALATE_…, that before the file, that before other systems' variables, and these
/// before the default. Throws invalid_argument that says where the value stands, what is wrong and what is allowed; an
/// unknown key of the file comes with the nearest one there is. Reads no other file than the one given: whether models
/// and certificates exist is for those who use them to see.
LoadedSettings load_settings(const SettingSources& sources);

/// Whether a value's origin is another system's variable: then it is a wish of somebody who may not know about Alate.
bool is_foreign_variable(std::string_view origin);

/// What the file, else another system's variable, says about one setting: for the commands' own options.
std::optional<SettingValue> configured_value(const Setting& setting, const SettingSources& sources);

/// alate.yaml in the user's folder of configurations, whether it exists or not; nothing without a home folder.
std::optional<std::filesystem::path> default_configuration_path();

/// All settings of the server by their keys, secrets hidden: an object, groups nested, or the text of a file.
formats::Json settings_as_json(const Settings& settings);
std::string settings_as_yaml(const Settings& settings);

}  // namespace alate::server
