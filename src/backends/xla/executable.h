// An executable that runs a graph on a plugin's device.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/backend.h"
#include "backends/weight_store.h"
#include "backends/xla/abandoned_run.h"
#include "backends/xla/program_source.h"
#include "base/threads/mutex.h"
#include "exchange/stablehlo.h"

namespace alate::xla {

/// Programs have static dims, so there is one for each combination of extents that was run lately. A parameter that an
/// output is written over (Output::aliases_parameter) is donated to the program: for a host tensor always its copy; a
/// device buffer where it is also the output's buffer and nothing else holds it, else the plugin copies it. Such an
/// output stays on the device if its parameter was on the device; all others go to the host. The compiler decides for
/// each program whether it writes in place: facts() says so once it has for all programs so far.
///
/// A run that is cancelled ends between its parts: the upload of each input and weight, the compiler, the device, the
/// download of each output. On the device itself the run goes on; its caller need not wait for it while an AbandonedRun
/// has room for it. Inputs of a run that can be cancelled are copied, since the device may read them after the caller
/// has gone.
class XlaExecutable final : public backends::Executable {
 public:
  static constexpr std::size_t kKeptSpecialisations = 16;

  /// `graph` has only ops that StableHLO can express. A constant is uploaded at its first use, once for all programs
  /// over `weights`; where the device reads host memory, there is no second copy.
  XlaExecutable(graph::Graph graph, std::shared_ptr<const ProgramSource> source,
                std::shared_ptr<backends::WeightStore> weights);

  std::span<const backends::Port> inputs() const override { return inputs_; }
  std::span<const backends::Port> outputs() const override { return outputs_; }
  backends::ExecutableFacts facts() const override;
  backends::BatchHint batch_hint() const override { return {.specialises = true}; }

  /// Compiles the only program of a graph with aliases and without named dims, so that facts() is right before any run.
  void compile_aliases();

 private:
  void compute(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
               const backends::RunOptions& options) override;

  struct Specialisation {
    Program program;
    std::vector<DeviceBuffer> constants;
    std::vector<exchange::ExtentCheck> checks;
  };
  using SpecialisationPtr = std::shared_ptr<const Specialisation>;
  /// The first caller compiles it; others with the same extents wait, those with other extents do not.
  struct Slot {
    base::Mutex mutex;
    SpecialisationPtr made;
  };

  backends::WeightMemory memory() const;
  DeviceBuffer uploaded(const graph::ConstantPtr& constant) const;
  SpecialisationPtr specialise(const graph::DimValues& values, base::Cancellation cancellation);
  SpecialisationPtr make(const graph::DimValues& values, base::Cancellation cancellation);
  void note_aliases(const graph::DimValues& values, const Program& program);
  std::vector<Client::Argument> arguments_of(std::span<const backends::Buffer> inputs,
                                             std::span<const backends::Buffer> outputs,
                                             const Specialisation& specialisation,
                                             base::Cancellation cancellation) const;
  std::vector<DeviceBuffer> results_of(std::unique_ptr<Execution> execution, base::Cancellation cancellation);
  void give(std::span<const DeviceBuffer> results, std::span<const backends::Buffer> inputs,
            std::span<backends::Buffer> outputs, const graph::DimValues& values, base::Cancellation cancellation) const;

  graph::Graph graph_;
  std::shared_ptr<const ProgramSource> source_;
  std::shared_ptr<backends::WeightStore> weights_;
  std::vector<backends::Port> inputs_, outputs_;

  mutable base::Mutex mutex_;
  std::list<std::pair<std::vector<std::int64_t>, std::shared_ptr<Slot>>> slots_;  // the most recently used first
  std::vector<backends::AliasFacts> aliases_;                                     // of all programs so far
  bool has_programs_ = false;
  AbandonedRun abandoned_;
};

}  // namespace alate::xla
