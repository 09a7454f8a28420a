// The table of settings: one row is a key of the configuration file, an option of `alate serve`, an environment
// variable and a line of docs/configuration.md.
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
  boolean,       // true or false; an option that is given is true
  negation,      // a boolean whose target is the opposite
  count,         // a whole number from `least` to `most`
  limit,         // the same, or "auto": the server finds one
  duration,      // "30s", "5m"; from `least` to `most` nanoseconds
  milliseconds,  // a number, fractions too; from `least` to `most` nanoseconds
  list,          // of texts
  strategies,    // "model: eager" a line; "model=eager,…" as an option
  group,         // keys of its own that this version does not read
};

enum class SettingScope {
  server,      // of `alate serve` alone
  everywhere,  // of every command
  commands,    // of the commands that answer by themselves; the server has no use for it
};

/// Where a row's value is kept; monostate for those of the commands.
using SettingTarget =
    std::variant<std::monostate, std::string Settings::*, std::filesystem::path Settings::*, bool Settings::*,
                 std::uint16_t Settings::*, std::size_t Settings::*, std::optional<std::size_t> Settings::*,
                 std::chrono::nanoseconds Settings::*, std::vector<std::string> Settings::*,
                 std::map<std::string, LoadStrategy> Settings::*, base::LogLevel Settings::*,
                 base::LogStyle Settings::*>;

struct Setting {
  std::string_view key;          // "batch.max_tokens"
  std::string_view option = {};  // "--batch-max-tokens"; empty: none, and no environment variable
  std::string_view value = {};   // what the help calls its value: "N"; empty for booleans
  std::string_view sentence = {};
  SettingScope scope = SettingScope::server;
  SettingKind kind = SettingKind::text;
  SettingTarget target = {};
  std::uint64_t least = 0, most = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::string_view> choices = {};
  /// Of texts and of each item of a list: whether it can be one, and what it must be.
  bool (*fits)(std::string_view text) = nullptr;
  std::string_view must_be = {};
  bool is_secret = false;       // shown to nobody
  std::string_view title = {};  // begins a group of rows in the help
};

/// Every setting, in the order of the help.
std::span<const Setting> settings_table();

/// Null when there is none.
const Setting* find_setting(std::string_view key);
const Setting* find_setting_of_option(std::string_view option);

/// "ALATE_BATCH_MAX_TOKENS"; empty for a setting without an option.
std::string environment_variable(const Setting& setting);

}  // namespace alate::server
