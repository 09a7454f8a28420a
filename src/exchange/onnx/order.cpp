// top_k and sort.
#include <algorithm>
#include <optional>

#include "exchange/onnx/bits_of_floats.h"
#include "exchange/onnx/layout.h"
#include "exchange/onnx/spelling.h"

namespace alate::exchange::onnx {
namespace {

using graph::Op;

// Indices (i64) of the k largest (smallest) entries along an axis; equal ones keep their order.
Term top_places(const Term& x, const Term& k, std::int64_t axis, bool is_largest) {
  return x.emitter->nodes(
      "TopK", {x.dtype, DType::i64}, {x, k},
      {attribute("axis", axis), attribute("largest", is_largest ? 1 : 0), attribute("sorted", 1)})[1];
}

Term taken(const Term& x, const Term& places, std::int64_t axis) {
  return x.emitter->node("GatherElements", x.dtype, {x, places}, {attribute("axis", axis)});
}

Terms top_k(const Call& c) {
  const std::int64_t k = c.as<graph::TopK>().k, axis = static_cast<std::int64_t>(c.shape().rank()) - 1;
  if (k == 0) {
    const Term none = slice(c[0], {axis}, c.e.integers({0}), c.e.integers({0}), {1});
    return {none, to(none, DType::i32)};
  }
  const Term key = is_float(c[0].dtype) ? order_key(c[0]) : c[0];
  const Term places = top_places(key, c.e.integers({k}), axis, true);
  return {taken(c[0], places, axis), to(places, DType::i32)};
}

// Sorting by one comparison of the first operand's elements is a TopK of all of them.
struct Comparison {
  Op op;
  bool is_swapped;
};
std::optional<Comparison> single_comparison(const graph::Graph& region) {
  const graph::Node* comparison = nullptr;
  for (const graph::Node& node : region.nodes()) {
    if (node.op == Op::parameter) continue;
    if (comparison != nullptr) return std::nullopt;
    comparison = &node;
  }
  if (comparison == nullptr || comparison->operands.size() != 2) return std::nullopt;
  std::int64_t parameters[2] = {-1, -1};
  for (std::size_t i = 0; i < 2; ++i) {
    const graph::Node& operand = region.node(comparison->operands[i].node);
    if (operand.op == Op::parameter) parameters[i] = std::get<graph::Index>(operand.attributes).index;
  }
  if (std::max(parameters[0], parameters[1]) != 1 || std::min(parameters[0], parameters[1]) != 0) return std::nullopt;
  return Comparison{comparison->op, parameters[0] == 1};
}

std::optional<Terms> sorted_by_choice(const Call& c) {
  const auto comparison = single_comparison(*c.node.regions[0]);
  if (!comparison) return std::nullopt;
  const bool is_less = comparison->op == Op::less || comparison->op == Op::less_total_order;
  const bool is_greater = comparison->op == Op::greater || comparison->op == Op::greater_total_order;
  if (!is_less && !is_greater) return std::nullopt;
  const std::int64_t axis = c.as<graph::Sort>().axis;
  const bool is_total = comparison->op == Op::less_total_order || comparison->op == Op::greater_total_order;
  Term key = c[0].dtype == DType::boolean ? to(c[0], DType::i32) : c[0];
  if (is_total) key = order_key(key);
  const Dim extent = c.shape().dims[static_cast<std::size_t>(axis)];
  const Term places = top_places(key, c.e.extent(extent), axis, is_greater != comparison->is_swapped);
  Terms results;
  for (const Term& operand : c.operands) results.push_back(taken(operand, places, axis));
  return results;
}

// Odd-even transposition (Habermann 1972): in each round every entry is paired with a neighbor, and the two are swapped
// if the second comes before the first. After as many rounds as there are entries all are sorted, and equivalent
// entries keep their order.
Terms sorted_by_exchange(const Call& c) {
  Emitter& e = c.e;
  const std::int64_t axis = c.as<graph::Sort>().axis;
  const std::size_t rank = c.shape().rank();
  const Term extent = e.extent(c.shape().dims[static_cast<std::size_t>(axis)]), count = squeeze(extent, {0});
  const Term places = count_to(extent), one = e.integer(DType::i64, 1);
  return e.repeat(count, c.operands, [&](const Terms& in) {
    const Term parity = in[0] & one, within = places - parity;
    const Term neighbour = (within ^ one) + parity;
    const Term is_alone = (within < 0) | !(neighbour < count);
    const Term partner = where(is_alone, places, neighbour);
    const Term is_first = along_axis(partner > places, rank, static_cast<std::size_t>(axis));
    const Terms own(in.begin() + 1, in.end());
    Terms others, pairs;
    for (const Term& x : own) {
      others.push_back(entry(x, partner, axis));
      pairs.push_back(exact_where(is_first, others.back(), x));
      pairs.push_back(exact_where(is_first, x, others.back()));
    }
    const Term meets = along_axis(!(partner == places), rank, static_cast<std::size_t>(axis));
    const Term moves = write_graph(e, *c.node.regions[0], pairs)[0] & meets;
    Terms results;
    for (std::size_t i = 0; i < own.size(); ++i) results.push_back(exact_where(moves, others[i], own[i]));
    return results;
  });
}

Terms sort(const Call& c) {
  if (auto results = sorted_by_choice(c)) return *results;
  return sorted_by_exchange(c);
}

std::string refuse_top_k(const graph::Graph& graph, const graph::Node& node, int opset) {
  return is_float(graph.shape(node.operands[0]).dtype) ? needs_bits(graph, node, opset) : "";
}

std::string refuse_sort(const graph::Graph& /*graph*/, const graph::Node& node, int opset) {
  const graph::Graph& region = *node.regions[0];
  for (const Shape& shape : node.results) {
    if (is_complex(shape.dtype)) return "complex numbers are not sorted";
  }
  if (!is_elementwise(region)) return "the comparator has ops that are not element-wise";
  std::string reason;
  for (const graph::Node& inner : region.nodes()) {
    if (graph::op_info(inner.op).kind != graph::OpKind::leaf && find_spelling(region, inner, opset, reason) == nullptr)
      return "in the comparator: " + reason;
  }
  return "";
}

constexpr Spelling kOrderRows[] = {
    {Op::top_k, kNumbers, "TopK, GatherElements", top_k, refuse_top_k},
    {Op::sort, kMoved, "TopK, GatherElements, Loop", sort, refuse_sort},
};

}  // namespace

std::span<const Spelling> order_spellings() { return kOrderRows; }

}  // namespace alate::exchange::onnx
