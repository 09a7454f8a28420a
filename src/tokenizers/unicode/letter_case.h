// Lower case, letter by letter.
#pragma once

#include <string>
#include <string_view>

namespace alate::tokenizers {

struct LowerCase {
  char32_t first;
  char32_t second;  // 0 when there is one letter; only U+0130 has two
};

/// What Rust's char::to_lowercase gives (the full mapping without context: a final sigma is a sigma).
LowerCase lower_case(char32_t c);

/// Every letter of a text so; invalid UTF-8 becomes U+FFFD.
std::string lower_cased(std::string_view text);

}  // namespace alate::tokenizers
