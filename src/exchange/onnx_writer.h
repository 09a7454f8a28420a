// Export of graphs as ONNX models: https://onnx.ai/onnx/repo-docs/IR.html
//
// A model preserves the graph's semantics on ONNX Runtime's CPU kernels: where an ONNX operator leaves cases open that
// the op defines (division by zero, NaN, out-of-range indices), the model uses more operators. Complex values are pairs
// of floats along a last axis of 2, which has the same bytes.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace alate::exchange {

/// The oldest supported opset (ONNX Runtime 1.14), and the newest with an operator in use: 20 has Gelu, 26 has BitCast,
/// without which ops on the bits of floats cannot be written.
inline constexpr int kOldestOnnxOpset = 18, kNewestOnnxOpset = 26;

struct OnnxOptions {
  int opset = kOldestOnnxOpset;
  /// Constants of up to this many bytes are stored inline; ONNX Runtime takes no external ones below 128.
  std::size_t inline_constant_bytes = 1024;
};

/// A constant that the model names but does not contain; pass it to AddExternalInitializers.
struct OnnxInitializer {
  std::string name;
  graph::ConstantPtr constant;
};

struct OnnxModel {
  std::string bytes;
  std::vector<OnnxInitializer> initializers;
  /// Names of parameters and outputs, in order: the graph's names, made unique where they collide.
  std::vector<std::string> inputs, outputs;
};

/// Whether values of a dtype can be in a model at all.
bool has_onnx_values(DType dtype);

/// Whether a node can be written. `text` lists its operators ("Add", "Where, Div"), or says why it has none.
struct OnnxSupport {
  bool is_supported = false;
  std::string text;
};

OnnxSupport onnx_support(const graph::Graph& graph, const graph::Node& node, int opset = kOldestOnnxOpset);

/// The graph as a model. Fused ops without an ONNX form are decomposed first. Named dims stay names.
/// Throws unsupported, with the first op that cannot be written, its source and the reason; invalid_argument for an
/// opset that is not between the two above.
OnnxModel write_onnx(const graph::Graph& graph, const OnnxOptions& options = {});

}  // namespace alate::exchange
