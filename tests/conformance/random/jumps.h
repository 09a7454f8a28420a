// How ops respond to small errors of their operands: move them, let them grow a little, or jump.
#pragma once

#include <span>

#include "graph/graph.h"

namespace alate::conformance {

/// Whether each element of the results is one of the operands, or made of it without rounding.
bool moves_only(const graph::Node& node);

/// Whether a small error of a float can change a result by much: the op decides or rounds.
bool jumps(const graph::Node& node);

/// Whether the op rounds its first operand to a smaller type before it computes: products of bf16 or of integers.
bool rounds_first_operand(const graph::Node& node, std::span<const Tensor> operands);

/// Whether integers give integers, the same ones in any order of its sums and products.
bool sums_whole_numbers(const graph::Node& node);

/// Why no result for this operand can be compared; null: it can. Signs of zeros are not compared, so that an op must
/// not look at them, and complex functions jump along their cuts.
const char* wrong_place(const graph::Node& node, const Tensor& operand);

/// The same of operands together.
const char* wrong_places(const graph::Node& node, std::span<const Tensor> operands);

}  // namespace alate::conformance
