// The tools of a request.
#pragma once

#include <cstddef>
#include <string>

#include "formats/json.h"
#include "pipelines/generate/chat_request.h"

namespace alate::pipelines {

inline constexpr std::size_t kMostTools = 512;

/// The tools as templates expect them: {"type": "function", "function": {name, description, parameters}}; an empty list
/// if the model may not call any. Throws invalid_argument, naming the field, for tools of other types, names that are
/// not of letters, digits, "_", "-" and ".", or that occur twice, and for a choice that is none of the tools.
formats::Json::Array checked_tools(const formats::Json& tools, const ToolChoice& choice);

/// What the system says of tools to a model whose template cannot.
std::string tools_as_text(const formats::Json::Array& tools, const ToolChoice& choice);

}  // namespace alate::pipelines
