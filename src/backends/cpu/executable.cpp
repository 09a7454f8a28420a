#include "backends/cpu/executable.h"

#include <algorithm>

#include "alate/error.h"
#include "backends/host_buffers.h"

namespace alate::cpu {
namespace {

constexpr std::size_t kKeptBindings = 64;
constexpr std::size_t kKeptWorkspaces = 8;

// Pointers are std::byte* for both what is read and what is written; steps write to their output alone.
std::byte* pointer_to(std::span<const std::byte> bytes) { return const_cast<std::byte*>(bytes.data()); }

}  // namespace

CpuExecutable::CpuExecutable(Plan plan, std::shared_ptr<backends::WeightStore> weights, std::size_t max_workers)
    : plan_(std::move(plan)), weights_(std::move(weights)), max_workers_(max_workers) {}

CpuExecutable::BindingPtr CpuExecutable::bind(std::span<const backends::Buffer> inputs) {
  if (inputs.size() != plan_.inputs.size()) {
    throw make_error(ErrorCode::invalid_argument, "run was given ", inputs.size(), " inputs, the graph has ",
                     plan_.inputs.size());
  }
  graph::DimValues values(*plan_.dims);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    values.bind(plan_.inputs[i].shape, inputs[i].shape(), "input '" + plan_.inputs[i].name + "'");
  const std::vector<std::int64_t> key(values.raw().begin(), values.raw().end());
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(bindings_.begin(), bindings_.end(), [&](const auto& entry) { return entry.first == key; });
    if (found != bindings_.end()) {
      bindings_.splice(bindings_.begin(), bindings_, found);
      return found->second;
    }
  }
  auto binding = std::make_shared<const Binding>(bind_plan(plan_, values));
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
    workspace->arena = Tensor();  // the old one first, so that both are never held
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
  // In the port's extents: the slot of a value that is reshaped on its way out has others, and the same bytes.
  for (const Shape& shape : binding.outputs) workspace.results.push_back(Tensor::uninitialized(shape));
}

void CpuExecutable::fill_pointers(const Binding& binding, std::span<const backends::Buffer> inputs,
                                  Workspace& workspace) const {
  std::vector<std::byte*>& pointers = workspace.pointers;
  pointers.assign(plan_.slots.size(), nullptr);
  std::byte* arena = workspace.arena.mutable_bytes().data();
  for (std::size_t id = 0; id < plan_.slots.size(); ++id) {
    const Slot& slot = plan_.slots[id];
    switch (slot.kind) {
      case SlotKind::parameter: pointers[id] = pointer_to(backends::host_tensor(inputs[slot.index]).bytes()); break;
      case SlotKind::constant: pointers[id] = pointer_to(slot.constant.bytes()); break;
      case SlotKind::packed: break;
      case SlotKind::arena: pointers[id] = arena + binding.offsets[id]; break;
      case SlotKind::output: pointers[id] = workspace.results[slot.index].mutable_bytes().data(); break;
      case SlotKind::view: pointers[id] = pointers[slot.base] + bytes_for(slot.shape.dtype, slot.offset); break;
    }
  }
}

void CpuExecutable::run(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
                        const backends::RunOptions& options) {
  const BindingPtr binding = bind(inputs);
  std::unique_ptr<Workspace> workspace = take_workspace(binding->arena_bytes);
  make_results(*binding, outputs, *workspace);
  fill_pointers(*binding, inputs, *workspace);
  Frame frame{plan_.slots,
              *binding,
              workspace->pointers,
              nullptr,
              base::ThreadPool::shared(),
              options.max_workers != 0 ? options.max_workers : max_workers_};
  std::byte* arena = workspace->arena.mutable_bytes().data();
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    if (options.cancelled != nullptr && (*options.cancelled)())
      throw Error(ErrorCode::cancelled, "the run was cancelled");
    frame.scratch = arena + binding->step_scratch[i];
    const Step& step = plan_.steps[i];
    if (options.profile == nullptr) {
      step.operation->run(step, frame);
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    step.operation->run(step, frame);
    options.profile->push_back({step.operation->spelling, step.source, std::chrono::steady_clock::now() - start});
  }
  backends::give_outputs(workspace->results, outputs);
  give_back(std::move(workspace));
}

backends::ExecutableFacts CpuExecutable::facts() const {
  const std::lock_guard lock(mutex_);
  return {.weight_bytes = plan_.weight_bytes,
          .scratch_bytes = largest_arena_,
          .kernels = plan_.steps.size(),
          .specialisations = bindings_.size()};
}

}  // namespace alate::cpu
