// What is decided by the bits of floats: IEEE 754's total order.
#pragma once

#include <string>

#include "exchange/onnx/term.h"
#include "graph/graph.h"

namespace alate::exchange::onnx {

inline constexpr int kBitCastOpset = 26;

/// Of f32 and f64: integers of their width, in the total order of the floats.
Term order_key(const Term& x);

/// To f16 or bf16, rounded once. The runtime's Cast goes through f32, which rounds f64 and long integers twice.
Term narrowed(const Term& x, DType dtype);
/// Whether `narrowed` looks at bits.
bool narrows_by_bits(DType from, DType dtype);

/// Why a node that looks at bits of floats cannot be written, or nothing.
std::string needs_bits(const graph::Graph& graph, const graph::Node& node, int opset);

}  // namespace alate::exchange::onnx
