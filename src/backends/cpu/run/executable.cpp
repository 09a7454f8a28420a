#include "backends/cpu/run/executable.h"

#include <algorithm>

#include "alate/error.h"
#include "backends/cpu/plan/run_plan.h"
#include "backends/cpu/run/binding.h"
#include "backends/cpu/run/rows_per_worker.h"
#include "backends/host_buffers.h"

namespace alate::cpu {
namespace {

constexpr std::size_t kKeptBindings = 64;
constexpr std::size_t kKeptWorkspaces = 8;

using Bytes = std::span<const std::byte>;

bool is_same(Bytes a, Bytes b) { return a.data() == b.data() && a.size() == b.size(); }

}  // namespace

std::vector<backends::AliasFacts> alias_facts(const Plan& plan) {
  std::vector<backends::AliasFacts> facts;
  for (const PlanAlias& alias : plan.aliases)
    facts.push_back({.output = plan.outputs[alias.output].name,
                     .parameter = plan.inputs[alias.parameter].name,
                     .in_place = alias.in_place,
                     .copy_reason = alias.copy_reason});
  return facts;
}

CpuExecutable::CpuExecutable(Plan plan, std::shared_ptr<backends::WeightStore> weights, std::size_t max_workers)
    : plan_(std::move(plan)), weights_(std::move(weights)), max_workers_(max_workers) {}

CpuExecutable::BindingPtr CpuExecutable::bind(std::span<const backends::Buffer> inputs, std::size_t workers) {
  if (inputs.size() != plan_.inputs.size()) {
    throw make_error(ErrorCode::invalid_argument, "run was given ", inputs.size(), " inputs, the graph has ",
                     plan_.inputs.size());
  }
  graph::DimValues values(*plan_.dims);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    values.bind(plan_.inputs[i].shape, inputs[i].shape(), "input '" + plan_.inputs[i].name + "'");
  std::vector<std::int64_t> key(values.raw().begin(), values.raw().end());
  key.push_back(static_cast<std::int64_t>(workers));
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(bindings_.begin(), bindings_.end(), [&](const auto& entry) { return entry.first == key; });
    if (found != bindings_.end()) {
      bindings_.splice(bindings_.begin(), bindings_, found);
      return found->second;
    }
  }
  auto binding = std::make_shared<const Binding>(bind_plan(plan_, values, workers));
  const std::lock_guard lock(mutex_);
  bindings_.emplace_front(key, binding);
  if (bindings_.size() > kKeptBindings) bindings_.pop_back();
  largest_arena_ = std::max(largest_arena_, binding->arena_bytes);
  return binding;
}

std::unique_ptr<CpuExecutable::Workspace> CpuExecutable::take_workspace(std::size_t arena_bytes) {
  std::unique_ptr<Workspace> workspace;
  {
    const std::lock_guard lock(mutex_);
    if (!workspaces_.empty()) {
      workspace = std::move(workspaces_.back());
      workspaces_.pop_back();
    }
  }
  if (!workspace) workspace = std::make_unique<Workspace>();
  if (workspace->arena.empty() || workspace->arena.byte_count() < arena_bytes) {
    workspace->arena = Tensor();  // frees the old one first, so that both are never held
    workspace->arena = Tensor::uninitialized({DType::u8, {static_cast<std::int64_t>(arena_bytes)}});
  }
  return workspace;
}

void CpuExecutable::give_back(std::unique_ptr<Workspace> workspace) {
  workspace->results.clear();
  const std::lock_guard lock(mutex_);
  if (workspaces_.size() < kKeptWorkspaces) workspaces_.push_back(std::move(workspace));
}

void CpuExecutable::make_results(const Binding& binding, std::span<const backends::Buffer> outputs,
                                 Workspace& workspace) const {
  if (outputs.size() != plan_.outputs.size()) {
    throw make_error(ErrorCode::invalid_argument, "run was given ", outputs.size(), " output buffers, the graph has ",
                     plan_.outputs.size(), " outputs");
  }
  workspace.results.clear();
  auto alias = plan_.aliases.begin();
  // With the port's extents: the slot of an output that is reshaped last has other extents, but the same bytes.
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    while (alias != plan_.aliases.end() && alias->output < i) ++alias;
    const PlanAlias* donation = alias != plan_.aliases.end() && alias->output == i ? &*alias : nullptr;
    const Tensor* given = outputs[i].host();
    const bool is_free =
        given != nullptr && given->shape() == binding.outputs[i] && may_write(given->bytes(), donation, workspace) &&
        std::ranges::none_of(workspace.results,
                             [&](const Tensor& other) { return backends::overlap(given->bytes(), other.bytes()); });
    workspace.results.push_back(is_free ? *given : Tensor::uninitialized(binding.outputs[i]));
  }
}

bool CpuExecutable::may_write(Bytes given, const PlanAlias* donation, const Workspace& workspace) const {
  bool is_free = true;
  for (std::size_t i = 0; i < workspace.inputs.size(); ++i) {
    if (!backends::overlap(given, workspace.inputs[i])) continue;
    const bool is_donated = donation != nullptr && donation->parameter == i;
    if (is_donated && !is_same(given, workspace.inputs[i])) {
      throw make_error(ErrorCode::invalid_argument, "the buffer of output '", plan_.outputs[donation->output].name,
                       "' overlaps a part of the buffer of input '", plan_.inputs[i].name,
                       "', which it aliases: give the same buffer for both, or one that is apart");
    }
    is_free = is_free && is_donated && donation->in_place;
  }
  return is_free;
}

void CpuExecutable::compute(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
                            const backends::RunOptions& options) {
  base::ThreadPool& pool = base::ThreadPool::shared();
  const std::size_t asked = options.max_workers != 0 ? options.max_workers : max_workers_;
  const std::size_t workers = asked != 0 ? std::min(asked, pool.size()) : pool.size();
  const BindingPtr binding = bind(inputs, workers);
  std::unique_ptr<Workspace> workspace = take_workspace(binding->arena_bytes);
  workspace->inputs.clear();
  for (const backends::Buffer& input : inputs) workspace->inputs.push_back(backends::host_tensor(input).bytes());
  make_results(*binding, outputs, *workspace);
  workspace->read.clear();
  for (const Bytes input : workspace->inputs) workspace->read.push_back(input.data());
  workspace->written.clear();
  for (Tensor& result : workspace->results) workspace->written.push_back(result.mutable_bytes().data());
  std::byte* arena = workspace->arena.mutable_bytes().data();
  workspace->pointers.resize(plan_.slots.size());
  point_slots(plan_, *binding, workspace->read, workspace->written, arena, workspace->pointers);
  run_steps(plan_, *binding, workspace->pointers, arena, pool, workers, options);
  backends::store_outputs(workspace->results, outputs);
  give_back(std::move(workspace));
}

backends::ExecutableFacts CpuExecutable::facts() const {
  const std::lock_guard lock(mutex_);
  return {.weight_bytes = plan_.weight_bytes,
          .scratch_bytes = largest_arena_,
          .kernels = plan_.steps.size(),
          .specialisations = bindings_.size(),
          .aliases = alias_facts(plan_)};
}

backends::BatchHint CpuExecutable::batch_hint() const {
  const std::size_t threads = base::ThreadPool::shared().size();
  return {.workers = max_workers_ == 0 ? threads : std::min(max_workers_, threads),
          .rows_per_worker = rows_per_worker(plan_.packed_weight_bytes)};
}

}  // namespace alate::cpu
