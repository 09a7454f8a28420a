#include <algorithm>
#include <map>
#include <new>
#include <string>

#include "alate/error.h"
#include "graph/interpreter.h"
#include "graph/reference/call.h"
#include "tensor/packed.h"

namespace alate::graph {

void ReferenceCall::fail(std::string_view what) const {
  std::string found;
  for (const Tensor& operand : operands) found += (found.empty() ? "" : ", ") + alate::to_string(operand.shape());
  const std::string where = source.empty() ? std::string() : " (from " + std::string(source) + ")";
  throw make_error(ErrorCode::invalid_argument, to_string(op), "(", found, ")", where, ": ", what);
}

std::int64_t ReferenceCall::extent(Dim dim) const {
  require(dims.is_bound(dim), "uses a dim that no input has");
  return dims(dim);
}

std::vector<std::int64_t> extents_of(const Shape& shape) {
  std::vector<std::int64_t> extents;
  for (const Dim dim : shape.dims) extents.push_back(dim.number());
  return extents;
}

std::int64_t product(std::span<const std::int64_t> extents) {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) product *= extent;
  return product;
}

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 31;

// Extents of 0 are ignored, so that no product of a subset of the extents can overflow.
void check_size(const Shape& shape, std::string_view what) {
  std::int64_t left = kMostElements;
  for (const Dim dim : shape.dims) {
    left /= std::max<std::int64_t>(dim.number(), 1);
    if (left == 0) {
      throw make_error(ErrorCode::resource_exhausted, what, ": ", alate::to_string(shape), " has over ", kMostElements,
                       " elements, more than the reference interpreter takes");
    }
  }
}

std::vector<Tensor> dispatch(const ReferenceCall& call) {
  switch (call.op) {
#define ALATE_LEAF_OP(name, ...) \
  case Op::name: break;
#define ALATE_OP(name, ...) \
  case Op::name: return {reference_##name(call)};
#define ALATE_FUSED_OP ALATE_OP
#define ALATE_REGION_OP(name, ...) \
  case Op::name: return reference_##name(call);
#define ALATE_MULTI_OP ALATE_REGION_OP
#define ALATE_MULTI_FUSED_OP ALATE_REGION_OP
#include "graph/ops.def"
  }
  throw make_error(ErrorCode::internal, to_string(call.op), " is a leaf, which is not computed");
}

// Data-movement ops get elements of whole bytes, whatever the dtype. Only bitcast works on bits.
bool moves_whole_bytes(Op op) {
  const OpInfo& info = op_info(op);
  return (info.has(kData) || info.has(kIndexed) || op == Op::select) && op != Op::bitcast;
}

std::vector<Tensor> dispatch_with_carriers(const ReferenceCall& call) {
  std::vector<Tensor> operands;
  std::vector<Shape> shapes;
  for (const Tensor& operand : call.operands) operands.push_back(tensor::unpacked(operand));
  for (const Shape& shape : call.shapes) shapes.push_back({tensor::carrier_of(shape.dtype), shape.dims});
  std::vector<Tensor> results = dispatch({.op = call.op,
                                          .attributes = call.attributes,
                                          .operands = operands,
                                          .regions = call.regions,
                                          .shapes = shapes,
                                          .dims = call.dims,
                                          .source = call.source,
                                          .cancellation = call.cancellation});
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = tensor::packed(results[i], call.shapes[i].dtype);
  return results;
}

std::vector<Tensor> evaluate(const ReferenceCall& call) {
  for (const Shape& shape : call.shapes) check_size(shape, to_string(call.op));
  try {
    return moves_whole_bytes(call.op) ? dispatch_with_carriers(call) : dispatch(call);
  } catch (const std::bad_alloc&) {
    throw make_error(ErrorCode::resource_exhausted, to_string(call.op),
                     ": no memory for its values as doubles; use smaller inputs");
  }
}

// Constants share operands; each is computed once.
Tensor materialize(const Constant& constant, std::map<const Constant*, Tensor>& done) {
  if (constant.is_leaf()) return constant.tensor;
  const auto found = done.find(&constant);
  if (found != done.end()) return found->second;
  std::vector<Tensor> operands;
  for (const ConstantPtr& operand : constant.operands) operands.push_back(materialize(*operand, done));
  DimTable no_dims;
  const Tensor value = evaluate({.op = constant.op,
                                 .attributes = constant.attributes,
                                 .operands = operands,
                                 .regions = {},
                                 .shapes = std::span(&constant.shape, 1),
                                 .dims = DimValues(no_dims),
                                 .source = {},
                                 .cancellation = base::Cancellation::never()})
                           .front();
  done.emplace(&constant, value);
  return value;
}

std::vector<Tensor> evaluate(const Graph& graph, const Node& node, const DimValues& dims,
                             std::span<const Tensor> inputs, const std::vector<std::vector<Tensor>>& values,
                             base::Cancellation cancellation) {
  cancellation.check();
  const auto place = [&] { return static_cast<std::size_t>(std::get<Index>(node.attributes).index); };
  if (node.op == Op::parameter) return {inputs[place()]};
  if (node.op == Op::constant) return {graph::materialize(*graph.constants()[place()])};
  std::vector<Tensor> operands;
  for (const Value operand : node.operands) operands.push_back(values[operand.node][operand.result]);
  std::vector<Shape> shapes;
  for (const Shape& shape : node.results) {
    for (const Dim dim : shape.dims) {
      if (!dims.is_bound(dim)) {
        throw make_error(ErrorCode::invalid_argument, to_string(node.op), ": the size of ",
                         graph.dims().to_string(shape), " is not known, because no input has all of its dims");
      }
    }
    shapes.push_back(dims(shape));
  }
  return evaluate({.op = node.op,
                   .attributes = node.attributes,
                   .operands = operands,
                   .regions = node.regions,
                   .shapes = shapes,
                   .dims = dims,
                   .source = graph.source(node.source),
                   .cancellation = cancellation});
}

}  // namespace

