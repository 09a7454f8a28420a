// The tests: value is name(arguments).
#pragma once

#include <string_view>

#include "tokenizers/chat_templates/values/object.h"

namespace alate::tokenizers::chat_templates {

struct Test {
  std::string_view name;
  bool (*holds)(Rendering& run, const Value& input, Arguments arguments);
};

/// Null if there is none.
const Test* find_test(std::string_view name);
/// Fails where find_test has found none of `name`.
bool apply_test(Rendering& run, const Test* test, std::string_view name, const Value& input, Arguments arguments);

}  // namespace alate::tokenizers::chat_templates
