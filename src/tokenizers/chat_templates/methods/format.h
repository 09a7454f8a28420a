// Python's two ways to format: "%s" % value (operators.h) and "{}".format(value).
#pragma once

#include <string>
#include <string_view>

#include "tokenizers/chat_templates/values/object.h"

namespace alate::tokenizers::chat_templates {

/// str.format, with attributes and items as the sandbox gives them.
Value format_text(Rendering& run, const Text& format, const Arguments& arguments);
/// format(value, specification)
std::string formatted(Rendering& run, const Value& value, std::string_view specification);

}  // namespace alate::tokenizers::chat_templates
