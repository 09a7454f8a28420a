#include "graph/builder.h"

#include <algorithm>

#include "alate/error.h"
#include "graph/infer.h"
#include "tensor/packed.h"

namespace alate::graph {

Builder::Builder(std::string name, std::shared_ptr<DimTable> dims) {
  graph_.name_ = std::move(name);
  graph_.dims_ = dims ? std::move(dims) : std::make_shared<DimTable>();
}

Dim Builder::dim(std::string_view name, std::int64_t min, std::optional<std::int64_t> max, bool paddable) {
  return graph_.dims_->named(name, min, max, paddable);
}

Value Builder::append(Node node) {
  node.source = source_;
  graph_.nodes_.push_back(std::move(node));
  return Value{static_cast<NodeId>(graph_.nodes_.size() - 1), 0};
}

Value Builder::parameter(std::string name, Shape shape, bool donatable) {
  for (const Parameter& other : graph_.parameters_) {
    if (other.name == name)
      throw make_error(ErrorCode::invalid_argument, "graph '", graph_.name_, "' already has a parameter '", name, "'");
  }
  if (!is_countable(shape)) {
    throw make_error(ErrorCode::invalid_argument, "graph '", graph_.name_, "': parameter '", name, "' is ",
                     graph_.dims_->to_string(shape), ": the number of elements overflows");
  }
  Node node{.op = Op::parameter,
            .attributes = Index{static_cast<std::int64_t>(graph_.parameters_.size())},
            .operands = {},
            .results = {shape},
            .regions = {},
            .source = 0};
  graph_.parameters_.push_back({std::move(name), std::move(shape), donatable});
  return append(std::move(node));
}

Value Builder::constant(ConstantPtr constant) {
  const auto found = constants_.find(constant->identity);
  if (found != constants_.end() && graph_.shape(found->second) == constant->shape) return found->second;
  Node node{.op = Op::constant,
            .attributes = Index{static_cast<std::int64_t>(graph_.constants_.size())},
            .operands = {},
            .results = {constant->shape},
            .regions = {},
            .source = 0};
  const Fingerprint identity = constant->identity;
  graph_.constants_.push_back(std::move(constant));
  return constants_[identity] = append(std::move(node));
}

Value Builder::scalar(DType dtype, double value) { return constant(tensor::scalar_of(dtype, value)); }

void Builder::set_source(std::string_view source) {
  const auto found = sources_.find(source);
  if (found != sources_.end()) {
    source_ = found->second;
    return;
  }
  if (source.empty()) {
    source_ = 0;
    return;
  }
  graph_.sources_.emplace_back(source);
  source_ = static_cast<SourceId>(graph_.sources_.size() - 1);
  sources_.emplace(source, source_);
}

std::vector<Value> Builder::emit(Op op, std::vector<Value> operands, Attributes attributes,
                                 std::vector<Region> regions) {
  if (op_info(op).kind == OpKind::leaf)
    throw make_error(ErrorCode::invalid_argument, to_string(op), " is made by Builder::", to_string(op),
                     ", not by emit");
  std::vector<Shape> shapes;
  shapes.reserve(operands.size());
  for (const Value operand : operands) {
    if (operand.node >= graph_.nodes_.size() || operand.result >= graph_.nodes_[operand.node].results.size()) {
      throw make_error(ErrorCode::invalid_argument, to_string(op), " in graph '", graph_.name_,
                       "': operand names a value that the graph does not have");
    }
    shapes.push_back(graph_.shape(operand));
  }
  std::vector<Shape> results = infer_shapes({op, attributes, shapes, regions, *graph_.dims_, graph_.sources_[source_]});
  if (results.size() > UINT16_MAX) {
    throw make_error(ErrorCode::invalid_argument, to_string(op), " in graph '", graph_.name_, "' would have ",
                     results.size(), " results: at most 65535 are possible");
  }
  const auto count = static_cast<std::uint16_t>(results.size());
  const Value first = append({.op = op,
                              .attributes = std::move(attributes),
                              .operands = std::move(operands),
                              .results = std::move(results),
                              .regions = std::move(regions),
                              .source = 0});
  std::vector<Value> values;
  for (std::uint16_t i = 0; i < count; ++i) values.push_back({first.node, i});
  return values;
}

void Builder::output(std::string name, Value value, std::optional<std::size_t> aliases_parameter) {
  graph_.outputs_.push_back({std::move(name), value, aliases_parameter});
}

Graph Builder::finish() {
  verify(graph_);
  Graph done = std::move(graph_);
  graph_ = Graph();
  graph_.dims_ = std::make_shared<DimTable>();
  constants_.clear();
  sources_.clear();
  source_ = 0;
  return done;
}

Value broadcast_to(Builder& b, Value value, const Dims& dims) {
  const Shape shape = b.shape(value);
  if (shape.dims == dims) return value;
  Numbers mapping;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    mapping.push_back(static_cast<std::int64_t>(dims.size() - shape.rank() + i));
  return b.broadcast_in_dim({value}, {.dims = dims, .mapping = std::move(mapping)});
}

Value scalar_like(Builder& b, double value, Value x) {
  const Shape shape = b.shape(x);
  return broadcast_to(b, b.scalar(shape.dtype, value), shape.dims);
}

Value take_rows(Builder& b, Value table, Value indices) {
  const Shape rows = b.shape(table);
  const auto places = static_cast<std::int64_t>(b.shape(indices).rank());
  Gather gather{.offset_dims = {},
                .collapsed_slice_dims = {0},
                .start_index_map = {0},
                .index_vector_dim = places,
                .slice_sizes = {1}};
  for (std::size_t i = 1; i < rows.rank(); ++i) {
    gather.offset_dims.push_back(places + static_cast<std::int64_t>(i) - 1);
    gather.slice_sizes.push_back(rows.dims[i]);
  }
  return b.gather({table, indices}, std::move(gather));
}

Value reduce_keep(Builder& b, Op reduction, Value x, const Numbers& axes) {
  Dims dims = b.shape(x).dims;
  for (const std::int64_t axis : axes) dims.at(static_cast<std::size_t>(axis)) = 1;
  const Value reduced = b.emit(reduction, {x}, Axes{axes}).front();
  return b.reshape({reduced}, {.dims = std::move(dims)});
}

}  // namespace alate::graph
