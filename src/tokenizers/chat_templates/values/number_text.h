// Numbers as printf and Python's format() write them.
#pragma once

#include <string>

#include "tokenizers/chat_templates/values/value.h"

namespace alate::tokenizers::chat_templates {

/// The digits of |value| in base 2, 8, 10 or 16.
std::string digits_in(Integer value, int base, bool is_upper);
/// |value| by one of f, e, g and their capitals; `keeps_point` is the flag '#'.
std::string real_digits(Rendering& run, double value, char type, int precision, bool keeps_point);

}  // namespace alate::tokenizers::chat_templates
