#include "backends/cpu/operations.h"

#include <algorithm>
#include <iterator>

#include "alate/error.h"
#include "backends/cpu/steps/steps.h"
#include "backends/cpu/steps/tile_program.h"

namespace alate::cpu {
namespace {

using graph::Op;
using graph::set_of;

constexpr graph::DTypeSet kF32 = set_of(DType::f32);
constexpr Operation row(Op op, graph::DTypeSet dtypes, std::string_view spelling,
                        void (*run)(const Step&, const Frame&)) {
  return {.op = op, .dtypes = dtypes, .spelling = spelling, .run = run};
}

constexpr Operation kKernels[] = {
    row(Op::iota, graph::kNumbers, "iota", run_iota),
    row(Op::reshape, graph::kAll, "view", run_copy),  // never a step: the planner makes a view
    row(Op::transpose, graph::kAll, "copy_strided", run_transpose),
    row(Op::broadcast_in_dim, graph::kAll, "copy_strided", run_broadcast),
    row(Op::concatenate, graph::kAll, "concatenate", run_concatenate),
    row(Op::slice, graph::kAll, "copy_strided", run_slice),
    {.op = Op::gather, .dtypes = graph::kAll, .spelling = "gather", .run = run_gather, .scratch = gather_scratch},
    {.op = Op::dot_general,
     .dtypes = kF32,
     .spelling = "dot_general",
     .run = run_dot_general,
     .scratch = dot_general_scratch},
    row(Op::reduce_sum, kF32, "reduce", run_reduce),
    row(Op::reduce_max, kF32, "reduce", run_reduce),
    row(Op::reduce_min, kF32, "reduce", run_reduce),
    row(Op::softmax, kF32, "softmax", run_softmax),
    {.op = Op::layer_norm, .dtypes = kF32, .spelling = "layer_norm", .run = run_layer_norm, .strided_operands = 1},
    {.op = Op::normalize, .dtypes = kF32, .spelling = "normalize", .run = run_normalize},
    {.op = Op::dense,
     .dtypes = kF32,
     .spelling = "gemm",
     .run = run_dense,
     .strided_operands = 1,
     .packed_operand = 1,
     .pack = pack_dense},
    {.op = Op::ragged_attention,
     .dtypes = kF32,
     .spelling = "ragged_attention",
     .run = run_ragged_attention,
     .strided_operands = 7},
    row(Op::ragged_pool, kF32, "pool", run_pool),
};

bool are_neighbours(graph::Numbers axes) {
  std::sort(axes.begin(), axes.end());
  return axes.empty() || axes.back() - axes.front() + 1 == static_cast<std::int64_t>(axes.size());
}

// Element-wise ops are those that have instructions for chains, asked with every dtype.
void add_tile_rows(std::vector<Operation>& table) {
  for (const graph::OpInfo& info : graph::all_ops()) {
    if (!info.has(graph::kElementwise)) continue;
    graph::DTypeSet dtypes = 0;
    for (const DType dtype : all_dtypes()) {
      if (graph::contains(info.dtypes, dtype) && has_tile_instruction(info.op, dtype)) dtypes |= set_of(dtype);
    }
    if (dtypes != 0)
      table.push_back(
          {.op = info.op, .dtypes = dtypes, .spelling = "tiles", .run = run_tiles, .scratch = tiles_scratch});
  }
}

std::vector<Operation> make_table() {
  std::vector<Operation> table(std::begin(kKernels), std::end(kKernels));
  add_tile_rows(table);
  return table;
}

constexpr Operation kCopy = {
    .op = Op::reshape, .dtypes = graph::kAll, .spelling = "copy_rows", .run = run_copy, .strided_operands = 1};

}  // namespace

std::span<const Operation> operations() {
  static const std::vector<Operation> table = make_table();
  return table;
}

const Operation& find_operation(const graph::Graph& graph, const graph::Node& node) {
  const backends::Support support = supports(graph, node);
  if (!support.native)
    throw make_error(ErrorCode::internal, "the planner was given ", graph::to_string(node.op),
                     ", which has no kernel: ", support.reason);
  const DType dtype = backends::asked_dtype(graph, node);
  const std::span<const Operation> table = operations();
  return *std::find_if(table.begin(), table.end(),
                       [&](const Operation& row) { return row.op == node.op && graph::contains(row.dtypes, dtype); });
}

backends::Support supports(const graph::Graph& graph, const graph::Node& node) {
  static const std::vector<backends::Spelling> table = [] {
    std::vector<backends::Spelling> rows;
    for (const Operation& operation : operations())
      rows.push_back({operation.op, operation.dtypes, operation.spelling});
    return rows;
  }();
  if (node.op == Op::dense && graph.node(node.operands[1].node).op != Op::constant) {
    return {.native = false, .spelling = {}, .reason = "dense takes its weight packed, and this one is not a constant"};
  }
  if (node.op == Op::softmax) {
    const auto last = static_cast<std::int64_t>(node.results[0].rank()) - 1;
    if (std::get<graph::Axis>(node.attributes).axis != last)
      return {.native = false, .spelling = {}, .reason = "softmax runs over the last axis alone"};
  }
  if (const auto* reduced = std::get_if<graph::Axes>(&node.attributes);
      reduced != nullptr && !are_neighbours(reduced->axes)) {
    return {.native = false, .spelling = {}, .reason = "axes that are not neighbours are not reduced together"};
  }
  return backends::look_up(table, graph, node);
}

const Operation& copy_operation() { return kCopy; }

}  // namespace alate::cpu
