// Windows as strided slices, one for each entry of the window.
#pragma once

#include "exchange/onnx/layout.h"
#include "graph/window_axis.h"

namespace alate::exchange::onnx {

/// Dilates and pads one axis of x with `value` (a scalar).
Term spread_axis(const Term& x, const Dims& dims, std::size_t axis, const graph::WindowAxis& window, const Term& value);

/// The elements that entry `at` of each of `count` windows reads along an axis of a padded operand.
Term window_slice(const Term& padded, std::size_t axis, const graph::WindowAxis& window, std::int64_t at, Dim count);

}  // namespace alate::exchange::onnx
