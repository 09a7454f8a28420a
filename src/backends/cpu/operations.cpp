#include "backends/cpu/operations.h"

#include <algorithm>
#include <iterator>

#include "alate/error.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {
namespace {

using graph::Op;
using graph::set_of;

constexpr graph::DTypeSet kF32 = set_of(DType::f32);
constexpr graph::DTypeSet kI32 = set_of(DType::i32);
constexpr graph::DTypeSet kWhole = kI32 | set_of(DType::i64);
// Elements of 1, 2, 4 or 8 bytes, which the kernels that move and convert know.
constexpr graph::DTypeSet kMoved = graph::kBool | (graph::kNumbers & ~set_of(DType::i4) & ~set_of(DType::u4));
constexpr graph::DTypeSet kCompared = kF32 | kWhole | graph::kBool;

constexpr Operation row(Op op, graph::DTypeSet dtypes, std::string_view spelling,
                        void (*run)(const Step&, const Frame&)) {
  return {.op = op, .dtypes = dtypes, .spelling = spelling, .run = run};
}

constexpr Operation kOperations[] = {
    row(Op::abs, kF32, "unary", run_unary),
    row(Op::neg, kF32, "unary", run_unary),
    row(Op::sign, kF32, "unary", run_unary),
    row(Op::exp, kF32, "unary", run_unary),
    row(Op::expm1, kF32, "unary", run_unary),
    row(Op::log, kF32, "unary", run_unary),
    row(Op::log1p, kF32, "unary", run_unary),
    row(Op::logistic, kF32, "unary", run_unary),
    row(Op::tanh, kF32, "unary", run_unary),
    row(Op::erf, kF32, "unary", run_unary),
    row(Op::sqrt, kF32, "unary", run_unary),
    row(Op::rsqrt, kF32, "unary", run_unary),
    row(Op::floor, kF32, "unary", run_unary),
    row(Op::ceil, kF32, "unary", run_unary),
    row(Op::round_nearest_even, kF32, "unary", run_unary),
    row(Op::logical_not, graph::kBool, "logical", run_logical),
    row(Op::add, kF32, "binary", run_binary),
    row(Op::sub, kF32, "binary", run_binary),
    row(Op::mul, kF32, "binary", run_binary),
    row(Op::div, kF32, "binary", run_binary),
    row(Op::pow, kF32, "binary", run_binary),
    row(Op::max, kF32, "binary", run_binary),
    row(Op::min, kF32, "binary", run_binary),
    row(Op::add, kWhole, "integer", run_integer),
    row(Op::sub, kWhole, "integer", run_integer),
    row(Op::mul, kWhole, "integer", run_integer),
    row(Op::max, kWhole, "integer", run_integer),
    row(Op::min, kWhole, "integer", run_integer),
    row(Op::logical_and, graph::kBool, "logical", run_logical),
    row(Op::logical_or, graph::kBool, "logical", run_logical),
    row(Op::equal, kCompared, "compare", run_compare),
    row(Op::not_equal, kCompared, "compare", run_compare),
    row(Op::less, kCompared, "compare", run_compare),
    row(Op::less_or_equal, kCompared, "compare", run_compare),
    row(Op::greater, kCompared, "compare", run_compare),
    row(Op::greater_or_equal, kCompared, "compare", run_compare),
    row(Op::select, kMoved, "select", run_select),
    row(Op::convert, kMoved, "convert", run_convert),
    row(Op::iota, kMoved & ~graph::kBool, "iota", run_iota),
    row(Op::reshape, kMoved, "view", run_copy),  // never a step: the planner makes a view
    row(Op::transpose, kMoved, "copy_strided", run_transpose),
    row(Op::broadcast_in_dim, kMoved, "copy_strided", run_broadcast),
    row(Op::concatenate, kMoved, "concatenate", run_concatenate),
    row(Op::slice, kMoved, "copy_strided", run_slice),
    {.op = Op::gather, .dtypes = kMoved, .spelling = "gather", .run = run_gather, .scratch = gather_scratch},
    {.op = Op::dot_general,
     .dtypes = kF32,
     .spelling = "dot_general",
     .run = run_dot_general,
     .scratch = dot_general_scratch},
    row(Op::reduce_sum, kF32, "reduce", run_reduce),
    row(Op::reduce_max, kF32, "reduce", run_reduce),
    row(Op::reduce_min, kF32, "reduce", run_reduce),
    row(Op::softmax, kF32, "softmax", run_softmax),
    row(Op::gelu, kF32, "activation", run_activation),
    row(Op::silu, kF32, "activation", run_activation),
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

constexpr Operation kCopy = {
    .op = Op::reshape, .dtypes = kMoved, .spelling = "copy_rows", .run = run_copy, .strided_operands = 1};

}  // namespace

std::span<const Operation> operations() { return kOperations; }

const Operation& find_operation(const graph::Graph& graph, const graph::Node& node) {
  const backends::Support support = supports(graph, node);
  if (!support.native)
    throw make_error(ErrorCode::internal, "the planner was given ", graph::to_string(node.op),
                     ", which has no kernel: ", support.reason);
  const DType dtype = backends::asked_dtype(graph, node);
  return *std::find_if(std::begin(kOperations), std::end(kOperations),
                       [&](const Operation& row) { return row.op == node.op && graph::contains(row.dtypes, dtype); });
}

backends::Support supports(const graph::Graph& graph, const graph::Node& node) {
  static const std::vector<backends::Spelling> table = [] {
    std::vector<backends::Spelling> rows;
    for (const Operation& operation : kOperations) rows.push_back({operation.op, operation.dtypes, operation.spelling});
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
  if (const auto* convert = std::get_if<graph::Convert>(&node.attributes);
      convert != nullptr && !graph::contains(kMoved, convert->dtype)) {
    return {.native = false,
            .spelling = {},
            .reason = "no native conversion to " + std::string(alate::to_string(convert->dtype))};
  }
  return backends::look_up(table, graph, node);
}

const Operation& copy_operation() { return kCopy; }

}  // namespace alate::cpu
