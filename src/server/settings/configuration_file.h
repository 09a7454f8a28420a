// alate.yaml as plain values with their places; what the keys mean is the settings' business.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace alate::server {

struct ConfigurationMember;

/// A value of a configuration file. Scalars are text: what type they must have is for their reader to say.
struct ConfigurationValue {
  enum class Kind { none, scalar, list, map };

  Kind kind = Kind::none;  // none: "key:" with nothing behind it, "~" or "null"
  std::string text;        // of a scalar
  std::size_t line = 1, column = 1;
  std::vector<ConfigurationValue> items;     // of a list
  std::vector<ConfigurationMember> members;  // of a map, each key there once

  std::string_view kind_name() const;  // "nothing", "a value", "a list", "a group of keys"
};

struct ConfigurationMember {
  ConfigurationValue key;  // a scalar
  ConfigurationValue value;
};

struct ConfigurationFile {
  std::string name;         // as errors call it: the path
  ConfigurationValue root;  // a map, or none for an empty file
  bool lenient = false;     // a termite.yaml: unknown keys are warnings

  /// "alate.yaml:3:7"
  std::string place(const ConfigurationValue& value) const;
};

/// Reads YAML text. Anchors and aliases, further documents and tags of other types are refused; so are a key that is
/// there twice, text over 1 MiB, and more than 10,000 values. Throws invalid_argument with file, line and column.
ConfigurationFile parse_configuration(std::string_view text, std::string_view name);

/// Throws not_found or unavailable where the file cannot be read, else as `parse_configuration`.
ConfigurationFile read_configuration(const std::filesystem::path& path);

}  // namespace alate::server
