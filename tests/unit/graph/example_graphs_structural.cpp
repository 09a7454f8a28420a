#include "tests/unit/graph/example_graphs.h"

namespace alate::graph {
namespace {

// A region over scalars of this dtype that gives `op` of two of its parameters, one output for each pair of places.
Region scalar_region(const std::shared_ptr<DimTable>& dims, const std::vector<DType>& dtypes, Op op,
                     const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  Builder b("region", dims);
  std::vector<Value> parameters;
  for (const DType dtype : dtypes)
    parameters.push_back(b.parameter("p" + std::to_string(parameters.size()), {dtype, {}}));
  for (const auto& [left, right] : pairs)
    b.output("o" + std::to_string(left),
             b.emit(op, {parameters.at(left), parameters.at(right)}, NoAttributes{}).front());
  return std::make_shared<const Graph>(b.finish());
}

Graph call_example() {
  Builder b("call"), callee("callee", b.dims());
  const Shape shape{DType::f32, {b.dim("n")}};
  const Value p = callee.parameter("p", shape), q = callee.parameter("q", shape);
  callee.output("sum", callee.add({p, q}));
  callee.output("first", p);
  const Value x = b.parameter("x", shape), y = b.parameter("y", shape);
  const std::vector<Value> results = b.call({x, y}, std::make_shared<const Graph>(callee.finish()));
  b.output("sum", results[0]);
  b.output("first", results[1]);
  return b.finish();
}

Graph reduce_example() {
  Builder b("reduce");
  const Dims dims{b.dim("n"), 2};
  const DType f32 = DType::f32, i32 = DType::i32;
  const Value x = b.parameter("x", {f32, dims}), y = b.parameter("y", {i32, dims});
  const std::vector<Value> results = b.reduce({x, y, b.scalar(f32, 10), b.scalar(i32, -1)}, {{0}},
                                              scalar_region(b.dims(), {f32, i32, f32, i32}, Op::sub, {{0, 2}, {1, 3}}));
  b.output("x", results[0]);
  b.output("y", results[1]);
  return b.finish();
}

Graph sort_example() {
  Builder b("sort");
  const Dims dims{2, b.dim("n")};
  const DType f32 = DType::f32, i32 = DType::i32;
  const Value keys = b.parameter("keys", {i32, dims}), values = b.parameter("values", {f32, dims});
  const std::vector<Value> results =
      b.sort({keys, values}, {.axis = 1}, scalar_region(b.dims(), {i32, i32, f32, f32}, Op::greater, {{0, 1}}));
  b.output("keys", results[0]);
  b.output("values", results[1]);
  return b.finish();
}

void add_moving(std::vector<Graph>& graphs) {
  const DType f32 = DType::f32, i32 = DType::i32, i64 = DType::i64, c64 = DType::c64;
  graphs.push_back(example(Op::pad, {f32}, {{kTokens, 3, 2}, {}}, Pad{{0, -1, 2}, {0, 2, -1}, {0, 1, 2}}));
  graphs.push_back(example(Op::pad, {DType::u8}, {{3}, {}}, Pad{{1}, {0}, {}}));
  graphs.push_back(example(Op::reverse, {f32}, {{kTokens, 2, 3}}, Axes{{2, 0}}));
  graphs.push_back(example(Op::dynamic_slice, {f32, i32, i32}, {{kTokens, 4}, {}, {}}, DynamicSlice{{2, 3}}));
  graphs.push_back(example(Op::dynamic_slice, {c64}, {{}}, DynamicSlice{}));
  graphs.push_back(
      example(Op::dynamic_update_slice, {f32, f32, i64, i64}, {{kTokens, 4}, {2, 3}, {}, {}}, NoAttributes{}));
  graphs.push_back(example(Op::dimension_size, {f32}, {{2, kTokens}}, Axis{1}));
  graphs.push_back(example(Op::dynamic_reshape, {f32, i64}, {{kTokens, 4}, {3}}, Reshape{{kTokens, 2, 2}}));
  graphs.push_back(
      example(Op::gather, {f32, i32}, {{kTokens, 4, 2}, {3, kTokens}}, Gather{{2}, {1}, {1}, 2, {1, 1, 2}, {0}, {1}}));
  const Scatter rows{.update_window_dims = {1},
                     .inserted_window_dims = {0},
                     .input_batching_dims = {},
                     .scatter_indices_batching_dims = {},
                     .scatter_dims_to_operand_dims = {0},
                     .index_vector_dim = 1};
  for (const Op op : {Op::scatter_set, Op::scatter_sum, Op::scatter_max, Op::scatter_min}) {
    for (const DType dtype : {f32, DType::i8, DType::bf16})
      graphs.push_back(example(op, {dtype, i32, dtype}, {{4, 2}, {kTokens}, {kTokens, 2}}, rows));
  }
  const Scatter batched{.update_window_dims = {},
                        .inserted_window_dims = {1},
                        .input_batching_dims = {0},
                        .scatter_indices_batching_dims = {1},
                        .scatter_dims_to_operand_dims = {1},
                        .index_vector_dim = 0,
                        .unique_indices = true};
  graphs.push_back(example(Op::scatter_sum, {f32, i32, f32}, {{kTokens, 4}, {1, kTokens}, {kTokens}}, batched));
}

void add_reducing(std::vector<Graph>& graphs) {
  const Dims dims{kTokens, 2, 3};
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::u8, DType::boolean, DType::c64}) {
    for (const Op op : {Op::reduce_product, Op::reduce_and, Op::reduce_or, Op::reduce_xor, Op::reduce_bitwise_and,
                        Op::reduce_bitwise_or, Op::reduce_bitwise_xor}) {
      if (contains(op_info(op).dtypes, dtype)) graphs.push_back(example(op, {dtype}, {dims}, Axes{{0, 2}}));
    }
    for (const Op op : {Op::cumulative_sum, Op::cumulative_product, Op::cumulative_max, Op::cumulative_min}) {
      if (!contains(op_info(op).dtypes, dtype)) continue;
      graphs.push_back(example(op, {dtype}, {dims}, Cumulative{.axis = 0, .reverse = true}));
      graphs.push_back(example(op, {dtype}, {dims}, Cumulative{.axis = 2, .exclusive = true}));
    }
    if (!contains(op_info(Op::arg_min_max).dtypes, dtype)) continue;
    graphs.push_back(example(Op::arg_min_max, {dtype}, {dims}, ArgMinMax{1, DType::i64, false}));
    graphs.push_back(example(Op::arg_min_max, {dtype}, {dims}, ArgMinMax{0, DType::u8, true}));
    if (dtype != DType::boolean) graphs.push_back(example(Op::top_k, {dtype}, {dims}, TopK{2}));
  }
}

