// Plans for tests: made of a graph, bound and run on as many threads as asked for.
#pragma once

#include <utility>
#include <vector>

#include "backends/cpu/plan.h"
#include "backends/cpu/run_plan.h"
#include "graph/builder.h"

namespace alate::cpu {

/// A graph's plan, and what it was made of.
struct Program {
  graph::Graph graph;
  backends::WeightStore weights;
  Plan plan;
  explicit Program(graph::Builder&& builder) : graph(std::move(builder).finish()), plan(make_plan(graph, weights)) {}

  /// Results in the order of the graph's outputs, each in memory of its own.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, std::size_t workers,
                          const backends::RunOptions& options = {}) const {
    graph::DimValues values(*plan.dims);
    for (std::size_t i = 0; i < inputs.size(); ++i) values.bind(plan.inputs[i].shape, inputs[i].shape(), "input");
    const Binding binding = bind_plan(plan, values, workers);
    Tensor arena = Tensor::zeros({DType::u8, {static_cast<std::int64_t>(binding.arena_bytes)}});
    std::vector<const std::byte*> read;
    for (const Tensor& input : inputs) read.push_back(input.bytes().data());
    std::vector<Tensor> results;
    std::vector<std::byte*> written, pointers(plan.slots.size());
    for (const Shape& shape : binding.outputs) results.push_back(Tensor::zeros(shape));
    for (Tensor& result : results) written.push_back(result.mutable_bytes().data());
    std::byte* memory = arena.mutable_bytes().data();
    point_slots(plan, binding, read, written, memory, pointers);
    base::ThreadPool pool(workers);
    run_steps(plan, binding, pointers, memory, pool, workers, options);
    return results;
  }
};

}  // namespace alate::cpu
