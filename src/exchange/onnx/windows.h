// Windows over operands: their elements as slices, one for each place within the window.
#pragma once

#include "exchange/onnx/layout.h"
#include "graph/window_axis.h"

namespace alate::exchange::onnx {

/// Holes and padding of `value` (a scalar) along one axis of x.
Term spread_axis(const Term& x, const Dims& dims, std::size_t axis, const graph::WindowAxis& window, const Term& value);

/// What entry `at` of each of `count` windows sees along an axis of a padded operand.
Term seen_by(const Term& padded, std::size_t axis, const graph::WindowAxis& window, std::int64_t at, Dim count);

}  // namespace alate::exchange::onnx
