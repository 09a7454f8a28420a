// Plans of graphs, run as the cpu backend runs them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/plan/run_plan.h"
#include "backends/cpu/planner/make_plan.h"
#include "backends/cpu/run/binding.h"
#include "tests/unit/backends/cpu/step_testing.h"

namespace alate::cpu {

/// A graph and its plan, to be looked at and run.
struct Program {
  graph::Graph graph;
  backends::WeightStore weights;
  Plan plan;
  explicit Program(graph::Builder&& builder) : graph(std::move(builder).finish()), plan(make_plan(graph, weights)) {}

  std::vector<Tensor> run(const std::vector<Tensor>& inputs, std::size_t workers,
                          const backends::RunOptions& options = {.cancellation = base::Cancellation::never()}) const {
    const Binding binding = bind(inputs, workers);
    std::vector<Tensor> results;
    for (const Shape& shape : binding.outputs) results.push_back(Tensor::zeros(shape));
    run_into(results, binding, inputs, workers, options);
    return results;
  }

  /// The same, with the outputs that are in place in the memory of their parameters; `inputs` keep their values.
  std::vector<Tensor> run_in_place(std::vector<Tensor> inputs, std::size_t workers) const {
    const Binding binding = bind(inputs, workers);
    std::vector<Tensor> results;
    for (const Shape& shape : binding.outputs) results.push_back(Tensor::zeros(shape));
    for (const PlanAlias& alias : plan.aliases) {
      if (!alias.in_place) continue;
      Tensor& donated = inputs[alias.parameter];
      donated = results[alias.output] = detail::copy_of(donated.shape(), donated.bytes());
    }
    run_into(results, binding, inputs, workers, {.cancellation = base::Cancellation::never()});
    return results;
  }

 private:
  Binding bind(const std::vector<Tensor>& inputs, std::size_t workers) const {
    graph::DimValues values(*plan.dims);
    for (std::size_t i = 0; i < inputs.size(); ++i) values.bind(plan.inputs[i].shape, inputs[i].shape(), "input");
    return bind_plan(plan, values, workers);
  }

  void run_into(std::vector<Tensor>& results, const Binding& binding, const std::vector<Tensor>& inputs,
                std::size_t workers, const backends::RunOptions& options) const {
    Tensor arena = Tensor::zeros({DType::u8, {static_cast<std::int64_t>(binding.arena_bytes)}});
    std::vector<const std::byte*> read;
    for (const Tensor& input : inputs) read.push_back(input.bytes().data());
    std::vector<std::byte*> written, pointers(plan.slots.size());
    for (Tensor& result : results) written.push_back(result.mutable_bytes().data());
    std::byte* memory = arena.mutable_bytes().data();
    point_slots(plan, binding, read, written, memory, pointers);
    base::ThreadPool pool(workers);
    run_steps(plan, binding, pointers, memory, pool, workers, options);
  }
};

/// With one thread and with several.
inline void expect_equal_runs(const Program& program, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> alone = program.run(inputs, 1);
  for (const std::size_t workers : {2, 3, 5}) {
    const std::vector<Tensor> shared = program.run(inputs, workers);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_TRUE(std::ranges::equal(alone[i].bytes(), shared[i].bytes()))
          << "output " << i << " with " << workers << " threads, " << inputs[0].shape().dims[0].number() << " rows";
    }
  }
}

}  // namespace alate::cpu
