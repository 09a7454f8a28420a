// The methods of Python's str, list, tuple and dict.
#pragma once

#include <optional>
#include <string_view>

#include "tokenizers/chat_templates/values/object.h"

namespace alate::tokenizers::chat_templates {

/// The method bound to the value; nothing if its type has none of the name. Methods that change the value, and names
/// that the sandbox hides, give an undefined value whose use fails.
std::optional<Value> method_of(Rendering& run, const Value& value, std::string_view name);
/// The same for a text, without what the sandbox hides.
std::optional<Value> text_method(Rendering& run, const Value& text, std::string_view name);

/// Parts of a text by code points. Indices count from 0 and are at most text.length.
std::string_view code_points(Rendering& run, const Text& text, std::size_t begin, std::size_t end);
/// The text without the characters of `characters` at its ends, or without white space where that is null.
std::string_view stripped(std::string_view text, const std::string_view* characters, bool left, bool right);
/// Lines without their ends, as str.splitlines.
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends = false);
/// Markup.striptags: without tags and comments, white space as single spaces, character references as what they mean.
std::string without_tags(Rendering& run, std::string_view text);
/// str.replace; -1: all.
std::string replaced(Rendering& run, std::string_view text, std::string_view old, std::string_view by, Integer count);

}  // namespace alate::tokenizers::chat_templates
