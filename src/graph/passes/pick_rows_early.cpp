#include <functional>
#include <map>
#include <optional>

#include "graph/operands.h"
#include "graph/passes.h"
#include "graph/passes/matching.h"

namespace alate::graph {
namespace {

// The operands that a node maps row by row to its result; none for ops that mix rows.
std::optional<std::vector<std::size_t>> row_operands(const Graph& graph, const Node& node) {
  if (node.results.size() != 1 || node.results[0].rank() != 2) return std::nullopt;
  const auto of_product = [](const auto& at) {
    return at.residual ? std::vector<std::size_t>{at.x, *at.residual} : std::vector<std::size_t>{at.x};
  };
  switch (node.op) {
    case Op::dense: return of_product(places_of<DenseOperands>(std::get<Dense>(node.attributes)));
    case Op::quantized_dense:
      return of_product(places_of<QuantizedDenseOperands>(std::get<QuantizedDense>(node.attributes)));
    case Op::layer_norm:
    case Op::rms_norm:
    case Op::normalize:
    case Op::gelu:
    case Op::silu: return std::vector<std::size_t>{0};
    case Op::broadcast_in_dim:
      for (const std::int64_t axis : std::get<BroadcastInDim>(node.attributes).mapping) {
        if (axis == 0) return std::nullopt;
      }
      return std::vector<std::size_t>();
    default: break;
  }
  if (!op_info(node.op).has(kElementwise)) return std::nullopt;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (graph.shape(node.operands[i]).dims != node.results[0].dims) return std::nullopt;
    all.push_back(i);
  }
  return all;
}

// The nodes that only a pool of one token per sequence reads.
class PickedRows {
 public:
  PickedRows(const Graph& graph, const std::vector<std::uint32_t>& uses, NodeId pool) : graph_(graph) {
    // Users have larger ids: when a node is visited, all relevant reads of it have been counted.
    std::map<NodeId, std::uint32_t, std::greater<>> reads = {{graph.node(pool).operands[0].node, 1}};
    while (!reads.empty()) {
      const auto [id, count] = *reads.begin();
      reads.erase(reads.begin());
      const Node& node = graph.node(id);
      const auto rows = row_operands(graph, node);
      if (!rows || count != uses[id]) continue;
      nodes_.emplace(id, *rows);
      for (const std::size_t operand : *rows) ++reads[node.operands[operand].node];
    }
  }

  bool is_worth_it() const {
    for (const auto& [id, rows] : nodes_) {
      const Op op = graph_.node(id).op;
      if (op == Op::dense || op == Op::quantized_dense) return true;
    }
    return false;
  }

  const std::map<NodeId, std::vector<std::size_t>>& nodes() const { return nodes_; }

 private:
  const Graph& graph_;
  std::map<NodeId, std::vector<std::size_t>> nodes_;  // with their row operands
};

// Recomputes the picked rows, starting from values that have other readers too.
class Rebuilder {
 public:
  Rebuilder(Rewriter& rewriter, const Graph& graph, const PickedRows& picked, Value places)
      : rewriter_(rewriter), graph_(graph), picked_(picked), places_(places) {}

  Value rows_of(Value old) {
    if (const auto done = made_.find(old); done != made_.end()) return done->second;
    const Value made = make(old);
    made_.emplace(old, made);
    return made;
  }

 private:
  Value make(Value old) {
    const auto found = picked_.nodes().find(old.node);
    if (found == picked_.nodes().end()) {
      Builder& b = rewriter_.builder_at(old.node);
      return take_rows(b, rewriter_.mapped(old), places_);
    }
    const Node& node = graph_.node(old.node);
    std::vector<Value> operands(node.operands.size());
    std::vector<bool> is_picked(operands.size());
    for (const std::size_t i : found->second) is_picked[i] = true;
    for (std::size_t i = 0; i < operands.size(); ++i)
      operands[i] = is_picked[i] ? rows_of(node.operands[i]) : rewriter_.mapped(node.operands[i]);
    Builder& b = rewriter_.builder_at(old.node);
    Attributes attributes = node.attributes;
    if (node.op == Op::broadcast_in_dim) std::get<BroadcastInDim>(attributes).dims[0] = b.shape(places_).dims[0];
    return b.emit(node.op, std::move(operands), std::move(attributes)).front();
  }

  Rewriter& rewriter_;
  const Graph& graph_;
  const PickedRows& picked_;
  Value places_;
  std::map<Value, Value> made_;
};

bool picks_one_token(const Node& node) {
  if (node.op != Op::ragged_pool) return false;
  const PoolMode mode = std::get<Pool>(node.attributes).mode;
  return mode == PoolMode::cls || mode == PoolMode::last;
}

// The same pool over one row per sequence; an empty sequence has a row that the pool does not read.
Value pool_of_rows(Rewriter& rewriter, const Graph& graph, NodeId id, const PickedRows& picked) {
  const Node& node = graph.node(id);
  Builder& b = rewriter.builder_at(id);
  const Value starts = rewriter.mapped(node.operands[1]), lengths = rewriter.mapped(node.operands[2]);
  const Pool& pool = std::get<Pool>(node.attributes);
  const Value ones = scalar_like(b, 1, lengths);
  Value places = starts;
  if (pool.mode == PoolMode::last) places = b.sub({b.add({starts, b.max({lengths, ones})}), ones});
  const Value rows = Rebuilder(rewriter, graph, picked, places).rows_of(node.operands[0]);
  Builder& at_pool = rewriter.builder_at(id);
  const Shape& counts = at_pool.shape(lengths);
  const Value first = at_pool.iota({}, {.dtype = counts.dtype, .dims = counts.dims, .axis = 0});
  return at_pool.ragged_pool({rows, first, at_pool.min({lengths, ones})}, {.mode = pool.mode, .longest = 1});
}

}  // namespace

Graph pick_rows_early(const Graph& graph) {
  const std::vector<std::uint32_t> uses = use_counts(graph);
  std::map<NodeId, PickedRows> pools;
  std::vector<bool> is_moved(graph.nodes().size());
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (!picks_one_token(graph.node(id))) continue;
    PickedRows picked(graph, uses, id);
    if (!picked.is_worth_it()) continue;
    for (const auto& [node, rows] : picked.nodes()) is_moved[node] = true;
    pools.emplace(id, std::move(picked));
  }
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (const auto pool = pools.find(id); pool != pools.end()) {
      rewriter.replace(id, {pool_of_rows(rewriter, graph, id, pool->second)});
    } else if (!is_moved[id]) {
      rewriter.copy(id);
    }
  }
  return rewriter.finish();
}

}  // namespace alate::graph
