// Unicode normal forms (UAX #15), with the changes that alignment needs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace alate::tokenizers {

/// A code point of a changed text and where it comes from: 0 replaces the next code point of the old text, 1 is new and
/// belongs to what is before it, -n replaces the next one and takes the n after it in.
struct Change {
  char32_t value;
  std::int32_t change;
};

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// The canonical combining class of Unicode 9.
int combining_class(char32_t c);

/// Appends the full decomposition of one code point; `out` gets its parts in order, at most 18.
void decompose(char32_t c, bool compatible, std::vector<char32_t>& out);

/// The normal form of valid UTF-8, of Unicode 9 as the reference has it.
std::vector<Change> normal_form(std::string_view text, NormalForm form);

}  // namespace alate::tokenizers
