// alate.yaml as plain values with source positions; the meaning of keys is defined by the settings.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace alate::server {

struct ConfigurationMember;

/// A value of a configuration file. Scalars are text; the reader decides their type.
struct ConfigurationValue {
  enum class Kind { none, scalar, list, map };

  Kind kind = Kind::none;  // none: "key:" without a value, "~" or "null"
  std::string text;        // of a scalar
  std::size_t line = 1, column = 1;
  std::vector<ConfigurationValue> items;     // of a list
  std::vector<ConfigurationMember> members;  // of a map; keys are unique

  std::string_view kind_name() const;  // "nothing", "a value", "a list", "a group of keys"
};

struct ConfigurationMember {
  ConfigurationValue key;  // a scalar
  ConfigurationValue value;
};

struct ConfigurationFile {
  std::string name;         // as shown in errors: the path
  ConfigurationValue root;  // a map, or none for an empty file
  bool lenient = false;     // a termite.yaml: unknown keys are only warnings

  /// "alate.yaml:3:7"
  std::string place(const ConfigurationValue& value) const;
};

/// Parses YAML. Rejects anchors, aliases, additional documents, tags of other types, duplicate keys, text over 1 MiB,
/// and more than 10,000 values. Throws invalid_argument with file, line and column.
ConfigurationFile parse_configuration(std::string_view text, std::string_view name);

/// Throws not_found or unavailable if the file cannot be read, else as `parse_configuration`.
ConfigurationFile read_configuration(const std::filesystem::path& path);

}  // namespace alate::server
