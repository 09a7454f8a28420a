// Converts text from a file, option or variable to setting values, and back.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "formats/json.h"
#include "server/settings/settings_table.h"

namespace alate::server {

/// What one source provides for a setting.
struct SettingValue {
  std::vector<std::string> texts;  // the items of a list; otherwise the last one wins
  std::string origin;              // includes the setting's name: "alate.yaml:3:7: port", "--port", "ALATE_PORT"
};

/// Splits "a, b" into items, the form of lists in options and variables.
std::vector<std::string> split_list(const std::vector<std::string>& texts);

/// Stores the value in its member. Throws invalid_argument: "--port is "x"; it must be a whole number from 0 to 65535".
void assign(Settings& settings, const Setting& setting, const SettingValue& value);

/// Description of valid values: "a whole number from 0 to 65535".
std::string allowed_values(const Setting& setting);

/// The value as written in the file; for a secret only the number of entries. Null for settings of the commands.
formats::Json value_of(const Settings& settings, const Setting& setting);

/// "5m", "1500ms": the largest unit that leaves no fraction.
std::string to_text(std::chrono::nanoseconds duration);

}  // namespace alate::server
