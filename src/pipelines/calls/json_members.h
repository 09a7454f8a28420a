// Members of JSON objects that are written as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace alate::pipelines {

/// "name":value, with a comma before it unless the object has just begun.
void append_member(std::string& out, std::string_view name, std::string_view text);
void append_member(std::string& out, std::string_view name, std::size_t number);
void append_member(std::string& out, std::string_view name, float number);

/// Begins the next object of a list, which has begun with "[".
void begin_object(std::string& list);

}  // namespace alate::pipelines
