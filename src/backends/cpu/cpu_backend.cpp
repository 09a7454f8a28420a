#include "backends/cpu/cpu_backend.h"

#include <algorithm>

#include "alate/error.h"
#include "backends/cpu/executable.h"
#include "backends/cpu/operations.h"
#include "backends/host_buffers.h"
#include "backends/spelling.h"
#include "base/cpu_facts.h"
#include "graph/decompose.h"
#include "graph/passes.h"

namespace alate::cpu {
namespace {

using backends::Buffer;
using backends::Device;
using backends::Support;

class CpuBackend final : public backends::Backend {
 public:
  std::string_view name() const override { return "cpu"; }

  std::vector<Device> devices() override {
    const base::CpuFacts& facts = base::cpu_facts();
    std::string description = facts.brand + ", " + std::string(base::to_string(base::chosen_instruction_set())) + ", " +
                              std::to_string(facts.usable_cores) + " cores";
    return {backends::host_device("cpu", std::move(description))};
  }

  Support supports(const graph::Graph& graph, const graph::Node& node, const Device&) const override {
    return cpu::supports(graph, node);
  }

  std::unique_ptr<backends::Executable> compile(const graph::Graph& graph,
                                                const backends::CompileOptions& options) override {
    graph::Graph optimized = graph::run_passes(graph, graph::standard_passes(), options.log);
    optimized = graph::decompose(
        optimized, [](const graph::Graph& g, const graph::Node& node) { return cpu::supports(g, node).native; });
    optimized = graph::eliminate_dead_nodes(graph::fold_constants(optimized));
    backends::require_native(name(), optimized, cpu::supports);
    std::shared_ptr<backends::WeightStore> weights =
        options.weights ? options.weights : std::make_shared<backends::WeightStore>();
    Plan plan = make_plan(optimized, *weights);
    return std::make_unique<CpuExecutable>(std::move(plan), std::move(weights), options.max_workers);
  }

  Buffer upload(const Tensor& tensor, const Device&) override { return tensor; }
  Tensor download(const Buffer& buffer) override { return backends::host_tensor(buffer); }
};

}  // namespace

backends::Backend& cpu_backend() {
  static CpuBackend backend;
  return backend;
}

}  // namespace alate::cpu
