// The spelling table: which ops can be expressed in ONNX, and the function that writes each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "exchange/onnx/emitter.h"
#include "graph/graph.h"

namespace alate::exchange::onnx {

/// A node with its operands' terms. In a region of only element-wise ops, operands may have extra leading axes, because
/// such regions are written for all elements at once.
struct Call {
  Emitter& e;
  const graph::Graph& graph;
  const graph::Node& node;
  Terms operands;

  template <typename Attribute>
  const Attribute& as() const {
    return std::get<Attribute>(node.attributes);
  }
  const Term& operator[](std::size_t place) const { return operands[place]; }
  const Shape& shape(std::size_t operand = 0) const { return graph.shape(node.operands[operand]); }
  const Shape& result(std::size_t place = 0) const { return node.results[place]; }
};

/// The dtypes that ONNX Runtime computes with on every processor.
inline constexpr graph::DTypeSet kIntegers = graph::set_of(DType::i32) | graph::set_of(DType::i64);
inline constexpr graph::DTypeSet kFloats = graph::set_of(DType::f32) | graph::set_of(DType::f64);
inline constexpr graph::DTypeSet kNumbers = kIntegers | kFloats;
inline constexpr graph::DTypeSet kMain = kNumbers | graph::kBool;
/// The dtypes that ONNX Runtime can move.
inline constexpr graph::DTypeSet kMoved =
    kMain | graph::set_of(DType::i8) | graph::set_of(DType::i16) | graph::set_of(DType::u8) |
    graph::set_of(DType::u16) | graph::set_of(DType::u32) | graph::set_of(DType::u64) | graph::set_of(DType::f16);

struct Spelling {
  graph::Op op;
  graph::DTypeSet dtypes;                      // of operand 0 (select and clamp: operand 1; no operands: the result)
  std::string_view operators;                  // ONNX operators
  Terms (*write)(const Call& call) = nullptr;  // null: one node of that operator
  /// Why a node cannot be written, or empty. Null: it always can.
  std::string (*refuse)(const graph::Graph& graph, const graph::Node& node, int opset) = nullptr;
};

// Families.
std::span<const Spelling> elementwise_spellings();
std::span<const Spelling> float_spellings();
std::span<const Spelling> integer_spellings();
std::span<const Spelling> conversion_spellings();
std::span<const Spelling> moving_spellings();
std::span<const Spelling> place_spellings();
std::span<const Spelling> product_spellings();
std::span<const Spelling> reduction_spellings();
std::span<const Spelling> order_spellings();
std::span<const Spelling> window_spellings();
std::span<const Spelling> norm_spellings();
std::span<const Spelling> complex_spellings();
std::span<const Spelling> quantized_spellings();
std::span<const Spelling> region_spellings();

/// The row that writes this node; null and a `reason` if there is none.
const Spelling* find_spelling(const graph::Graph& graph, const graph::Node& node, int opset, std::string& reason);

/// The results of a node that has a spelling.
Terms write_node(const Call& call);
/// The outputs of a graph over `arguments` for its parameters.
Terms write_graph(Emitter& e, const graph::Graph& graph, const Terms& arguments);
/// Whether a region may be written for all elements of tensors at once.
bool is_elementwise(const graph::Graph& region);

}  // namespace alate::exchange::onnx
