// The executable that runs a plan.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backends/cpu/plan/plan.h"
#include "base/threads/mutex.h"

namespace alate::cpu {

/// The plan's aliases, as its executable reports them.
std::vector<backends::AliasFacts> alias_facts(const Plan& plan);

/// An output that aliases a donated parameter is written over it where the caller gives one buffer for both and no
/// other input is in it; else a run leaves its inputs as they are until their last reader has run.
class CpuExecutable final : public backends::Executable {
 public:
  CpuExecutable(Plan plan, std::shared_ptr<backends::WeightStore> weights, std::size_t max_workers);

  std::span<const backends::Port> inputs() const override { return plan_.inputs; }
  std::span<const backends::Port> outputs() const override { return plan_.outputs; }
  backends::ExecutableFacts facts() const override;
  backends::BatchHint batch_hint() const override;

 private:
  void compute(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
               const backends::RunOptions& options) override;

  /// Memory of one run, reused by later runs.
  struct Workspace {
    Tensor arena;
    std::vector<const std::byte*> read;
    std::vector<std::byte*> written, pointers;
    std::vector<std::span<const std::byte>> inputs;
    std::vector<Tensor> results;
  };
  using BindingPtr = std::shared_ptr<const Binding>;

  BindingPtr bind(std::span<const backends::Buffer> inputs, std::size_t workers);
  std::unique_ptr<Workspace> take_workspace(std::size_t arena_bytes);
  void give_back(std::unique_ptr<Workspace> workspace);
  void make_results(const Binding& binding, std::span<const backends::Buffer> outputs, Workspace& workspace) const;
  /// Whether a run may write a result to `given` while it needs its inputs. `donation` is the output's alias, if any.
  /// Throws invalid_argument if `given` overlaps only a part of the donated parameter.
  bool may_write(std::span<const std::byte> given, const PlanAlias* donation, const Workspace& workspace) const;

  Plan plan_;
  std::shared_ptr<backends::WeightStore> weights_;
  std::size_t max_workers_;

  mutable base::Mutex mutex_;
  std::list<std::pair<std::vector<std::int64_t>, BindingPtr>>
      bindings_;  // most recently used first; keyed by dims and workers
  std::vector<std::unique_ptr<Workspace>> workspaces_;
  std::size_t largest_arena_ = 0;
};

}  // namespace alate::cpu
