#include "graph/passes/matching.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/interpreter.h"
#include "graph/reference/values.h"
#include "tensor/packed.h"

namespace alate::graph {
namespace {

constexpr int kMaxDepth = 16;            // for nested products and broadcasts
constexpr std::size_t kMostFactors = 8;  // no pattern has more, but nested products could have any number

// Whether a constant is cheap to evaluate: it could depend on a whole weight.
bool is_small(const Constant& constant) {
  return constant.shape.element_count() <= 64 && std::all_of(constant.operands.begin(), constant.operands.end(),
                                                             [](const ConstantPtr& part) { return is_small(*part); });
}

std::optional<double> only_number(const Constant& constant) {
  const DType dtype = constant.shape.dtype;
  if (!contains(kFloats | kInts | kBool, dtype) || constant.shape.element_count() != 1 || !is_small(constant))
    return std::nullopt;
  const Tensor tensor = materialize(constant);
  if (contains(kFloats, dtype)) return load_floats(tensor).front();
  if (dtype == DType::i4 || dtype == DType::u4) return std::nullopt;
  const std::uint64_t word = load_words(tensor).front();
  const double number =
      is_signed_integer(dtype) ? static_cast<double>(static_cast<std::int64_t>(word)) : static_cast<double>(word);
  return std::abs(number) < 0x1p53 ? std::optional(number) : std::nullopt;
}

void add_factors(const Graph& graph, Value value, Product& product, int depth) {
  const Node& node = node_of(graph, value);
  const auto deeper = [&](Value factor) { add_factors(graph, factor, product, depth + 1); };
  if (depth > kMaxDepth || product.factors.size() >= kMostFactors) return product.factors.push_back(value);
  if (const std::optional<double> number = uniform_number(graph, value)) {
    product.coefficient *= *number;
  } else if (node.op == Op::mul) {
    for (const Value operand : node.operands) deeper(operand);
  } else if (node.op == Op::neg) {
    product.coefficient = -product.coefficient;
    deeper(node.operands[0]);
  } else if (const auto divisor = node.op == Op::div ? uniform_number(graph, node.operands[1]) : std::nullopt) {
    product.coefficient /= *divisor;
    deeper(node.operands[0]);
  } else if (const auto power = node.op == Op::pow ? uniform_number(graph, node.operands[1]) : std::nullopt;
             power == 2 || power == 3) {
    for (int i = 0; i < static_cast<int>(*power); ++i) deeper(node.operands[0]);
  } else {
    product.factors.push_back(value);
  }
}

}  // namespace

const Node* node_if(const Graph& graph, Value value, Op op) {
  const Node& node = node_of(graph, value);
  return node.op == op ? &node : nullptr;
}

bool is_constant(const Graph& graph, Value value) { return node_of(graph, value).op == Op::constant; }

std::optional<double> uniform_number(const Graph& graph, Value value) {
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const Node& node = node_of(graph, value);
    if (node.op == Op::constant)
      return only_number(*graph.constants()[static_cast<std::size_t>(std::get<Index>(node.attributes).index)]);
    if (node.op != Op::broadcast_in_dim && node.op != Op::reshape && node.op != Op::transpose) return std::nullopt;
    value = node.operands[0];
  }
  return std::nullopt;
}

bool is_about(DType dtype, double value, double number) {
  const double step = dtype == DType::f64 ? std::numeric_limits<double>::epsilon()
                                          : static_cast<double>(std::numeric_limits<float>::epsilon());
  return std::abs(value - number) <= 2 * step * std::abs(number);
}

bool is_about(const Graph& graph, Value value, double number) {
  const std::optional<double> found = uniform_number(graph, value);
  return found && is_about(graph.shape(value).dtype, *found, number);
}

std::optional<Value> repeated_row(const Graph& graph, Value value) {
  const Node* node = node_if(graph, value, Op::broadcast_in_dim);
  if (node == nullptr) return std::nullopt;
  const auto& [dims, mapping] = std::get<BroadcastInDim>(node->attributes);
  const Dims& from = graph.shape(node->operands[0]).dims;
  const bool is_row = !from.empty() && from.back() == dims.back() &&
                      mapping.back() == static_cast<std::int64_t>(dims.size()) - 1 &&
                      std::all_of(from.begin(), from.end() - 1, [](Dim dim) { return dim == Dim(1); });
  return is_row ? std::optional(node->operands[0]) : std::nullopt;
}

