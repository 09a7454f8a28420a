// The basic StableHLO ops, with their attributes, that structured ops are built from.
#pragma once

#include <cstdint>
#include <string_view>

#include "exchange/stablehlo/writer.h"
#include "graph/attributes.h"

namespace alate::exchange {

using graph::Numbers;

/// An op whose result has its first operand's shape: "add", "multiply", "exponential", …
HloValue like_first(HloWriter& w, std::string_view name, const HloValues& operands);
/// bool of x's dims; `direction` is EQ, NE, LT, LE, GT or GE.
HloValue compare(HloWriter& w, std::string_view direction, const HloValue& x, const HloValue& y,
                 bool is_total_order = false);
HloValue select(HloWriter& w, const HloValue& condition, const HloValue& on_true, const HloValue& on_false);
/// x itself where it has the dtype.
HloValue convert(HloWriter& w, const HloValue& x, DType dtype);
/// x itself where it has the dims.
HloValue reshape(HloWriter& w, const HloValue& x, const Numbers& extents);
HloValue transpose(HloWriter& w, const HloValue& x, const Numbers& permutation);
/// Axis i of x becomes axis mapping[i] of the result.
HloValue broadcast(HloWriter& w, const HloValue& x, const Numbers& extents, const Numbers& mapping);
/// Elements [first, limit) along an axis.
HloValue slice(HloWriter& w, const HloValue& x, std::size_t axis, std::int64_t first, std::int64_t limit);
HloValue pad(HloWriter& w, const HloValue& x, const HloValue& value, const Numbers& low, const Numbers& high);
HloValue concatenate(HloWriter& w, const HloValues& values, std::int64_t axis);
HloValue iota(HloWriter& w, const Shape& shape, std::int64_t axis);

/// `value` rounded to the shape's dtype, everywhere.
HloValue splat(HloWriter& w, const Shape& shape, double value);
/// `value` rounded to x's dtype, everywhere in x's dims.
inline HloValue splat_like(HloWriter& w, const HloValue& x, double value) { return splat(w, x.shape, value); }
/// The identity of a reduction, of a dtype that the reduction takes.
HloValue identity_of(HloWriter& w, graph::Reduction reduction, const Shape& shape);
/// The op that combines two values: "add", "maximum", …; sums and products of bool are "or" and "and".
std::string_view op_of(graph::Reduction reduction, DType dtype);
/// A region of two scalars that combines them.
std::string combining_region(HloWriter& w, graph::Reduction reduction, DType dtype);
/// x reduced over axes from the identity.
HloValue reduce(HloWriter& w, graph::Reduction reduction, const HloValue& x, const Numbers& axes);

/// The dtype that sums and products are computed in: f32 for f16 and bf16, so that they are rounded once; bytes for
/// sub-byte integers, which runtimes often cannot compute with.
DType computing_dtype(DType dtype);
/// Indices for slicing ops as i32 or i64, which still represent indices above all extents and below 0.
HloValue as_indices(HloWriter& w, const HloValue& indices);
/// Requests full f32 products on devices that have faster, less precise ones.
inline constexpr std::string_view kFullPrecision =
    "precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]";
/// 0, 1, … count - 1.
Numbers counted(std::size_t count);
bool names(const Numbers& axes, std::size_t axis);

}  // namespace alate::exchange