std::vector<Tensor> interpret_region(const Graph& region, const DimValues& dims, std::vector<Tensor> inputs,
                                     base::Cancellation cancellation) {
  std::vector<std::vector<Tensor>> values(region.nodes().size());
  std::vector<std::uint32_t> uses = use_counts(region);
  for (NodeId id = 0; id < region.nodes().size(); ++id) {
    const Node& node = region.node(id);
    if (uses[id] == 0) continue;
    values[id] = evaluate(region, node, dims, inputs, values, cancellation);
    for (const Value operand : node.operands) {
      if (--uses[operand.node] == 0) values[operand.node].clear();
    }
  }
  std::vector<Tensor> outputs;
  for (const Output& output : region.outputs()) outputs.push_back(values[output.value.node][output.value.result]);
  return outputs;
}

std::vector<Tensor> interpret(const Graph& graph, std::span<const Tensor> inputs, base::Cancellation cancellation) {
  const std::span<const Parameter> parameters = graph.parameters();
  if (inputs.size() != parameters.size()) {
    throw make_error(ErrorCode::invalid_argument, "graph '", graph.name(), "' takes ", parameters.size(),
                     " inputs but ", inputs.size(), " were given");
  }
  DimValues dims(graph.dims());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string what = "input '" + parameters[i].name + "'";
    dims.bind(parameters[i].shape, inputs[i].shape(), what);
    check_size(inputs[i].shape(), what);
  }
  return interpret_region(graph, dims, {inputs.begin(), inputs.end()}, cancellation);
}

std::vector<Tensor> interpret_op(Op op, const Attributes& attributes, std::span<const Region> regions,
                                 std::span<const Tensor> operands, std::span<const Shape> shapes, const DimValues& dims,
                                 base::Cancellation cancellation) {
  return evaluate({.op = op,
                   .attributes = attributes,
                   .operands = operands,
                   .regions = regions,
                   .shapes = shapes,
                   .dims = dims,
                   .source = {},
                   .cancellation = cancellation});
}

Tensor materialize(const Constant& constant) {
  std::map<const Constant*, Tensor> done;
  return materialize(constant, done);
}

}  // namespace alate::graph
