#include "exchange/onnx/emitter.h"

#include <algorithm>
#include <cstring>

#include "alate/error.h"
#include "exchange/onnx/message_fields.h"
#include "graph/builder.h"
#include "graph/interpreter.h"

namespace alate::exchange::onnx {
namespace {

// The IR version of each opset from kOldestOnnxOpset on.
constexpr std::int64_t kIrVersions[] = {8, 9, 9, 10, 10, 11, 12, 13, 13};

ProtobufWriter tensor_proto(const std::string& name, DType dtype, std::span<const std::int64_t> extents) {
  ProtobufWriter tensor;
  for (const std::int64_t extent : extents) tensor.integer(tensor_field::kDims, extent);
  tensor.integer(tensor_field::kDataType, onnx_dtype(dtype));
  tensor.bytes(tensor_field::kName, name);
  return tensor;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Emitter::Emitter(const graph::Graph& graph, const OnnxOptions& options) : graph_(graph), options_(options) {
  for (const graph::Parameter& parameter : graph.parameters())
    parameters_.push_back({this, unique(parameter.name), parameter.shape.dtype});
}

std::string Emitter::unique(std::string_view wanted) {
  std::string name(wanted);
  while (name.empty() || name == "v" || !names_.insert(name).second)
    name = std::string(wanted) + std::to_string(next_name_++);
  return name;
}

Term Emitter::node(std::string_view op, DType dtype, const Terms& inputs, const Attributes& attributes) {
  return nodes(op, {dtype}, inputs, attributes).front();
}

Terms Emitter::nodes(std::string_view op, const std::vector<DType>& dtypes, const Terms& inputs,
                     const Attributes& attributes) {
  ProtobufWriter node;
  Terms results;
  for (const Term& input : inputs) node.bytes(node_field::kInput, input.name);
  for (const DType dtype : dtypes) {
    results.push_back({this, new_name(), dtype});
    node.bytes(node_field::kOutput, results.back().name);
  }
  // Optimizers derive the names of their nodes from this one.
  if (!results.empty()) node.bytes(node_field::kName, results.front().name);
  node.bytes(node_field::kOpType, op);
  for (const Attribute& attribute : attributes) node.message(node_field::kAttribute, attribute.bytes);
  open_.back().message(graph_field::kNode, node);
  return results;
}

Term Emitter::tensor(DType dtype, std::span<const std::int64_t> extents, std::string_view bytes) {
  std::string key = std::to_string(onnx_dtype(dtype));
  for (const std::int64_t extent : extents) key += "," + std::to_string(extent);
  key.append(":").append(bytes);
  const auto [found, is_new] = tensors_.try_emplace(key);
  if (is_new) {
    found->second = {this, new_name(), dtype};
    ProtobufWriter tensor = tensor_proto(found->second.name, dtype, extents);
    tensor.bytes(tensor_field::kRawData, bytes);
    initializers_.message(graph_field::kInitializer, tensor);
  }
  return found->second;
}

Term Emitter::scalar(DType dtype, double value) {
  graph::Builder b("scalar");
  b.scalar(dtype, value);
  return tensor(dtype, {}, as_text(b.so_far().constants().front()->tensor.bytes()));
}

Term Emitter::integer(DType dtype, std::int64_t value) {
  return tensor(dtype, {}, {reinterpret_cast<const char*>(&value), bits_of(dtype) / 8});  // little-endian
}

Term Emitter::integers(const std::vector<std::int64_t>& values) {
  const std::int64_t extent[] = {static_cast<std::int64_t>(values.size())};
  return tensor(DType::i64, extent, as_text(std::as_bytes(std::span(values))));
}

Term Emitter::constant(const graph::ConstantPtr& constant) {
  const auto [found, is_new] = constants_.try_emplace(constant->identity);
  if (!is_new) return found->second;
  const Shape& shape = constant->shape;
  std::vector<std::int64_t> extents;
  for (const Dim dim : shape.dims) extents.push_back(dim.number());
  if (is_complex(shape.dtype)) extents.push_back(2);
  const DType stored = stored_dtype(shape.dtype);
  if (shape.byte_count() <= options_.inline_constant_bytes) {
    found->second = tensor(stored, extents, as_text(graph::materialize(*constant).bytes()));
    found->second.dtype = shape.dtype;
    return found->second;
  }
  found->second = {this, unique(constant->name), shape.dtype};
  ProtobufWriter tensor = tensor_proto(found->second.name, stored, extents), location;
  location.bytes(1, "location");
  location.bytes(2, found->second.name);
  tensor.message(tensor_field::kExternalData, location);
  tensor.integer(tensor_field::kDataLocation, 1);
  initializers_.message(graph_field::kInitializer, tensor);
  external_.push_back({found->second.name, constant});
  return found->second;
}

Term Emitter::extents(const std::vector<Dim>& dims) {
  std::vector<std::int64_t> numbers;
  Terms parts;
  const auto flush = [&] {
    if (!numbers.empty()) parts.push_back(integers(numbers));
    numbers.clear();
  };
  for (const Dim dim : dims) {
    if (dim.is_number()) {
      numbers.push_back(dim.number());
    } else {
      flush();
      parts.push_back(dim_extent(dim.id()));
    }
  }
  if (parts.empty()) return integers(numbers);
  flush();
  return parts.size() == 1 ? parts[0] : node("Concat", DType::i64, parts, {attribute("axis", 0)});
}

Term Emitter::dim_extent(DimId id) {
  const auto found = dim_extents_.find(id);
  if (found != dim_extents_.end()) return found->second;
  const graph::DimEntry& entry = graph_.dims().entry(id);
  const Term extent = entry.kind == graph::DimEntry::Kind::name ? name_extent(id) : form_extent(entry);
  return dim_extents_[id] = extent;
}

// Sums, quotients and so on of i64[1], computed once a run.
Term Emitter::form_extent(const graph::DimEntry& entry) {
  using Kind = graph::DimEntry::Kind;
  const Term first = form_extent(entry.first);
  if (entry.kind == Kind::sum) return first;
  const Term second = entry.kind == Kind::quotient ? Term() : form_extent(entry.second);
  std::swap(prologue_, open_.back());
  Term result;
  switch (entry.kind) {
    case Kind::product: result = first * second; break;
    case Kind::smaller: result = node("Min", DType::i64, {first, second}); break;
    case Kind::larger: result = node("Max", DType::i64, {first, second}); break;
    default: {
      // Div truncates, and the remainder of Mod has the sign of the divisor.
      const Term by = integers({entry.divisor});
      result = (first - node("Mod", DType::i64, {first, by})) / by;
    }
  }
  std::swap(prologue_, open_.back());
  return result;
}

Term Emitter::form_extent(const graph::DimForm& form) {
  Term sum = integers({form.plus});
  for (const graph::DimForm::Term& term : form.terms) {
    const Term atom = dim_extent(term.atom);
    std::swap(prologue_, open_.back());
    sum = sum + atom * integers({term.factor});
    std::swap(prologue_, open_.back());
  }
  return sum;
}

// Taken from the first parameter that has the dim.
Term Emitter::name_extent(DimId id) {
  for (std::size_t place = 0; place < parameters_.size(); ++place) {
    const std::vector<Dim>& dims = graph_.parameters()[place].shape.dims;
    const auto at = std::find(dims.begin(), dims.end(), Dim::of_id(id));
    if (at == dims.end()) continue;
    std::swap(prologue_, open_.back());
    const Term shape = node("Shape", DType::i64, {parameters_[place]});
    const Term extent = node("Gather", DType::i64, {shape, integers({at - dims.begin()})}, {attribute("axis", 0)});
    std::swap(prologue_, open_.back());
    return extent;
  }
  throw make_error(ErrorCode::unsupported, "dim ", graph_.dims()[id].name, " is no extent of any parameter");
}

ProtobufWriter Emitter::value_info(const std::string& name, const Shape& shape) const {
  ProtobufWriter dims, tensor, type, info;
  const auto add = [&](Dim dim) {
    ProtobufWriter entry;
    if (dim.is_number()) {
      entry.integer(1, dim.number());
    } else {
      entry.bytes(2, graph_.dims().to_string(dim));
    }
    dims.message(1, entry);
  };
  for (const Dim dim : shape.dims) add(dim);
  if (is_complex(shape.dtype)) add(2);
  tensor.integer(1, onnx_dtype(stored_dtype(shape.dtype)));
  tensor.message(2, dims);
  type.message(1, tensor);
  info.bytes(1, name);
  info.message(2, type);
  return info;
}

OnnxModel Emitter::finish(const std::vector<std::pair<std::string, Term>>& outputs, const std::vector<Shape>& shapes) {
  OnnxModel model;
  ProtobufWriter ends;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    model.inputs.push_back(parameters_[i].name);
    ends.message(graph_field::kInput, value_info(parameters_[i].name, graph_.parameters()[i].shape));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    model.outputs.push_back(unique(outputs[i].first));
    // A separate Identity node, so that one value can be several outputs, or a parameter can be an output.
    ProtobufWriter node;
    node.bytes(node_field::kInput, outputs[i].second.name);
    node.bytes(node_field::kOutput, model.outputs.back());
    node.bytes(node_field::kOpType, "Identity");
    open_.back().message(graph_field::kNode, node);
    ends.message(graph_field::kOutput, value_info(model.outputs.back(), shapes[i]));
  }
  ProtobufWriter graph, opset, bytes;
  graph.append(prologue_);
  graph.append(open_.back());
  graph.bytes(graph_field::kName, graph_.name().empty() ? "graph" : graph_.name());
  graph.append(initializers_);
  graph.append(ends);
  opset.bytes(1, "");
  opset.integer(2, options_.opset);
  bytes.integer(1, kIrVersions[options_.opset - kOldestOnnxOpset]);
  bytes.bytes(2, "alate");
  bytes.message(7, graph);
  bytes.message(8, opset);
  model.bytes = bytes.take();
  model.initializers = std::move(external_);
  return model;
}

}  // namespace alate::exchange::onnx
