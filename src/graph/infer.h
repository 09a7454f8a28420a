// Shape inference, by rules that the op table names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "alate/error.h"
#include "graph/graph.h"

namespace alate::graph {

/// A shape rule's view of a node.
struct InferenceInput {
  Op op;
  const Attributes& attributes;
  std::span<const Shape> operands;
  std::span<const Region> regions;
  DimTable& dims;  // where forms of sizes get their ids
  std::string_view source;

  template <typename Attribute>
  const Attribute& as() const {
    return std::get<Attribute>(attributes);
  }
  /// Throws with the op, its source, all operand shapes and `rule`.
  [[noreturn]] void fail(std::string_view rule, ErrorCode code = ErrorCode::invalid_argument) const;
  void require(bool holds, std::string_view rule) const {
    if (!holds) fail(rule);
  }
  /// `rule()` returns the text; it is called only on failure.
  template <typename Rule>
    requires std::is_invocable_r_v<std::string, Rule>
  void require(bool holds, const Rule& rule) const {
    if (!holds) fail(rule());
  }
};

/// Whether the number of elements and their bytes fit in 64 bits. Named dims count as 1, and so do extents of 0, so
/// that no product of a subset of the extents overflows either.
bool is_countable(const Shape& shape);

/// The shapes of a node's results. Checks arity, attribute type and dtypes against the op's row, then applies the row's
/// rule. Throws invalid_argument.
std::vector<Shape> infer_shapes(const InferenceInput& input);

}  // namespace alate::graph
