// Arguments of a tool call, as text and as JSON.
#pragma once

#include <string_view>

#include "formats/json.h"

namespace alate::server {

/// An object, empty for a call without arguments; null for text that is not a JSON object, as of a call that was cut
/// off.
formats::Json parse_tool_arguments(std::string_view text);

}  // namespace alate::server
