// Texts that are the same to a reader: canonical equivalence (Unicode Standard Annex 15).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace alate::tokenizers {

/// The same string for all texts that are canonically equivalent, whether their letters are composed or not: NFD.
/// Invalid UTF-8 becomes U+FFFD.
std::string canonical_form(std::string_view text);

/// The byte offsets in `text` behind each match of `part`, which is not empty, from left to right; matches do not
/// overlap. Texts are compared in canonical form, and a match ends at the end of a character: "e" is not found in "é".
/// Both are valid UTF-8. Takes linear time. Throws resource_exhausted for a text of 4 GiB and more.
std::vector<std::size_t> canonical_match_ends(std::string_view text, std::string_view part);

}  // namespace alate::tokenizers
