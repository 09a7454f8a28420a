// Character references of HTML: &lt; and &#60;.
#pragma once

#include <string>
#include <string_view>

namespace alate::tokenizers::chat_templates {

/// Python's html.unescape: references with and without ';', numbers in place of what HTML forbids.
std::string without_references(std::string_view text);

}  // namespace alate::tokenizers::chat_templates
