// What the character references of HTML stand for: &eacute; and &#128;
#pragma once

#include <string>
#include <string_view>

namespace alate::tokenizers {

/// A name without its &, and with ; if it has one. It stands for one or two code points; `second` is 0 for one.
struct NamedReference {
  std::string_view name;
  char32_t first, second;

  void append_to(std::string& text) const;  // in UTF-8
};

/// The longest name that a text begins with, which stands behind an &; null if there is none. Takes time by the length
/// of the longest name at most.
const NamedReference* longest_named_reference(std::string_view text);

/// The character of a number: 128 to 159 are bytes of windows-1252, where that has them. Others are themselves.
char32_t numbered_character(char32_t number);

}  // namespace alate::tokenizers
