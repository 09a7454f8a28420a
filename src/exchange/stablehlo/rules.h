// How each op is written: a StableHLO name, and a function where attributes or several ops are needed.
#pragma once

#include <string>
#include <string_view>

#include "exchange/stablehlo/writer.h"
#include "graph/dims.h"
#include "graph/graph.h"

namespace alate::exchange {

/// A node of a graph with its operands' values and its results' static shapes.
struct HloCall {
  const graph::Graph& graph;
  const graph::Node& node;
  HloValues operands;
  std::vector<Shape> shapes;
  const graph::DimValues& dims;

  template <typename Attribute>
  const Attribute& as() const {
    return std::get<Attribute>(node.attributes);
  }
  const HloValue& operand(std::size_t place) const { return operands[place]; }
  const Shape& shape() const { return shapes[0]; }
};

/// Writes the ops of a node and returns its results.
using HloRule = HloValues (*)(HloWriter& w, const HloCall& call);
/// Why a node cannot be written; empty where it can.
using HloRefusal = std::string (*)(const graph::Graph& graph, const graph::Node& node);

/// A row of the table in spellings.cpp. Without a rule, the node is the StableHLO op of this spelling, without
/// attributes.
struct HloSpelling {
  graph::Op op;
  std::string_view spelling;
  HloRule rule = nullptr;
  HloRefusal refusal = nullptr;
};

/// Null for fused ops.
const HloSpelling* find_spelling(graph::Op op);

/// Writes the nodes of a graph or region whose parameters have these values, and returns its outputs.
HloValues write_nodes(HloWriter& w, const graph::Graph& graph, const graph::DimValues& dims,
                      const HloValues& arguments);

// One function per row, or one for several similar rows.
#define ALATE_HLO_RULE(name) HloValues write_##name(HloWriter& w, const HloCall& call)

// elementwise.cpp
ALATE_HLO_RULE(identity);
ALATE_HLO_RULE(abs);
ALATE_HLO_RULE(sign);
ALATE_HLO_RULE(is_nan);
ALATE_HLO_RULE(bit_count);
ALATE_HLO_RULE(real);
ALATE_HLO_RULE(imag);
ALATE_HLO_RULE(conj);
ALATE_HLO_RULE(sum_or_product);
ALATE_HLO_RULE(div);
ALATE_HLO_RULE(convert);
ALATE_HLO_RULE(bitcast);
std::string refuse_bitcast(const graph::Graph& graph, const graph::Node& node);
// functions.cpp
ALATE_HLO_RULE(function);
ALATE_HLO_RULE(atan2);
ALATE_HLO_RULE(pow);
ALATE_HLO_RULE(cbrt);
ALATE_HLO_RULE(log1p);
// order.cpp
ALATE_HLO_RULE(comparison);
ALATE_HLO_RULE(larger_or_smaller);
ALATE_HLO_RULE(clamp);
ALATE_HLO_RULE(top_k);
ALATE_HLO_RULE(sort);
ALATE_HLO_RULE(arg_min_max);
// data.cpp
ALATE_HLO_RULE(iota);
ALATE_HLO_RULE(transpose);
ALATE_HLO_RULE(broadcast_in_dim);
ALATE_HLO_RULE(concatenate);
ALATE_HLO_RULE(slice);
ALATE_HLO_RULE(pad);
ALATE_HLO_RULE(reverse);
ALATE_HLO_RULE(dynamic_slice);
ALATE_HLO_RULE(dynamic_update_slice);
ALATE_HLO_RULE(dimension_size);
ALATE_HLO_RULE(dynamic_reshape);
// indexed.cpp
ALATE_HLO_RULE(gather);
ALATE_HLO_RULE(scatter);
// sums.cpp
ALATE_HLO_RULE(dot_general);
ALATE_HLO_RULE(reduction);
ALATE_HLO_RULE(cumulative);
// windows.cpp
ALATE_HLO_RULE(conv_general);
ALATE_HLO_RULE(reduce_window);
ALATE_HLO_RULE(select_and_scatter);
// transforms.cpp
ALATE_HLO_RULE(fft);
ALATE_HLO_RULE(rng_bit_generator);
// norms.cpp
ALATE_HLO_RULE(batch_norm_inference);
ALATE_HLO_RULE(batch_norm_training);
ALATE_HLO_RULE(batch_norm_gradient);
// quantized.cpp
ALATE_HLO_RULE(dequantize);
// regions.cpp
ALATE_HLO_RULE(barrier);
ALATE_HLO_RULE(alone);
ALATE_HLO_RULE(collective_permute);
ALATE_HLO_RULE(while_loop);
ALATE_HLO_RULE(if_else);
ALATE_HLO_RULE(call);
ALATE_HLO_RULE(generic_reduce);

#undef ALATE_HLO_RULE

}  // namespace alate::exchange
