// Complex numbers as pairs of floats along a last axis.
#pragma once

#include "exchange/onnx/term.h"

namespace alate::exchange::onnx {

/// The real (0) or imaginary (1) part.
Term part(const Term& z, std::int64_t which);
Term paired(const Term& real, const Term& imaginary);

}  // namespace alate::exchange::onnx
