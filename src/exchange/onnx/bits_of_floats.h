// Operations on the bits of floats: IEEE 754's total order, and narrowing with one rounding.
#pragma once

#include <string>

#include "exchange/onnx/term.h"
#include "graph/graph.h"

namespace alate::exchange::onnx {

inline constexpr int kBitCastOpset = 26;

/// Maps f32 and f64 to integers of the same width that sort in the floats' total order.
Term order_key(const Term& x);

/// Converts to f16 or bf16 with one rounding. The runtime's Cast goes through f32, which rounds f64 and large integers
/// twice.
Term narrowed(const Term& x, DType dtype);
/// Whether `narrowed` operates on bits.
bool narrows_by_bits(DType from, DType dtype);

/// Why a node that operates on bits of floats cannot be written, or empty.
std::string needs_bits(const graph::Graph& graph, const graph::Node& node, int opset);

}  // namespace alate::exchange::onnx
