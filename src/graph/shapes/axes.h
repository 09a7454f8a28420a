// Checks of axes and dims shared by shape rules.
#pragma once

#include <string_view>

#include "graph/infer.h"

namespace alate::graph {

bool are_distinct_axes(const Numbers& axes, std::size_t rank);
bool are_sorted(const Numbers& axes);
/// Whether `axes` names the axis.
bool names(const Numbers& axes, std::size_t axis);

/// The axis as an index; fails, calling it `what` of operand `operand`, if it is outside the operand's rank.
std::size_t require_axis(const InferenceInput& input, std::int64_t axis, std::size_t operand, std::string_view what);
/// Fails if a dim is not in the dim table, or if the product of the static dims overflows.
void require_dims(const InferenceInput& input, const Dims& dims, std::string_view what);
/// Fails unless operands `first`… are integer scalars of one dtype, one for each axis of operand 0.
void require_start_indices(const InferenceInput& input, std::size_t first);
/// Fails if `size` exceeds the extent of an axis of operand `operand`. Only static extents are checked here; named ones
/// are checked in each run.
void require_fits(const InferenceInput& input, Dim size, std::size_t operand, std::size_t axis, std::string_view what);

/// The shapes of a region's outputs.
std::vector<Shape> output_shapes(const Graph& region);
/// The region at index `place`; fails, calling it `what`, unless it takes values of these shapes.
const Graph& require_region(const InferenceInput& input, std::size_t place, std::span<const Shape> shapes,
                            std::string_view what);

}  // namespace alate::graph