Value flat_row(Builder& b, Value row) {
  const Dims dims = b.shape(row).dims;
  return dims.size() == 1 ? row : b.reshape({row}, {.dims = {dims.back()}});
}

Value constant_row(Builder& b, DType dtype, std::int64_t width, double number) {
  const ConstantPtr scalar = make_constant("literal", tensor::scalar_of(dtype, number));
  return b.constant(
      make_constant(Op::broadcast_in_dim, BroadcastInDim{.dims = {width}, .mapping = {}}, {dtype, {width}}, {scalar}));
}

Product product_of(const Graph& graph, Value value) {
  Product product;
  add_factors(graph, value, product, 0);
  std::sort(product.factors.begin(), product.factors.end());
  return product;
}

std::optional<std::vector<Value>> without(std::vector<Value> factors, Value factor) {
  const auto found = std::find(factors.begin(), factors.end(), factor);
  if (found == factors.end()) return std::nullopt;
  factors.erase(found);
  return factors;
}

Rows::Rows(const Graph& graph, Dims dims, std::int64_t axis)
    : graph_(graph), dims_(std::move(dims)), without_(dims_), kept_(dims_), axis_(axis) {
  without_.erase(without_.begin() + axis);
  kept_[static_cast<std::size_t>(axis)] = 1;
}

Value Rows::peel(Value value) const {
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const Node& node = node_of(graph_, value);
    if (node.operands.size() != 1) return value;
    const Dims &from = graph_.shape(node.operands[0]).dims, &to = graph_.shape(value).dims;
    if (!has_rows(from) || (!has_rows(to) && to != dims_)) return value;
    if (node.op == Op::broadcast_in_dim) {
      const Numbers& mapping = std::get<BroadcastInDim>(node.attributes).mapping;
      for (std::size_t i = 0; i < mapping.size(); ++i) {
        const auto place = static_cast<std::int64_t>(i);
        const bool after = from == without_ && to.size() == dims_.size() && place >= axis_;
        if (mapping[i] != place + (after ? 1 : 0)) return value;
      }
    } else if (node.op != Op::reshape) {
      return value;
    }
    value = node.operands[0];
  }
  return value;
}

std::optional<Value> Rows::reduced(Value value, Op reduction) const {
  const Node* node = node_if(graph_, peel(value), reduction);
  if (node == nullptr || std::get<Axes>(node->attributes).axes != Numbers{axis_} || !is_whole(node->operands[0]))
    return std::nullopt;
  return node->operands[0];
}

std::optional<Value> Rows::averaged(Value value) const {
  const Dim extent = dims_[static_cast<std::size_t>(axis_)];
  if (!extent.is_number() || extent == Dim(0)) return std::nullopt;
  const Product product = product_of(graph_, peel(value));
  const bool is_mean = product.factors.size() == 1 && is_about(graph_.shape(value).dtype, product.coefficient,
                                                               1 / static_cast<double>(extent.number()));
  return is_mean ? reduced(product.factors[0], Op::reduce_sum) : std::nullopt;
}

std::optional<Value> Rows::centered(Value value) const {
  const Node* difference = node_if(graph_, value, Op::sub);
  if (difference == nullptr || !is_whole(value) || averaged(difference->operands[1]) != difference->operands[0])
    return std::nullopt;
  return difference->operands[0];
}

Graph replace_matches(const Graph& graph, const std::function<Replacement(NodeId)>& match) {
  std::vector<Replacement> found(graph.nodes().size());
  bool any = false;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (op_info(node.op).kind == OpKind::leaf || node.results.size() != 1) continue;
    found[id] = match(id);
    any = any || found[id];
  }
  if (!any) return graph;
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (found[id]) {
      rewriter.replace(id, {found[id](rewriter, rewriter.builder_at(id))});
    } else {
      rewriter.copy(id);
    }
  }
  return rewriter.finish();
}

}  // namespace alate::graph
