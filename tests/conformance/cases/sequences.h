// Values of operands that describe packed sequences: starts and lengths, and where the earlier tokens of each are.
#pragma once

#include <string_view>

#include "alate/tensor.h"
#include "tests/conformance/cases/case.h"

namespace alate::conformance {

/// Whether `kind` is starts, lengths, cached (lengths with earlier tokens) or pages (any in a cache).
bool is_sequence_kind(std::string_view kind);

/// Operand `place`, of such a kind. Operand 0 holds the packed rows [tokens, …]; the last operand of kind "starts" says
/// how many sequences they are in, and the limit of starts and lengths is the longest allowed length; that of cached
/// the most tokens with the earlier ones, and that of pages how many there are.
Tensor sequence_values(const Case& subject, std::size_t place);

}  // namespace alate::conformance
