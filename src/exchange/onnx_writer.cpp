#include "exchange/onnx_writer.h"

#include "alate/error.h"
#include "exchange/onnx/attribute.h"
#include "exchange/onnx/spelling.h"
#include "graph/decompose.h"

namespace alate::exchange {

bool has_onnx_values(DType dtype) { return onnx::onnx_dtype(dtype) != 0 || is_complex(dtype); }

OnnxSupport onnx_support(const graph::Graph& graph, const graph::Node& node, int opset) {
  std::string reason;
  const onnx::Spelling* const spelling = onnx::find_spelling(graph, node, opset, reason);
  if (spelling == nullptr) return {false, reason};
  return {true, std::string(spelling->operators)};
}

OnnxModel write_onnx(const graph::Graph& graph, const OnnxOptions& options) {
  if (options.opset < kOldestOnnxOpset || options.opset > kNewestOnnxOpset) {
    throw make_error(ErrorCode::invalid_argument, "opset ", options.opset, " is not written; from ", kOldestOnnxOpset,
                     " to ", kNewestOnnxOpset, " are");
  }
  const graph::Graph plain = graph::decompose(graph, [&](const graph::Graph& of, const graph::Node& node) {
    return onnx_support(of, node, options.opset).is_supported;
  });
  onnx::Emitter e(plain, options);
  onnx::Terms parameters;
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < plain.parameters().size(); ++i) parameters.push_back(e.parameter(i));
  const onnx::Terms results = onnx::write_graph(e, plain, parameters);
  std::vector<std::pair<std::string, onnx::Term>> outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    outputs.emplace_back(plain.outputs()[i].name, results[i]);
    shapes.push_back(plain.shape(plain.outputs()[i].value));
  }
  return e.finish(outputs, shapes);
}

}  // namespace alate::exchange
