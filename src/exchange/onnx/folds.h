// Sequential folds and scans along axes.
#pragma once

#include "exchange/onnx/emitter.h"
#include "exchange/onnx/layout.h"

namespace alate::exchange::onnx {

/// `combine` takes the accumulators, then an entry of each of `xs` (all of these dims), and returns new accumulators.
/// The results have the remaining axes. `first` are the initial scalars.
Terms fold(const Terms& xs, const Dims& dims, const Numbers& axes, const Terms& first, const Body& combine);

/// The accumulator along an axis after each entry; exclusive of the entry itself if `cumulative.exclusive`.
Term scan(const Term& x, const Dims& dims, const graph::Cumulative& cumulative, const Term& first,
          Term (*combine)(const Term&, const Term&));

}  // namespace alate::exchange::onnx
