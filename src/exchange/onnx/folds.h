// Axes folded by a function, one entry after the other.
#pragma once

#include "exchange/onnx/emitter.h"
#include "exchange/onnx/layout.h"

namespace alate::exchange::onnx {

/// `combine` takes the values so far, then an entry of each of `xs` (all of these dims), and gives new values. The
/// results have the axes that are left. `first` are scalars.
Terms fold(const Terms& xs, const Dims& dims, const Numbers& axes, const Terms& first, const Body& combine);

/// What the values along an axis are after each entry; without the entry itself where `is_exclusive`.
Term scan(const Term& x, const Dims& dims, const graph::Cumulative& cumulative, const Term& first,
          Term (*combine)(const Term&, const Term&));

}  // namespace alate::exchange::onnx
