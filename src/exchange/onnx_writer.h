// Graphs as ONNX models, for runtimes that read them: https://onnx.ai/onnx/repo-docs/IR.html
//
// What a model computes is what the graph means, with ONNX Runtime's processor kernels in mind: where an operator of
// ONNX says less than the op does (division by zero, NaN, what lies outside), the model says it in more operators.
// Complex values are pairs of floats along a last axis of 2, which are the same bytes.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace alate::exchange {

/// The oldest opset that is written (ONNX Runtime 1.14), and the newest of which something is used: 20 has Gelu, 26 has
/// BitCast, without which what asks for the bits of floats cannot be said.
inline constexpr int kOldestOnnxOpset = 18, kNewestOnnxOpset = 26;

struct OnnxOptions {
  int opset = kOldestOnnxOpset;
  /// Constants of up to so many bytes are in the model; ONNX Runtime takes no external ones below 128.
  std::size_t inline_constant_bytes = 1024;
};

/// A constant that the model names and does not hold: to be given to AddExternalInitializers.
struct OnnxInitializer {
  std::string name;
  graph::ConstantPtr constant;
};

struct OnnxModel {
  std::string bytes;
  std::vector<OnnxInitializer> initializers;
  /// Of parameters and outputs, in their order: their own names where no other has it, made unique otherwise.
  std::vector<std::string> inputs, outputs;
};

/// Whether values of a dtype can be in a model at all.
bool has_onnx_values(DType dtype);

/// Whether a node can be written. `text` is how it is spelled ("Add", "Where, Div"), or why it is not.
struct OnnxSupport {
  bool is_supported = false;
  std::string text;
};

OnnxSupport onnx_support(const graph::Graph& graph, const graph::Node& node, int opset = kOldestOnnxOpset);

/// The graph as a model. Fused ops that have no spelling are decomposed first. Named dims stay names.
/// Throws unsupported, with the first op that cannot be written, its source and the reason; invalid_argument for an
/// opset that is not between the two above.
OnnxModel write_onnx(const graph::Graph& graph, const OnnxOptions& options = {});

}  // namespace alate::exchange
