// Lower case, letter by letter.
#pragma once

namespace alate::tokenizers {

struct LowerCase {
  char32_t first;
  char32_t second;  // 0 when there is one letter; only U+0130 has two
};

/// What Rust's char::to_lowercase gives (the full mapping without context: a final sigma is a sigma).
LowerCase lower_case(char32_t c);

}  // namespace alate::tokenizers
