// Takes the paths of this machine out of an answer.
#pragma once

#include <string>
#include <string_view>

#include "formats/json.h"

namespace alate::server {

/// The text with "…" for each absolute path in it, also for one that begins with "~"; of a library its file's name
/// remains: of "/home/me/lib/a.so was not found" there is left "…/a.so was not found".
std::string without_folders(std::string_view text);

/// The same for every text in a value, the names of members aside.
formats::Json without_paths(const formats::Json& value);

}  // namespace alate::server
