// The grammar of an output format.
#pragma once

#include <memory>

#include "alate/output_format.h"
#include "generation/constraint/grammar.h"

namespace alate::generation {

/// Null for plain text. Throws invalid_argument for definitions that are malformed, outside of what is supported or too
/// large; cancelled.
std::shared_ptr<const Grammar> compile_format(const OutputFormat& format, base::Cancellation cancellation);

}  // namespace alate::generation
