// The schemas of a family of routes in one JSON Schema: its $defs, which may refer to each other.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace alate::server {

/// Immutable; thread-safe.
class SchemaFile {
 public:
  /// Throws internal for a text without $defs, and for a reference that leads to no schema or to itself, because the
  /// files are our own.
  explicit SchemaFile(std::string_view text);

  /// The schema `name` with each reference replaced by what it refers to, as text that is valid as long as this.
  /// Throws internal if there is none.
  std::string_view schema(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> texts_;
};

}  // namespace alate::server
