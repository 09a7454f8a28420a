// Shape and data-movement operations that many ops are built from.
#pragma once

#include <optional>
#include <vector>

#include "exchange/onnx/term.h"
#include "graph/attributes.h"

namespace alate::exchange::onnx {

using graph::Dims;
using graph::Numbers;

Term reshape(const Term& x, const Dims& dims);
/// With `shape` i64 [rank].
Term reshape_to(const Term& x, const Term& shape);
/// Flattens to [n].
Term flatten(const Term& x);
/// Writes no node for the identity permutation.
Term transpose(const Term& x, const Numbers& permutation);
Term inverse_transpose(const Term& x, const Numbers& permutation);
/// New axes of extent 1 at these positions of the result.
Term unsqueeze(const Term& x, const Numbers& axes);
Term squeeze(const Term& x, const Numbers& axes);
/// Broadcasts to `dims`, by ONNX's rules.
Term expand(const Term& x, const Dims& dims);
Term concatenate(const Terms& parts, std::int64_t axis);
/// `starts` and `limits` are i64, one for each of `axes`; limits are clamped to the end.
Term slice(const Term& x, const Numbers& axes, const Term& starts, const Term& limits, const Numbers& steps);
Term reverse(const Term& x, const Numbers& axes);

/// Pads one axis of x as graph::Pad does. `dims` are x's dims before other axes were padded. `value` is a scalar.
Term pad_axis(const Term& x, const Dims& dims, std::size_t axis, const Term& value, std::int64_t low, std::int64_t high,
              std::int64_t interior);

/// 0, 1, … below an extent (i64 [1]), as i64 [n].
Term count_to(const Term& extent);
/// [n] as [1, …, n, …, 1] of `rank` axes.
Term along_axis(const Term& x, std::size_t rank, std::size_t axis);
/// The entries of dims at `axes`, and all axes except `axes`.
Dims picked(const Dims& dims, const Numbers& axes);
Numbers other_axes(std::size_t rank, const Numbers& axes);
/// The product of dims as i64 [1], and as a scalar.
Term product_of(Emitter& e, const Dims& dims);
Term scalar_product_of(Emitter& e, const Dims& dims);
/// Integers as i64; larger unsigned ones saturate.
Term as_indices(const Term& x);
/// Entry `place` (an i64 scalar) of an axis, without the axis.
Term entry(const Term& x, const Term& place, std::int64_t axis = 0);
Term shape_of(const Term& x);
/// A scalar broadcast to dims.
Term filled(Emitter& e, DType dtype, double value, const Dims& dims);

}  // namespace alate::exchange::onnx
