// Characters that show nothing of their own and change how a text is read.
#pragma once

namespace alate::base {

/// Embeddings, overrides and isolates of the bidirectional algorithm (Unicode Standard Annex 9), by which a text can
/// show another's letters in another order.
constexpr bool is_direction(char32_t c) { return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069); }

/// C0, DEL and C1, which terminals act on.
constexpr bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

/// These and all that is invisible beside them: marks of direction, joiners, spaces without width, separators of lines,
/// annotations and tags. Two names that look alike may differ in these only.
constexpr bool is_hidden(char32_t c) {
  return is_control(c) || c == 0xAD || c == 0x61C || c == 0x180E || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
         (c >= 0xE0000 && c <= 0xE007F);
}

}  // namespace alate::base
