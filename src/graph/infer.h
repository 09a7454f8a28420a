// Shape inference: one rule for each form of op, named in the op table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace alate::graph {

/// What a rule sees of a node.
struct InferenceInput {
  Op op;
  const Attributes& attributes;
  std::span<const Shape> operands;
  std::span<const Region> regions;
  const DimTable& dims;
  std::string_view source;

  template <typename Attribute>
  const Attribute& as() const {
    return std::get<Attribute>(attributes);
  }
  /// Throws invalid_argument with the op, its source, all operand shapes and `rule`.
  [[noreturn]] void fail(std::string_view rule) const;
  void require(bool holds, std::string_view rule) const {
    if (!holds) fail(rule);
  }
};

/// The shapes of a node's results. Checks arity, kind of attributes and dtypes by the op's row, then applies the row's
/// rule. Throws invalid_argument.
std::vector<Shape> infer_shapes(const InferenceInput& input);

}  // namespace alate::graph
