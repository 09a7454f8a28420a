// The functions that every template has: range, dict, namespace, cycler, joiner, raise_exception, strftime_now; lipsum
// is refused.
#pragma once

#include <string_view>

#include "tokenizers/chat_templates/values/value.h"

namespace alate::tokenizers::chat_templates {

/// Missing if there is none of the name.
Value find_global(Rendering& run, std::string_view name);

}  // namespace alate::tokenizers::chat_templates
