// The backward pass through a graph.
#include "graph/gradients.h"

#include <algorithm>
#include <map>
#include <set>

#include "alate/error.h"
#include "graph/decompose.h"
#include "graph/gradients/rules.h"
#include "graph/inline_graph.h"

namespace alate::graph {
namespace {

/// Differentiates the nodes from `first` to the builder's last at construction; earlier values count as constant unless
/// their gradients are requested.
class Differentiation {
 public:
  Differentiation(Builder& b, NodeId first, std::span<const Value> with_respect_to, std::span<const Value> held)
      : b_(b),
        first_(first),
        asked_(with_respect_to.begin(), with_respect_to.end()),
        held_(held.begin(), held.end()),
        varies_(b.so_far().nodes().size(), false) {
    const std::span<const Node> nodes = b.so_far().nodes();
    for (NodeId id = first; id < nodes.size(); ++id) {
      const std::vector<Value>& operands = nodes[id].operands;
      varies_[id] = op_gradient(nodes[id].op).kind != OpGradient::Kind::zero &&
                    std::any_of(operands.begin(), operands.end(), [&](Value value) { return varies(value); });
    }
  }

  void seed(Value output, Value cotangent) { accumulate(output, cotangent); }

  /// With `sets_sources`, gradient nodes get the source of the node that they differentiate.
  void run(bool sets_sources) {
    for (auto id = static_cast<NodeId>(varies_.size()); id-- > first_;) {
      if (!varies_[id]) continue;
      Backward call{b_, b_.so_far().node(id), id};
      bool is_reached = false;
      for (std::size_t i = 0; i < call.node.results.size(); ++i) {
        call.cotangents.push_back(held_.contains(call.y(i)) ? std::nullopt : find(call.y(i)));
        is_reached = is_reached || call.cotangents.back();
      }
      if (!is_reached) continue;
      for (const Value operand : call.node.operands) call.wanted.push_back(varies(operand));
      call.gradients.resize(call.node.operands.size());
      if (sets_sources) b_.set_source(std::string(b_.so_far().source(call.node.source)));
      apply(call);
      for (std::size_t i = 0; i < call.gradients.size(); ++i) {
        if (call.wanted[i] && call.gradients[i]) accumulate(call.x(i), *call.gradients[i]);
      }
    }
  }

  std::optional<Value> find(Value value) const {
    const auto found = cotangents_.find(value);
    return found == cotangents_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  // Whether the value depends on a requested value.
  bool varies(Value value) const {
    if (asked_.contains(value)) return true;
    return varies_[value.node] && !held_.contains(value) && is_differentiable(b_.shape(value).dtype);
  }

  void accumulate(Value value, Value cotangent) {
    if (b_.shape(cotangent) != b_.shape(value)) {
      throw make_error(ErrorCode::internal, "the cotangent of a value ", b_.dims()->to_string(b_.shape(value)), " of ",
                       to_string(b_.so_far().node(value.node).op), " is ", b_.dims()->to_string(b_.shape(cotangent)));
    }
    const std::optional<Value> before = find(value);
    cotangents_[value] = before ? b_.add({*before, cotangent}) : cotangent;
  }

  void apply(Backward& call) {
    const Op op = call.node.op;
    const GradientRule* row = find_gradient_rule(op);
    if (row == nullptr && op_info(op).kind == OpKind::fused) {
      call.differentiate([&] { return decompose_node(b_, call.node, call.node.operands); });
      return;
    }
    const OpGradient gradient = op_gradient(op);
    if (gradient.kind == OpGradient::Kind::none) call.fail(gradient.reason);
    row->rule(call);
  }

  Builder& b_;
  NodeId first_;
  std::set<Value> asked_, held_;
  std::vector<bool> varies_;  // by node
  std::map<Value, Value> cotangents_;
};

void require(bool holds, const std::string& what) {
  if (!holds) throw make_error(ErrorCode::invalid_argument, "gradients: ", what);
}

std::vector<Value> gradients_of(Builder& b, std::span<const Value> outputs, std::span<const Value> cotangents,
                                std::span<const Value> with_respect_to, std::span<const Value> held,
                                bool sets_sources) {
  require(outputs.size() == cotangents.size(), "there are " + std::to_string(outputs.size()) + " outputs, but " +
                                                   std::to_string(cotangents.size()) + " cotangents");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Shape &output = b.shape(outputs[i]), &cotangent = b.shape(cotangents[i]);
    const std::string name = "output " + std::to_string(i);
    require(is_differentiable(output.dtype),
            name + " is " + b.dims()->to_string(output) + ", neither float nor complex");
    require(output == cotangent,
            name + " is " + b.dims()->to_string(output) + ", but its cotangent is " + b.dims()->to_string(cotangent));
  }
  for (const Value value : with_respect_to) {
    const Shape& shape = b.shape(value);
    require(is_differentiable(shape.dtype),
            "a value that is asked about is " + b.dims()->to_string(shape) + ", neither float nor complex");
  }
  Differentiation way(b, 0, with_respect_to, held);
  for (std::size_t i = 0; i < outputs.size(); ++i) way.seed(outputs[i], cotangents[i]);
  way.run(sets_sources);
  std::vector<Value> results;
  for (const Value value : with_respect_to) {
    const std::optional<Value> found = way.find(value);
    results.push_back(found ? *found : zeros(b, b.shape(value)));
  }
  return results;
}

// A name that no parameter uses.
std::string free_name(const Builder& b, std::string name) {
  const auto is_taken = [&] {
    const std::span<const Parameter> parameters = b.so_far().parameters();
    return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; });
  };
  while (is_taken()) name += '\'';
  return name;
}

