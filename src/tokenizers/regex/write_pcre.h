// Regular expressions over an alphabet, in PCRE's syntax.
#pragma once

#include <string>
#include <string_view>

#include "tokenizers/regex/alphabet.h"
#include "tokenizers/regex/syntax_tree.h"

namespace alate::tokenizers {

inline constexpr std::size_t kMaxPcreBytes = std::size_t{1} << 20;

/// The expression for texts that `alphabet`, which is that of the tree's sets, has spelled. It does not depend on any
/// option, locale or newline convention. Throws unsupported, naming `where`, if it would exceed kMaxPcreBytes.
std::string write_pcre(const RegexTree& tree, const Alphabet& alphabet, std::string_view where);

}  // namespace alate::tokenizers
