// Parsed form of a schema, used for validation.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/json.h"
#include "server/schema/schema.h"

namespace alate::server {

/// Value types, as bits of a set. Every integer is also a number.
enum SchemaType : unsigned {
  kNullType = 1,
  kBooleanType = 2,
  kIntegerType = 4,
  kNumberType = 8,
  kStringType = 16,
  kArrayType = 32,
  kObjectType = 64,
};

struct Schema::Node {
  struct Property {
    std::string name;
    std::unique_ptr<Node> schema;
    bool required = false;
  };

  unsigned types = 0;  // bits of SchemaType; 0: any
  std::vector<Property> properties;
  std::vector<std::string> required;       // names not listed in `properties`
  bool closed = false;                     // additionalProperties: false
  bool refuses_null = false;               // nullable: false
  std::unique_ptr<Node> additional;        // additionalProperties: a schema; null: none
  std::unique_ptr<Node> items;             // null: any
  std::vector<std::unique_ptr<Node>> any;  // anyOf; empty: absent
  std::vector<formats::Json> values;       // enum; empty: absent
  std::optional<double> minimum, maximum;
  std::optional<std::size_t> min_items, max_items, min_length, max_length;
  formats::Json json;  // the whole schema, only at the root
};

}  // namespace alate::server
