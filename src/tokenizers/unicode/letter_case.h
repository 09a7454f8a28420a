// Lower-casing of single code points.
#pragma once

#include <string>
#include <string_view>

namespace alate::tokenizers {

struct LowerCase {
  char32_t first;
  char32_t second;  // 0 if there is only one letter; only U+0130 has two
};

/// The same result as Rust's char::to_lowercase (the full mapping without context: a final sigma is a sigma).
LowerCase lower_case(char32_t c);

/// Applies lower_case to a whole text; invalid UTF-8 becomes U+FFFD.
std::string lower_cased(std::string_view text);

}  // namespace alate::tokenizers
