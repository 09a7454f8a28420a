// value.name, value[key] and value[start:stop:step], as the sandbox gives them.
#pragma once

#include <string_view>

#include "tokenizers/chat_templates/values/rendering.h"

namespace alate::tokenizers::chat_templates {

/// Undefined if there is none.
Value attribute_of(Rendering& run, const Value& value, std::string_view name);
Value item_of(Rendering& run, const Value& value, const Value& key);
/// Bounds that are none are left out.
Value slice_of(Rendering& run, const Value& value, const Value& start, const Value& stop, const Value& step);

}  // namespace alate::tokenizers::chat_templates
