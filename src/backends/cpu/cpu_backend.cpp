#include "backends/cpu/cpu_backend.h"

#include <algorithm>

#include "alate/error.h"
#include "backends/cpu/kernels/gemm/product_rates.h"
#include "backends/cpu/planner/make_plan.h"
#include "backends/cpu/run/binding.h"
#include "backends/cpu/run/executable.h"
#include "backends/cpu/steps/operations.h"
#include "backends/donation.h"
#include "backends/host_buffers.h"
#include "backends/lowering.h"
#include "base/hardware/cpu_facts.h"

namespace alate::cpu {
namespace {

using backends::Buffer;
using backends::Device;
using backends::Support;

// Bytes of the outputs that a run writes over inputs.
std::size_t overwritten_bytes(const Plan& plan, const graph::DimValues& values) {
  std::size_t bytes = 0;
  for (const PlanAlias& alias : plan.aliases) {
    if (alias.in_place) bytes += values(plan.outputs[alias.output].shape).byte_count();
  }
  return bytes;
}

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
    const graph::Graph optimized = backends::lower(name(), graph, options, cpu::supports);
    std::shared_ptr<backends::WeightStore> weights =
        options.weights ? options.weights : std::make_shared<backends::WeightStore>();
    Plan plan = make_plan(optimized, *weights);
    backends::require_small_copies(name(), optimized, alias_facts(plan), options);
    return std::make_unique<CpuExecutable>(std::move(plan), std::move(weights), options.max_workers);
  }

  std::optional<backends::ProductRates> product_rates() override { return cpu::product_rates(); }

  Buffer upload(const Tensor& tensor, const Device&) override { return tensor; }
  Tensor download(const Buffer& buffer) override { return backends::host_tensor(buffer); }

  std::vector<backends::MemoryNeeds> memory_needs(const graph::Graph& graph,
                                                  std::span<const backends::DimSettings> runs) const override {
    const graph::Graph optimized = backends::lower(name(), graph, {}, cpu::supports);
    const Plan plan = make_plan_for_sizes(optimized);
    const std::size_t threads = base::cpu_facts().usable_cores;
    std::vector<backends::MemoryNeeds> needs;
    for (const backends::DimSettings& run : runs) {
      const graph::DimValues values = backends::dim_values(optimized, run);
      const std::size_t arena =
          std::max(bind_plan(plan, values).arena_bytes, bind_plan(plan, values, threads).arena_bytes);
      needs.push_back({.mapped_weights = plan.weight_bytes - plan.owned_weight_bytes,
                       .owned_weights = plan.owned_weight_bytes,
                       .activations = arena,
                       .inputs = backends::input_bytes(optimized, values),
                       .outputs = backends::output_bytes(optimized, values) - overwritten_bytes(plan, values)});
    }
    return needs;
  }
};

}  // namespace

backends::Backend& cpu_backend() {
  static CpuBackend backend;
  return backend;
}

}  // namespace alate::cpu
