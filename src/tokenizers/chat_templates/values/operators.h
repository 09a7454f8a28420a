// Python's operators over values.
#pragma once

#include <string>
#include <string_view>

#include "tokenizers/chat_templates/values/value.h"

namespace alate::tokenizers::chat_templates {

enum class Arithmetic { add, subtract, multiply, divide, floor_divide, modulo, power };
enum class Comparison { equal, not_equal, less, less_or_equal, greater, greater_or_equal, in, not_in };

bool truth(Rendering& run, const Value& value);
bool equals(Rendering& run, const Value& left, const Value& right);
/// `left < right`; fails for values that have no order.
bool less(Rendering& run, const Value& left, const Value& right, std::string_view sign = "<");
bool contains(Rendering& run, const Value& container, const Value& item);
bool compare(Rendering& run, Comparison comparison, const Value& left, const Value& right);
Value calculate(Rendering& run, Arithmetic operation, const Value& left, const Value& right);
Value negated(Rendering& run, const Value& value);
Value posited(Rendering& run, const Value& value);
/// Fails for lists and dicts, and tuples that contain them.
void require_hashable(Rendering& run, const Value& value);

/// The name of the value's Python type.
std::string_view type_name(const Value& value);

/// `text % values`
Value format_percent(Rendering& run, const Text& format, const Value& values);

/// The text as safe HTML: & < > " ' escaped.
std::string escaped_markup(Rendering& run, std::string_view text);

}  // namespace alate::tokenizers::chat_templates
