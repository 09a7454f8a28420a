// Removes local file paths from an answer.
#pragma once

#include <string>
#include <string_view>

#include "formats/json.h"

namespace alate::server {

/// The text with each absolute path (including paths starting with "~") replaced by "…"; libraries keep their file
/// name: "/home/me/lib/a.so was not found" becomes "…/a.so was not found".
std::string without_folders(std::string_view text);

/// The same for every string in a value, except member names.
formats::Json without_paths(const formats::Json& value);

}  // namespace alate::server