void add_several_devices(std::vector<Graph>& graphs) {
  const DType f32 = DType::f32, i32 = DType::i32;
  const std::vector<Dims> two{{kTokens}, {2, 3}};
  const Groups one{{0}};
  graphs.push_back(example(Op::optimization_barrier, {f32, i32}, two, NoAttributes{}));
  graphs.push_back(example(Op::scheduling_barrier, {f32, i32}, two, NoAttributes{}));
  graphs.push_back(example(Op::all_reduce, {i32}, two, AllReduce{Reduction::bitwise_xor, one}));
  graphs.push_back(example(Op::all_gather, {f32, i32}, two, AllGather{0, one}));
  graphs.push_back(example(Op::all_to_all, {f32}, {{kTokens, 2}}, AllToAll{0, 1, 1, one}));
  graphs.push_back(example(Op::reduce_scatter, {f32}, {{kTokens, 2}}, ReduceScatter{Reduction::max, 1, one}));
  graphs.push_back(example(Op::collective_permute, {f32}, {{kTokens}}, CollectivePermute{{{0, 0}}}));
  graphs.push_back(example(Op::collective_permute, {f32}, {{kTokens}}, CollectivePermute{}));
  graphs.push_back(example(Op::collective_broadcast, {f32}, {{kTokens}}, CollectiveBroadcast{one}));
  graphs.push_back(example(Op::replica_id, {}, {}, NoAttributes{}));
  graphs.push_back(example(Op::partition_id, {}, {}, NoAttributes{}));
}

}  // namespace

void add_structural_examples(std::vector<Graph>& graphs) {
  add_moving(graphs);
  add_reducing(graphs);
  add_several_devices(graphs);
  graphs.push_back(call_example());
  graphs.push_back(reduce_example());
  graphs.push_back(sort_example());
}

}  // namespace alate::graph
