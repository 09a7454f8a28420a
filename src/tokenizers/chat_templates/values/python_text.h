// Values as text: Python's str() and repr().
#pragma once

#include <string>
#include <string_view>

#include "tokenizers/chat_templates/values/value.h"

namespace alate::tokenizers::chat_templates {

/// str(value)
std::string text_of(Rendering& run, const Value& value);
/// The value itself if it is a text, otherwise str(value) as a value.
Value as_text(Rendering& run, const Value& value);
void append_text(Rendering& run, Builder& out, const Value& value);
void append_repr(Rendering& run, Builder& out, const Value& value);
std::string repr_of(Rendering& run, const Value& value);

std::string decimal(Integer value);
/// repr() of a float: the shortest text that reads back as the same number.
std::string real_text(double value);
/// A string literal; with `only_ascii`, as ascii() writes it.
void append_quoted(Builder& out, std::string_view text, bool only_ascii = false);

}  // namespace alate::tokenizers::chat_templates
