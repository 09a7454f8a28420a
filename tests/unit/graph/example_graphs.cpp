#include "tests/unit/graph/example_graphs.h"

#include <algorithm>
#include <set>

#include "graph/operands.h"
#include "tensor/element.h"
#include "tensor/packed.h"
#include "tests/conformance/cases/cases.h"
#include "tests/unit/graph/example_graphs_windowed.h"

namespace alate::graph {

Graph example(Op op, const std::vector<DType>& dtypes, const std::vector<Dims>& dims, Attributes attributes) {
  Builder b(std::string(to_string(op)) + " of " + std::string(dtypes.empty() ? "nothing" : to_string(dtypes[0])));
  b.dim("tokens", 1, 512, true);
  b.dim("number of sequences");
  std::vector<Value> operands;
  for (std::size_t i = 0; i < dims.size(); ++i)
    operands.push_back(b.parameter("operand " + std::to_string(i), {dtypes[i % dtypes.size()], dims[i]}, i == 0));
  b.set_source("example \"" + std::string(to_string(op)) + "\"\n");
  const std::vector<Value> results = b.emit(op, operands, std::move(attributes));
  const bool may_alias = !operands.empty() && b.shape(operands[0]) == b.shape(results[0]);
  b.output("result", results[0], may_alias ? std::optional<std::size_t>(0) : std::nullopt);
  for (std::size_t i = 1; i < results.size(); ++i) b.output("result " + std::to_string(i), results[i]);
  return b.finish();
}

namespace {

constexpr std::int64_t kDimValue = 3;

Graph while_loop_example() {
  const auto dims = std::make_shared<DimTable>();
  const Shape counter{DType::i32, {}}, row{DType::f32, {dims->named("width")}};
  Builder condition("condition", dims), body("body", dims), whole("while_loop", dims);
  const Value left = condition.parameter("left", counter);
  condition.parameter("x", row);
  condition.output("go on", condition.greater({left, condition.scalar(DType::i32, 0)}));
  const Value before = body.parameter("left", counter), x = body.parameter("x", row);
  body.output("left", body.sub({before, body.scalar(DType::i32, 1)}));
  body.set_source("body");
  body.output("x", body.add({x, x}));
  const Value start = whole.parameter("left", counter), y = whole.parameter("x", row);
  const std::vector<Value> last = whole.while_loop({start, y}, std::make_shared<const Graph>(condition.finish()),
                                                   std::make_shared<const Graph>(body.finish()));
  whole.output("x", last[1]);
  return whole.finish();
}

Graph if_else_example() {
  const auto dims = std::make_shared<DimTable>();
  const auto branch = [&](double addend) {
    Builder b("branch", dims);
    const Value x = b.parameter("x", {DType::f32, {}});
    b.output("sum", b.add({x, b.scalar(DType::f32, addend)}));
    b.output("product", b.mul({x, x}));
    return std::make_shared<const Graph>(b.finish());
  };
  Builder b("if_else", dims);
  const Value chosen = b.parameter("chosen", {DType::boolean, {}}), x = b.parameter("x", {DType::f32, {}});
  const std::vector<Value> results = b.if_else({chosen, x}, branch(1), branch(-0.1));
  b.output("product", results[1]);
  b.output("sum", results[0]);
  return b.finish();
}

void add_standard(std::vector<Graph>& graphs) {
  const DType f32 = DType::f32, i32 = DType::i32, boolean = DType::boolean;
  for (const OpInfo& op : all_ops()) {
    const bool is_plain =
        op.kind == OpKind::standard && op.has(kElementwise) && op.op != Op::convert && op.op != Op::select;
    if (!is_plain) continue;
    for (const DType dtype :
         {f32, DType::f16, DType::bf16, DType::f64, i32, DType::u8, boolean, DType::c64, DType::i4}) {
      if (contains(op.dtypes, dtype))
        graphs.push_back(example(op.op, {dtype}, std::vector<Dims>(op.min_operands, {kTokens, 2}), NoAttributes{}));
    }
  }
  graphs.push_back(example(Op::select, {boolean, f32, f32}, {{kTokens}, {kTokens}, {kTokens}}, NoAttributes{}));
  graphs.push_back(example(Op::convert, {f32}, {{kTokens}}, Convert{DType::bf16}));
  graphs.push_back(example(Op::bitcast, {f32}, {{kTokens}}, Convert{DType::u8}));
  graphs.push_back(example(Op::clamp, {f32}, {{}, {kTokens}, {kTokens}}, NoAttributes{}));
}

void add_data(std::vector<Graph>& graphs) {
  const DType f32 = DType::f32, i32 = DType::i32;
  graphs.push_back(example(Op::iota, {}, {}, Iota{i32, {2, 5}, 1}));
  graphs.push_back(example(Op::reshape, {f32}, {{kTokens, 4}}, Reshape{{kTokens, 2, 2}}));
  graphs.push_back(example(Op::transpose, {f32}, {{kTokens, 2, 3}}, Permutation{{2, 0, 1}}));
  graphs.push_back(example(Op::broadcast_in_dim, {f32}, {{kTokens, 1}}, BroadcastInDim{{2, kTokens, 4}, {1, 2}}));
  graphs.push_back(example(Op::concatenate, {f32}, {{kTokens, 1}, {kTokens, 2}}, Axis{1}));
  graphs.push_back(example(Op::slice, {f32}, {{kTokens, 5}}, Slice{{0, 1}, {kTokens, 4}, {1, 2}}));
  graphs.push_back(example(Op::gather, {f32, i32}, {{4, 2}, {kTokens}}, Gather{{1}, {0}, {0}, 1, {1, 2}}));
  graphs.push_back(example(Op::dot_general, {f32}, {{2, kTokens, 4}, {2, 4, 3}}, DotGeneral{{0}, {0}, {2}, {1}}));
  for (const Op op : {Op::reduce_sum, Op::reduce_max, Op::reduce_min})
    graphs.push_back(example(op, {f32}, {{kTokens, 2, 3}}, Axes{{1, 0}}));
}

void add_fused(std::vector<Graph>& graphs) {
  const DType i32 = DType::i32;
  for (const DType half : {DType::bf16, DType::f16}) {
    graphs.push_back(example(Op::dense, {DType::f32, half, DType::f32, DType::f32},
                             {{kTokens, 4}, {3, 4}, {3}, {kTokens, 3}}, Dense{true, true, Activation::silu}));
  }
  for (const DType f : {DType::f32, DType::f16, DType::f64}) {
    graphs.push_back(example(Op::softmax, {f}, {{kTokens, 4}}, Axis{1}));
    graphs.push_back(example(Op::gelu, {f}, {{kTokens}}, Gelu{true}));
    graphs.push_back(example(Op::gelu, {f}, {{kTokens}}, Gelu{false}));
    graphs.push_back(example(Op::silu, {f}, {{kTokens}}, NoAttributes{}));
    graphs.push_back(example(Op::layer_norm, {f}, {{kTokens, 4}, {4}, {4}}, Norm{1e-5}));
    graphs.push_back(example(Op::normalize, {f}, {{kTokens, 4}}, Norm{0.1}));
    for (int number = 0; number <= static_cast<int>(Activation::quick_gelu); ++number) {
      graphs.push_back(example(Op::dense, {f}, {{kTokens, 4}, {3, 4}, {3}, {kTokens, 3}},
                               Dense{true, true, static_cast<Activation>(number)}));
    }
    graphs.push_back(example(Op::attention, {f}, {{2, kTokens, 4, 2}, {2, kTokens, 2, 2}, {2, kTokens, 2, 3}},
                             Attention{.scale = 0.5, .causal = true}));
    graphs.push_back(example(Op::attention, {f, f, f, i32, f, f},
                             {{2, 2, 4, 2}, {2, kTokens, 2, 2}, {2, kTokens, 2, 3}, {2}, {2, 4, 2, kTokens}, {4}},
                             Attention{0.1, true, true, true, false, 1, 2, 3.5}));
    graphs.push_back(example(Op::attention_gradient, {f, f, f, f},
                             {{2, kTokens, 4, 2}, {2, 3, 2, 2}, {2, 3, 2, 3}, {2, kTokens, 4, 3}},
                             Attention{.scale = 0.5, .causal = true}));
    graphs.push_back(
        example(Op::attention_gradient, {f, f, f, i32, f, f, f},
                {{2, 2, 4, 2}, {2, kTokens, 2, 2}, {2, kTokens, 2, 3}, {2}, {1, 4, 2, kTokens}, {4}, {2, 2, 4, 3}},
                Attention{0.3, true, true, true, false, 1, 2, 3.5}));
    const auto ragged = [&](const RaggedAttentionOperands<Shape>& more, const Attention& attributes) {
      RaggedAttentionOperands<Shape> shapes = more;
      shapes.query = {f, {kTokens, 4, 2}};
      shapes.key = {f, {kTokens, 2, 2}};
      shapes.value = {f, {kTokens, 2, 3}};
      shapes.starts = shapes.lengths = {i32, {2}};
      std::vector<DType> dtypes;
      std::vector<Dims> dims;
      for (const Shape& shape : shapes.list()) {
        dtypes.push_back(shape.dtype);
        dims.push_back(shape.dims);
      }
      graphs.push_back(example(Op::ragged_attention, dtypes, dims, shapes.flagged(attributes)));
    };
    ragged({.bias = Shape{f, {1, 4, 2, 2}}, .sinks = Shape{f, {4}}},
           {.scale = 0.1, .causal = true, .window_left = 1, .longest = 2});
    ragged({.key_lengths = Shape{i32, {2}}, .bias = Shape{f, {2, 1, kTokens, kTokens}}},
           {.scale = 0.5, .longest = kTokens});
    ragged({.query_distances = Shape{f, {4, kTokens, 2, 2}}, .key_distances = Shape{f, {4, kTokens, 2, 2}}},
           {.scale = 0.5, .longest = 2});
    ragged({.bias = Shape{f, {2, 1, 2, 2}}, .key_distances = Shape{f, {4, 1, 2, 2}}}, {.scale = 0.5, .longest = 2});
    for (const DType rows : {f, DType::bf16})
      graphs.push_back(example(Op::write_pages, {f, rows, i32}, {{2, 2, 2, 3}, {kTokens, 2, 3}, {kTokens}}, {}));
    for (const DType cache : {f, DType::f32}) {
      graphs.push_back(example(Op::paged_attention, {f, cache, cache, i32, i32, i32, i32, f},
                               {{kTokens, 4, 2}, {3, 2, 2, 2}, {3, 2, 2, 3}, {2, 2}, {2}, {2}, {2}, {4}},
                               Attention{.scale = 0.5, .has_sinks = true, .causal = true, .longest = kTokens}));
    }
    graphs.push_back(
        example(Op::paged_attention, {f, DType::i8, DType::i8, i32, i32, i32, i32, DType::f32, DType::f32},
                {{kTokens, 4, 2}, {3, 2, 2, 2}, {3, 2, 2, 3}, {2, 2}, {2}, {2}, {2}, {3, 2, 2, 1}, {3, 2, 2, 1}},
                Attention{.scale = 0.5, .causal = true, .has_cache_scales = true, .longest = kTokens}));
    graphs.push_back(example(Op::paged_attention, {f, f, f, i32, i32, i32, i32},
                             {{kTokens, 4, 2}, {kTokens, 2, 2, 2}, {kTokens, 2, 2, 3}, {2, 2}, {2}, {2}, {2}},
                             Attention{.scale = 0.1, .window_left = 1, .soft_cap = 2, .longest = 2}));
    for (int number = 0; number <= static_cast<int>(PoolMode::weighted_mean); ++number) {
      graphs.push_back(example(Op::ragged_pool, {f, i32, i32}, {{kTokens, 2}, {kSequences}, {kSequences}},
                               Pool{static_cast<PoolMode>(number), kTokens}));
    }
  }
}

// Ops that have no line of their own: a small case of the conformance suite.
void add_from_cases(std::vector<Graph>& graphs) {
  std::set<Op> seen;
  for (const Graph& graph : graphs) {
    for (const Node& node : graph.nodes()) seen.insert(node.op);
  }
  for (const OpInfo& op : all_ops()) {
    if (op.kind == OpKind::leaf || seen.contains(op.op)) continue;
    for (const DType dtype : {DType::f32, DType::f16, DType::f64, DType::i32, DType::u64}) {
      if (!contains(op.dtypes, dtype)) continue;
      const conformance::Cases cases = conformance::cases_of(op, dtype, 1);
      const auto small = std::ranges::find_if(cases, [](const conformance::Case& subject) {
        constexpr std::int64_t kFew = 200;
        const std::int64_t elements = conformance::elements_of(subject);
        return elements > 1 && elements < kFew && subject.regions.empty();
      });
      if (small == cases.end()) continue;
      std::vector<DType> dtypes;
      std::vector<Dims> dims;
      for (const conformance::Operand& operand : small->operands) {
        dtypes.push_back(operand.shape.dtype);
        dims.push_back(conformance::shape_at_run(operand.shape).dims);
      }
      graphs.push_back(example(op.op, dtypes, dims, small->attributes));
    }
  }
}

// Packed sequences and extents for the ops that read them, by operand; nothing for other operands.
std::vector<double> indices(Op op, std::size_t operand) {
  if (op == Op::ragged_pool) {  // lengths 2, 0 and 1
    if (operand == 1) return {0, 2, 2};
    if (operand == 2) return {2, 0, 1};
  }
  if (op == Op::ragged_attention) {  // lengths 2 and 1
    if (operand == 3) return {0, 2};
    if (operand == 4) return {2, 1};
  }
  if (op == Op::write_pages && operand == 2) return {3, -1, 1};
  if (op == Op::paged_attention) {  // lengths 2 and 1 of 3 and 4 tokens
    const std::vector<double> values[] = {{2, 0, 1, 2}, {0, 2}, {2, 1}, {3, 4}};
    if (operand >= 3 && operand < 7) return values[operand - 3];
  }
  if (op == Op::dynamic_reshape && operand == 1) return {kDimValue, 2, 2};
  return window_example_values(op, operand);
}

}  // namespace

std::vector<Graph> example_graphs() {
  std::vector<Graph> graphs;
  add_standard(graphs);
  add_data(graphs);
  add_fused(graphs);
  add_structural_examples(graphs);
  add_window_examples(graphs);
  graphs.push_back(while_loop_example());
  graphs.push_back(if_else_example());
  add_from_cases(graphs);
  return graphs;
}

std::vector<Tensor> example_inputs(const Graph& graph) {
  std::vector<Tensor> inputs;
  const Op op = graph.nodes().back().op;
  for (const Parameter& parameter : graph.parameters()) {
    Shape shape = parameter.shape;
    for (Dim& dim : shape.dims) dim = dim.is_number() ? dim : Dim(kDimValue);
    DType part = shape.dtype;
    if (is_complex(part)) part = part == DType::c64 ? DType::f32 : DType::f64;
    Tensor tensor = Tensor::zeros({tensor::carrier_of(shape.dtype), shape.dims});
    const std::size_t size = bits_of(tensor::carrier_of(part)) / 8;
    const std::vector<double> places = indices(op, inputs.size());
    for (std::size_t i = 0; i * size < tensor.byte_count(); ++i) {
      double value = is_float(part) ? 0.37 * static_cast<double>(i % 7) - 0.9 : static_cast<double>(i % 2);
      if (!places.empty()) value = places.at(i);
      tensor::store_double(part, value, tensor.mutable_bytes().data() + i * size);
    }
    inputs.push_back(tensor::packed(tensor, shape.dtype));
  }
  return inputs;
}

}  // namespace alate::graph
