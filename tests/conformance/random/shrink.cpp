#include "tests/conformance/random/shrink.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "alate/error.h"
#include "graph/builder.h"
#include "graph/interpreter.h"
#include "tests/conformance/cases/elements.h"

namespace alate::conformance {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::Value;

// What to change in a graph.
struct Edit {
  std::set<std::size_t> outputs;                   // that stay
  std::optional<NodeId> cut;                       // becomes parameters of its values
  std::optional<std::pair<Value, Value>> instead;  // the first value's users read the second
  std::optional<std::pair<std::int64_t, std::int64_t>> extent;
};

class Rebuild {
 public:
  Rebuild(const Subject& old, const Edit& edit)
      : old_(old), edit_(edit), b_(old.graph.name(), old.graph.shared_dims()), values_(old.graph.nodes().size()) {}

  Subject run() {
    const Graph& graph = old_.graph;
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
      if (edit_.outputs.contains(i)) need(graph.outputs()[i].value);
    }
    for (NodeId id = 0; id < graph.nodes().size(); ++id) {
      if (needed_.contains(id)) copy(id);
    }
    keep_dims();
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
      if (edit_.outputs.contains(i)) b_.output(graph.outputs()[i].name, mapped(graph.outputs()[i].value));
    }
    return {b_.finish(), std::move(inputs_)};
  }

 private:
  Value instead_of(Value value) const {
    return edit_.instead && edit_.instead->first == value ? edit_.instead->second : value;
  }
  Value mapped(Value value) const {
    value = instead_of(value);
    return values_[value.node].at(value.result);
  }
  void need(Value value) {
    value = instead_of(value);
    if (!needed_.insert(value.node).second || edit_.cut == value.node) return;
    for (const Value operand : old_.graph.node(value.node).operands) need(operand);
  }

  void apply(Dim& dim) const {
    if (edit_.extent && dim.is_number() && dim.number() == edit_.extent->first) dim = edit_.extent->second;
  }
  void apply(graph::Dims& dims) const {
    for (Dim& dim : dims) apply(dim);
  }
  template <typename Other>
  void apply(Other&) const {}

  // The tensor's elements, as many as fit.
  Tensor resized(const Tensor& tensor) const {
    Shape shape = tensor.shape();
    apply(shape.dims);
    if (shape == tensor.shape() || tensor.element_count() == 0) return tensor;
    Tensor smaller = Tensor::zeros(shape);
    for (std::int64_t i = 0; i < smaller.element_count(); ++i) {
      if (is_complex(shape.dtype)) {
        set_complex(smaller, i, complex_at(tensor, i % tensor.element_count()));
      } else {
        set_bits(smaller, i, bits_at(tensor, i % tensor.element_count()));
      }
    }
    return smaller;
  }

  Value add_input(const Tensor& tensor, Shape shape) {
    apply(shape.dims);
    inputs_.push_back(resized(tensor));
    return b_.parameter("x" + std::to_string(inputs_.size() - 1), shape);
  }

  void copy(NodeId id) {
    const Graph& graph = old_.graph;
    const Node& node = graph.node(id);
    const auto place = [&] { return static_cast<std::size_t>(std::get<graph::Index>(node.attributes).index); };
    if (node.op == Op::parameter) {
      values_[id] = {add_input(old_.inputs[place()], node.results[0])};
    } else if (node.op == Op::constant) {
      values_[id] = {b_.constant(resized(graph::materialize(*graph.constants()[place()])))};
    } else if (edit_.cut == id) {
      for (std::uint16_t i = 0; i < node.results.size(); ++i)
        values_[id].push_back(add_input(value_of({id, i}), node.results[i]));
    } else {
      graph::Attributes attributes = node.attributes;
      std::visit(
          [&]<typename Struct>(Struct& attribute) {
            std::apply([&](const auto&... field) { (apply(attribute.*field.member), ...); }, Struct::fields());
          },
          attributes);
      std::vector<Value> operands;
      for (const Value operand : node.operands) operands.push_back(mapped(operand));
      values_[id] = b_.emit(node.op, operands, attributes, node.regions);
    }
  }

  // What the reference computes for a value of the old graph.
  Tensor value_of(Value value) const {
    graph::Builder b("value", old_.graph.shared_dims());
    std::vector<std::vector<Value>> values;
    for (NodeId id = 0; id <= value.node; ++id) {
      const Node& node = old_.graph.node(id);
      if (node.op == Op::parameter) {
        values.push_back({b.parameter(old_.graph.parameters()[b.so_far().parameters().size()].name, node.results[0])});
      } else if (node.op == Op::constant) {
        values.push_back({b.constant(
            old_.graph.constants()[static_cast<std::size_t>(std::get<graph::Index>(node.attributes).index)])});
      } else {
        std::vector<Value> operands;
        for (const Value operand : node.operands) operands.push_back(values[operand.node][operand.result]);
        values.push_back(b.emit(node.op, operands, node.attributes, node.regions));
      }
    }
    const std::size_t given = b.so_far().parameters().size();
    std::vector<Tensor> inputs(old_.inputs.begin(), old_.inputs.begin() + static_cast<std::ptrdiff_t>(given));
    for (std::size_t i = given; i < old_.inputs.size(); ++i) {  // they bind dims
      b.parameter(old_.graph.parameters()[i].name, old_.graph.parameters()[i].shape);
      inputs.push_back(old_.inputs[i]);
    }
    b.output("value", values[value.node].at(value.result));
    return graph::interpret(b.finish(), inputs, base::Cancellation::never()).front();
  }

  // Every dim keeps a parameter that gives it its value.
  void keep_dims() {
    std::set<DimId> bound;
    for (const graph::Parameter& parameter : b_.so_far().parameters()) {
      for (const Dim dim : parameter.shape.dims) {
        if (!dim.is_number()) bound.insert(dim.id());
      }
    }
    const graph::DimValues dims = dims_of(old_);
    for (const DimId id : old_.graph.dims().names()) {
      if (bound.contains(id) || !dims.is_bound(Dim::of_id(id))) continue;
      add_input(Tensor::zeros({DType::u8, {Dim(dims(Dim::of_id(id)))}}), {DType::u8, {Dim::of_id(id)}});
    }
  }

  const Subject& old_;
  const Edit& edit_;
  graph::Builder b_;
  std::vector<std::vector<Value>> values_;
  std::set<NodeId> needed_;
  std::vector<Tensor> inputs_;
};

