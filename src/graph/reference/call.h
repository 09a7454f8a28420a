// The argument of reference functions, and the list of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "base/threads/cancellation.h"
#include "graph/dims.h"
#include "graph/graph.h"
#include "graph/op.h"

namespace alate::graph {

/// One op with its operands' values. Shape inference has accepted it, and `shapes` are its results' static shapes.
struct ReferenceCall {
  Op op;
  const Attributes& attributes;
  std::span<const Tensor> operands;
  std::span<const Region> regions;
  std::span<const Shape> shapes;
  const DimValues& dims;
  std::string_view source;          // of the node, for messages; may be empty
  base::Cancellation cancellation;  // as `interpret` takes it

  template <typename Attribute>
  const Attribute& as() const {
    return std::get<Attribute>(attributes);
  }
  const Tensor& operand(std::size_t place) const { return operands[place]; }
  const Shape& shape() const { return shapes[0]; }
  /// Throws invalid_argument when no input has given the dim a value.
  std::int64_t extent(Dim dim) const;
  /// Throws invalid_argument with the op, the shapes of its operands, its source and `what`.
  [[noreturn]] void fail(std::string_view what) const;
  void require(bool holds, std::string_view what) const {
    if (!holds) fail(what);
  }
};

/// The extents of a static shape.
std::vector<std::int64_t> extents_of(const Shape& shape);
/// Product of extents; 1 for none.
std::int64_t product(std::span<const std::int64_t> extents);

/// A region's outputs for operands of its parameters' shapes; dims have the same values as in its parent. Throws as
/// `interpret` does when cancelled.
std::vector<Tensor> interpret_region(const Graph& region, const DimValues& dims, std::vector<Tensor> inputs,
                                     base::Cancellation cancellation);

// One function per row of the op table, in its family's file; a missing one is a link error.
#define ALATE_LEAF_OP(...)
#define ALATE_OP(name, ...) Tensor reference_##name(const ReferenceCall& call);
#define ALATE_FUSED_OP ALATE_OP
#define ALATE_REGION_OP(name, ...) std::vector<Tensor> reference_##name(const ReferenceCall& call);
#define ALATE_MULTI_OP ALATE_REGION_OP
#define ALATE_MULTI_FUSED_OP ALATE_REGION_OP
#include "graph/ops.def"

}  // namespace alate::graph