std::vector<Value> parameters_like(Builder& b, const Graph& graph) {
  std::vector<Value> values;
  for (const Parameter& parameter : graph.parameters())
    values.push_back(b.parameter(parameter.name, parameter.shape, parameter.donatable));
  return values;
}

std::vector<Value> picked(const std::vector<Value>& values, std::span<const std::size_t> places,
                          std::string_view what) {
  std::vector<Value> chosen;
  for (const std::size_t place : places) {
    require(place < values.size(), "there is no " + std::string(what) + " " + std::to_string(place));
    chosen.push_back(values[place]);
  }
  return chosen;
}

}  // namespace

Value Backward::g(std::size_t place) const {
  return cotangents[place] ? *cotangents[place] : zeros(b, node.results[place]);
}

void Backward::fail(std::string_view why) const {
  std::string shapes;
  for (const Value operand : node.operands)
    shapes += (shapes.empty() ? "" : ", ") + b.dims()->to_string(b.shape(operand));
  const std::string& source = b.so_far().source(node.source);
  throw make_error(ErrorCode::unsupported, "no gradient of ", to_string(node.op), "(", shapes, ")",
                   source.empty() ? "" : " (from " + source + ")", ": ", why);
}

void Backward::differentiate(const std::function<std::vector<Value>()>& express) {
  const auto first = static_cast<NodeId>(b.so_far().nodes().size());
  const std::vector<Value> results = express();
  std::vector<Value> asked;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (wants(i)) asked.push_back(x(i));
  }
  Differentiation way(b, first, asked, {});
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (cotangents[i]) way.seed(results[i], *cotangents[i]);
  }
  way.run(false);
  // If a value is several operands, its whole gradient goes to the first of them.
  std::set<Value> given;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const std::optional<Value> found = way.find(x(i));
    if (wants(i) && found && given.insert(x(i)).second) give(i, *found);
  }
}

std::vector<Value> gradients(Builder& b, std::span<const Value> outputs, std::span<const Value> cotangents,
                             std::span<const Value> with_respect_to, std::span<const Value> held) {
  return gradients_of(b, outputs, cotangents, with_respect_to, held, false);
}

Graph with_gradients(const Graph& graph, std::size_t loss, std::span<const std::size_t> parameters) {
  require(loss < graph.outputs().size(), "graph '" + graph.name() + "' has no output " + std::to_string(loss));
  const Shape shape = graph.shape(graph.outputs()[loss].value);
  require(shape.rank() == 0 && is_float(shape.dtype),
          "the loss '" + graph.outputs()[loss].name + "' must be a float scalar, not " + graph.dims().to_string(shape));
  Builder b(graph.name(), graph.shared_dims());
  const std::vector<Value> inputs = parameters_like(b, graph);
  const std::vector<Value> ends = inline_graph(b, graph, inputs);
  for (std::size_t i = 0; i < ends.size(); ++i)
    b.output(graph.outputs()[i].name, ends[i], graph.outputs()[i].aliases_parameter);
  const Value end = ends[loss], one = b.scalar(shape.dtype, 1);
  const std::vector<Value> found =
      gradients_of(b, std::span(&end, 1), std::span(&one, 1), picked(inputs, parameters, "parameter"), {}, true);
  for (std::size_t i = 0; i < found.size(); ++i)
    b.output("gradient of " + graph.parameters()[parameters[i]].name, found[i]);
  return b.finish();
}

Graph vector_jacobian_product(const Graph& graph, std::span<const std::size_t> outputs,
                              std::span<const std::size_t> parameters) {
  Builder b("gradient of " + graph.name(), graph.shared_dims());
  const std::vector<Value> inputs = parameters_like(b, graph);
  const std::vector<Value> ends = picked(inline_graph(b, graph, inputs), outputs, "output");
  std::vector<Value> cotangents;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::string name = free_name(b, "cotangent of " + graph.outputs()[outputs[i]].name);
    cotangents.push_back(b.parameter(name, b.shape(ends[i])));
  }
  const std::vector<Value> found = gradients_of(b, ends, cotangents, picked(inputs, parameters, "parameter"), {}, true);
  for (std::size_t i = 0; i < found.size(); ++i)
    b.output("gradient of " + graph.parameters()[parameters[i]].name, found[i]);
  return b.finish();
}

}  // namespace alate::graph
