// Constants: tensors of a file, or pure ops over such tensors, with an identity that is known without reading the
// bytes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "alate/tensor.h"
#include "graph/dims.h"
#include "graph/op.h"

namespace alate::graph {

struct Constant;
using ConstantPtr = std::shared_ptr<const Constant>;

/// Immutable. A leaf has a tensor and no operands; any other constant is `op` with `attributes` over its operands,
/// computed by the first reader of the bytes (see backends/weight_store.h), so that folding a graph costs nothing and
/// nothing is folded twice.
struct Constant {
  std::string name;  // the weight's name in its file, for messages; else the first leaf's
  Shape shape;       // static
  Fingerprint identity;
  Tensor tensor;
  Op op = Op::constant;
  Attributes attributes;
  std::vector<ConstantPtr> operands;

  bool is_leaf() const { return operands.empty() && op == Op::constant; }
};

/// A leaf whose identity the caller knows (a file's tensor).
ConstantPtr make_constant(std::string name, Tensor tensor, const Fingerprint& identity);
/// A leaf whose identity is the fingerprint of its shape and bytes: for small in-memory values.
ConstantPtr make_constant(std::string name, Tensor tensor);
/// `op` over constants.
ConstantPtr make_constant(Op op, Attributes attributes, Shape shape, std::vector<ConstantPtr> operands);

/// Adds the attribute struct's fields, or a shape, to a fingerprint: dims as the table writes them, so that the
/// fingerprint is the same in every process; without a table by their ids, which mean something within one graph.
void add_attributes(FingerprintBuilder& builder, const Attributes& attributes, const DimTable* dims);
void add_shape(FingerprintBuilder& builder, const Shape& shape, const DimTable* dims);

}  // namespace alate::graph
