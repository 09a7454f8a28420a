// The tests: value is name(arguments).
#pragma once

#include <string_view>

#include "tokenizers/chat_templates/object.h"

namespace alate::tokenizers::chat_templates {

struct Test {
  std::string_view name;
  bool (*holds)(Rendering& run, const Value& input, Arguments arguments);
};

/// Null if there is none.
const Test* find_test(std::string_view name);

}  // namespace alate::tokenizers::chat_templates