class Shrinker {
 public:
  Shrinker(Subject subject, const std::function<bool(const Subject&)>& fails, std::size_t most)
      : subject_(std::move(subject)), fails_(fails), left_(most) {}

  Subject run() {
    for (bool smaller = true; smaller && left_ > 0;) {
      smaller = false;
      for (const bool changed : {drop_outputs(), cut_nodes(), bypass_nodes(), shrink_extents()}) smaller |= changed;
    }
    return subject_;
  }

 private:
  Edit keep_all() const {
    Edit edit;
    for (std::size_t i = 0; i < subject_.graph.outputs().size(); ++i) edit.outputs.insert(i);
    return edit;
  }

  bool accept(const Edit& edit) {
    if (left_ == 0) return false;
    try {
      Subject next = Rebuild(subject_, edit).run();
      --left_;
      if (!fails_(next)) return false;
      subject_ = std::move(next);
      return true;
    } catch (const Error&) {
      return false;  // the graph makes no sense this way
    }
  }

  bool drop_outputs() {
    for (std::size_t i = 0; i < subject_.graph.outputs().size() && subject_.graph.outputs().size() > 1; ++i) {
      Edit edit;
      edit.outputs = {i};
      if (accept(edit)) return true;
    }
    return false;
  }

  bool cut_nodes() {
    for (NodeId id = static_cast<NodeId>(subject_.graph.nodes().size()); id-- > 0;) {
      if (id >= subject_.graph.nodes().size()) continue;
      if (graph::op_info(subject_.graph.node(id).op).kind == graph::OpKind::leaf) continue;
      Edit edit = keep_all();
      edit.cut = id;
      if (accept(edit)) return true;
    }
    return false;
  }

  bool bypass_nodes() {
    for (NodeId id = 0; id < subject_.graph.nodes().size(); ++id) {
      for (std::size_t i = 0; i < subject_.graph.node(id).operands.size(); ++i) {
        const Value operand = subject_.graph.node(id).operands[i];
        for (std::uint16_t result = 0; result < subject_.graph.node(id).results.size(); ++result) {
          if (subject_.graph.shape({id, result}) != subject_.graph.shape(operand)) continue;
          Edit edit = keep_all();
          edit.instead = {Value{id, result}, operand};
          if (accept(edit)) return true;
        }
      }
    }
    return false;
  }

  // Sequences that overlap, or that are not where an index says, are nothing that an op must take.
  bool has_sequences() const {
    return std::any_of(subject_.graph.nodes().begin(), subject_.graph.nodes().end(), [](const Node& node) {
      return node.op == Op::ragged_attention || node.op == Op::paged_attention || node.op == Op::ragged_pool;
    });
  }

  bool shrink_extents() {
    if (has_sequences()) return false;
    std::set<std::int64_t, std::greater<>> extents;
    for (const Node& node : subject_.graph.nodes()) {
      for (const Shape& shape : node.results) {
        for (const Dim dim : shape.dims) {
          if (dim.is_number() && dim.number() > 1) extents.insert(dim.number());
        }
      }
    }
    for (const std::int64_t extent : extents) {
      for (const std::int64_t smaller : {std::int64_t{1}, std::int64_t{2}, extent / 2, extent - 1}) {
        if (smaller >= extent) continue;
        Edit edit = keep_all();
        edit.extent = {extent, smaller};
        if (accept(edit)) return true;
      }
    }
    return false;
  }

  Subject subject_;
  const std::function<bool(const Subject&)>& fails_;
  std::size_t left_;
};

}  // namespace

Subject shrink(Subject subject, const std::function<bool(const Subject&)>& fails, std::size_t most) {
  return Shrinker(std::move(subject), fails, most).run();
}

}  // namespace alate::conformance
