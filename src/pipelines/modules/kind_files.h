// What the readers of sparse and late-interaction modules share of a folder's small files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"

namespace alate::pipelines {

/// An entry of modules.json.
struct ModuleEntry {
  std::string type;        // the last part of its class's dotted name
  std::string class_name;  // all of it
  std::string path;
};

/// Throws corrupt for more entries than any model has.
std::vector<ModuleEntry> entries_of(const formats::Json& list);

/// The text of a special token in tokenizer_config.json, which is written as a string or as an object.
std::string special_token(const formats::Json& config, std::string_view role, std::string_view otherwise);

}  // namespace alate::pipelines
