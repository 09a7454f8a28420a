// The members of a tokenizer.json, as values except for the model's large ones.
#pragma once

#include <string_view>

#include "formats/json.h"
#include "tokenizers/sources/tokenizer_json/large_members.h"

namespace alate::tokenizers {

struct FileMembers {
  formats::Json file;  // without the large members
  LargeMembers large;
};

/// Throws as parse_json does. Keys that occur twice are refused, but not within the large members.
FileMembers read_file_members(std::string_view text, std::string_view what);

}  // namespace alate::tokenizers
