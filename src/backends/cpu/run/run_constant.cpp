#include "backends/cpu/run/run_constant.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/cpu/planner/make_plan.h"
#include "backends/cpu/run/executable.h"
#include "graph/builder.h"

namespace alate::cpu {
namespace {

// A graph of a constant's ops, with a parameter for each value that is computed elsewhere.
class ConstantGraph {
 public:
  ConstantGraph(const std::function<bool(const graph::Constant&)>& is_included,
                const std::function<Tensor(const graph::Constant&)>& value_of)
      : is_included_(is_included), value_of_(value_of) {}

  graph::Value result_of(const graph::Constant& constant) {
    std::vector<graph::Value> operands;
    for (const graph::ConstantPtr& operand : constant.operands) operands.push_back(operand_of(*operand));
    return builder_.emit(constant.op, std::move(operands), constant.attributes).front();
  }

  graph::Graph finish(graph::Value result) {
    builder_.output("value", result);
    return builder_.finish();
  }

  std::span<const backends::Buffer> inputs() const { return inputs_; }

 private:
  graph::Value operand_of(const graph::Constant& constant) {
    const auto found = values_.find(&constant);
    if (found != values_.end()) return found->second;
    const graph::Value value = is_included_(constant) ? result_of(constant) : parameter(constant);
    values_.emplace(&constant, value);
    return value;
  }

  graph::Value parameter(const graph::Constant& constant) {
    inputs_.emplace_back(value_of_(constant));
    return builder_.parameter(std::to_string(inputs_.size()), constant.shape);
  }

  const std::function<bool(const graph::Constant&)>& is_included_;
  const std::function<Tensor(const graph::Constant&)>& value_of_;
  graph::Builder builder_{"constant"};
  std::map<const graph::Constant*, graph::Value> values_;
  std::vector<backends::Buffer> inputs_;
};

}  // namespace

Tensor run_constant(const graph::Constant& constant, const std::function<bool(const graph::Constant&)>& is_included,
                    const std::function<Tensor(const graph::Constant&)>& value_of) {
  ConstantGraph made(is_included, value_of);
  const graph::Graph graph = made.finish(made.result_of(constant));
  const auto weights = std::make_shared<backends::WeightStore>();
  CpuExecutable executable(make_plan(graph, *weights), weights, 0);
  std::vector<backends::Buffer> outputs(1);
  executable.run(made.inputs(), outputs, {.cancellation = base::Cancellation::never()});
  return *outputs[0].host();
}

}  // namespace alate::cpu
