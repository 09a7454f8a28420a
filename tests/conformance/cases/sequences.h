// Values of operands that describe packed sequences: starts and lengths.
#pragma once

#include <string_view>

#include "alate/tensor.h"
#include "tests/conformance/cases/case.h"

namespace alate::conformance {

/// Whether `kind` is starts or lengths.
bool is_sequence_kind(std::string_view kind);

/// Operand `place`, of such a kind. Operand 0 holds the packed rows [tokens, …]; the last operand of kind "starts" says
/// how many sequences they are in, and the limit of each such operand is the longest allowed length.
Tensor sequence_values(const Case& subject, std::size_t place);

}  // namespace alate::conformance
