// Character references of HTML: &eacute; &#233; &#xE9;
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace alate::search {

struct CharacterReference {
  std::string text;        // UTF-8
  std::size_t length = 0;  // of the reference in the page
};

/// The reference that `rest` begins with, as section 13.2.5.72 of the HTML standard reads it; nothing where its & is
/// text. `in_attribute`: whether it is in the value of an attribute, where names without a semicolon are text more
/// often. Takes constant time, but for digits.
std::optional<CharacterReference> character_reference(std::string_view rest, bool in_attribute = false);

/// A text with its references replaced, as the value of an attribute.
std::string attribute_text(std::string_view value);

}  // namespace alate::search
