// The members of a tokenizer.json, as values except for the model's large ones.
#pragma once

#include <optional>
#include <string_view>

#include "formats/json.h"

namespace alate::tokenizers {

/// The JSON texts of the model's large members; none: it has no such member.
struct LargeMembers {
  std::optional<std::string_view> vocab = {};
  std::optional<std::string_view> merges = {};
};

struct FileMembers {
  formats::Json file;  // without the large members
  LargeMembers large;  // views into the file's text
};

/// Throws as parse_json does. Keys that occur twice are refused, but not within the large members.
FileMembers read_file_members(std::string_view text, std::string_view what);

}  // namespace alate::tokenizers
