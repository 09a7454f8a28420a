// The settings table. One row is a key of the configuration file, an option of `alate serve`, an environment variable
// and a line of docs/configuration.md.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/settings/settings.h"

namespace alate::server {

enum class SettingKind {
  text,
  choice,        // one of `choices`
  boolean,       // true or false; giving the option means true
  negation,      // a boolean stored inverted
  count,         // a whole number from `least` to `most`
  limit,         // the same, or "auto": chosen by the server
  duration,      // "30s", "5m"; from `least` to `most` nanoseconds
  milliseconds,  // a number, possibly fractional; from `least` to `most` nanoseconds
  list,          // of texts
  strategies,    // one "model: eager" per line; "model=eager,…" as an option
  aliases,       // one "alias: model" per line; "alias=model,…" as an option
  folders,       // one "name: folder" per line; "name=folder,…" as an option
  group,         // nested keys not read by this version
};

enum class SettingScope {
  server,      // `alate serve` only
  everywhere,  // every command
  commands,    // commands that compute by themselves; unused by the server
};

/// Where the value of a row is stored; monostate for settings of the commands.
using SettingTarget =
    std::variant<std::monostate, std::string Settings::*, std::filesystem::path Settings::*, bool Settings::*,
                 std::uint16_t Settings::*, std::size_t Settings::*, std::optional<std::size_t> Settings::*,
                 std::chrono::nanoseconds Settings::*, std::vector<std::string> Settings::*,
                 std::map<std::string, LoadStrategy> Settings::*, std::map<std::string, std::string> Settings::*,
                 base::LogLevel Settings::*, base::LogStyle Settings::*>;

struct Setting {
  std::string_view key;          // "batch.max_tokens"
  std::string_view option = {};  // "--batch-max-tokens"; empty: no option and no environment variable
  std::string_view value = {};   // placeholder in the help: "N"; empty for booleans
  std::string_view sentence = {};
  SettingScope scope = SettingScope::server;
  SettingKind kind = SettingKind::text;
  SettingTarget target = {};
  std::uint64_t least = 0, most = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::string_view> choices = {};
  /// For texts and for each item of a list: whether it is valid, and a description of valid values.
  bool (*fits)(std::string_view text) = nullptr;
  std::string_view must_be = {};
  bool is_secret = false;       // never shown
  std::string_view title = {};  // starts a group of rows in the help
};

/// Every setting, in the order of the help.
std::span<const Setting> settings_table();

/// Null if there is none.
const Setting* find_setting(std::string_view key);
const Setting* find_setting_of_option(std::string_view option);

/// "ALATE_BATCH_MAX_TOKENS"; empty for a setting without an option.
std::string environment_variable(const Setting& setting);

}  // namespace alate::server
