// Elements in other places: what many ops are made of.
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
/// To [n].
Term flatten(const Term& x);
/// Nothing is written for a permutation that changes nothing.
Term transpose(const Term& x, const Numbers& permutation);
Term inverse_transpose(const Term& x, const Numbers& permutation);
/// New axes of extent 1 at these places of the result.
Term unsqueeze(const Term& x, const Numbers& axes);
Term squeeze(const Term& x, const Numbers& axes);
/// Repeated to `dims`, as ONNX broadcasts.
Term expand(const Term& x, const Dims& dims);
Term concatenate(const Terms& parts, std::int64_t axis);
/// `starts` and `limits` are i64, one for each of `axes`; limits past the end are the end.
Term slice(const Term& x, const Numbers& axes, const Term& starts, const Term& limits, const Numbers& steps);
Term reverse(const Term& x, const Numbers& axes);

/// As graph::Pad has it, along one axis of x. Of `dims`, x had these before other axes were padded. `value` is a
/// scalar.
Term pad_axis(const Term& x, const Dims& dims, std::size_t axis, const Term& value, std::int64_t low, std::int64_t high,
              std::int64_t interior);

/// 0, 1, … below an extent (i64 [1]), as i64 [n].
Term count_to(const Term& extent);
/// [n] as [1, …, n, …, 1] of `rank` axes.
Term along_axis(const Term& x, std::size_t rank, std::size_t axis);
/// Entries of dims, and all but some of them.
Dims picked(const Dims& dims, const Numbers& axes);
Numbers other_axes(std::size_t rank, const Numbers& axes);
/// The product of dims as i64 [1], and as a scalar.
Term product_of(Emitter& e, const Dims& dims);
Term scalar_product_of(Emitter& e, const Dims& dims);
/// Integers as i64; unsigned ones above become the largest.
Term as_places(const Term& x);
/// Entries of axis 0: that number (an i64 scalar), without the axis.
Term entry(const Term& x, const Term& place, std::int64_t axis = 0);
Term shape_of(const Term& x);
/// A scalar repeated to dims.
Term filled(Emitter& e, DType dtype, double value, const Dims& dims);

}  // namespace alate::exchange::onnx
