// From the texts of a file, an option or a variable to a setting's value, and back.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "formats/json.h"
#include "server/settings/settings_table.h"

namespace alate::server {

/// What one source says about a setting.
struct SettingValue {
  std::vector<std::string> texts;  // of a list its items; else the last one counts
  std::string origin;              // with the setting's name there: "alate.yaml:3:7: port", "--port", "ALATE_PORT"
};

/// Takes the items of "a, b" apart, as options and variables give lists.
std::vector<std::string> split_list(const std::vector<std::string>& texts);

/// Writes the value to its member. Throws invalid_argument: "--port is "x"; it must be a whole number from 0 to 65535".
void assign(Settings& settings, const Setting& setting, const SettingValue& value);

/// "a whole number from 0 to 65535": what a value must be.
std::string allowed_values(const Setting& setting);

/// As the file would have it; of a secret, only how many there are. Null for settings of the commands.
formats::Json value_of(const Settings& settings, const Setting& setting);

/// "5m", "1500ms": the largest unit that leaves no fraction.
std::string to_text(std::chrono::nanoseconds duration);

}  // namespace alate::server
