#include "exchange/onnx/spelling.h"

#include <algorithm>

#include "alate/error.h"

namespace alate::exchange::onnx {
namespace {

using graph::Op;

constexpr std::span<const Spelling> (*kFamilies[])() = {
    elementwise_spellings, float_spellings,   integer_spellings,   conversion_spellings, moving_spellings,
    place_spellings,       product_spellings, reduction_spellings, order_spellings,      window_spellings,
    norm_spellings,        complex_spellings, quantized_spellings, region_spellings,
};

// The dtype that a row's `dtypes` refer to.
DType deciding_dtype(const graph::Graph& graph, const graph::Node& node) {
  if (node.operands.empty()) return node.results.empty() ? DType::boolean : node.results[0].dtype;
  const std::size_t place = node.op == Op::select || node.op == Op::clamp ? 1 : 0;
  return graph.shape(node.operands[place]).dtype;
}

std::string listed(graph::DTypeSet dtypes) {
  std::string text;
  for (const DType dtype : all_dtypes()) {
    if (graph::contains(dtypes, dtype)) text += (text.empty() ? "" : ", ") + std::string(to_string(dtype));
  }
  return text;
}

// Why a value cannot be held in an ONNX graph.
std::string refuse_shape(const Shape& shape) {
  if (has_onnx_values(shape.dtype)) return "";
  return "ONNX Runtime's kernels take no " + std::string(to_string(shape.dtype));
}

}  // namespace

const Spelling* find_spelling(const graph::Graph& graph, const graph::Node& node, int opset, std::string& reason) {
  const DType dtype = deciding_dtype(graph, node);
  graph::DTypeSet other_dtypes = 0;
  reason.clear();
  for (const graph::Value operand : node.operands) {
    if (reason.empty()) reason = refuse_shape(graph.shape(operand));
  }
  for (const Shape& result : node.results) {
    if (reason.empty()) reason = refuse_shape(result);
  }
  if (!reason.empty()) return nullptr;
  for (const auto& family : kFamilies) {
    for (const Spelling& spelling : family()) {
      if (spelling.op != node.op) continue;
      if (graph::contains(spelling.dtypes, dtype)) {
        if (spelling.refuse != nullptr) reason = spelling.refuse(graph, node, opset);
        return reason.empty() ? &spelling : nullptr;
      }
      other_dtypes |= spelling.dtypes;
    }
  }
  const std::string op(to_string(node.op));
  reason = other_dtypes == 0
               ? "no operators say " + op
               : op + " is written for " + listed(other_dtypes) + ", not " + std::string(to_string(dtype));
  return nullptr;
}

Terms write_node(const Call& call) {
  std::string reason;
  const Spelling* const spelling = find_spelling(call.graph, call.node, call.e.opset(), reason);
  if (spelling == nullptr) {
    const std::string& source = call.graph.source(call.node.source);
    throw make_error(ErrorCode::unsupported, "onnx cannot say ", to_string(call.node.op),
                     source.empty() ? "" : " (from " + source + ")", ": ", reason);
  }
  if (spelling->write != nullptr) return spelling->write(call);
  std::vector<DType> dtypes;
  for (const Shape& result : call.node.results) dtypes.push_back(result.dtype);
  return call.e.nodes(spelling->operators, dtypes, call.operands);
}

Terms write_graph(Emitter& e, const graph::Graph& graph, const Terms& arguments) {
  std::vector<Terms> results;
  const auto at = [&](graph::Value value) { return results.at(value.node).at(value.result); };
  for (const graph::Node& node : graph.nodes()) {
    if (node.op == Op::parameter) {
      results.push_back({arguments.at(static_cast<std::size_t>(std::get<graph::Index>(node.attributes).index))});
    } else if (node.op == Op::constant) {
      const auto index = static_cast<std::size_t>(std::get<graph::Index>(node.attributes).index);
      results.push_back({e.constant(graph.constants()[index])});
    } else {
      Call call{e, graph, node, {}};
      for (const graph::Value operand : node.operands) call.operands.push_back(at(operand));
      results.push_back(write_node(call));
    }
  }
  Terms outputs;
  for (const graph::Output& output : graph.outputs()) outputs.push_back(at(output.value));
  return outputs;
}

bool is_elementwise(const graph::Graph& region) {
  return std::ranges::all_of(region.nodes(), [](const graph::Node& node) {
    const graph::OpInfo& info = graph::op_info(node.op);
    return info.kind == graph::OpKind::leaf || (info.kind == graph::OpKind::standard && info.has(graph::kElementwise));
  });
}

}  // namespace alate::exchange::onnx
