// Runs a graph on a plugin's device.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/specialising_executable.h"
#include "backends/xla/abandoned_run.h"
#include "backends/xla/device_weights.h"
#include "backends/xla/program_source.h"
#include "base/threads/mutex.h"
#include "exchange/stablehlo.h"

namespace alate::xla {

/// Programs have numbers for all dims, so there is one for each combination that was run lately. What an output is
/// written over (Output::aliases_parameter) is given to the program: a tensor's copy always, a device's buffer where it
/// is also the output's buffer and nothing else holds it, else the plugin copies it. Such an output stays on the device
/// where its parameter came from there; all others come to the host.
///
/// A run that is cancelled ends between its parts: the upload of each input and weight, the compiler, the device, the
/// download of each output. On the device itself it goes on: its caller is let go while an AbandonedRun has room for
/// it. Inputs of a run that can be cancelled are copied, for the device may read them when the caller has gone.
class XlaExecutable final : public backends::SpecialisingExecutable {
 public:
  static constexpr std::size_t kKeptSpecialisations = 16;

  /// `graph` has only ops that StableHLO can say.
  XlaExecutable(graph::Graph graph, std::shared_ptr<const ProgramSource> source,
                std::shared_ptr<DeviceWeights> weights);

  std::span<const backends::Port> inputs() const override { return inputs_; }
  std::span<const backends::Port> outputs() const override { return outputs_; }
  backends::ExecutableFacts facts() const override;

 private:
  void compute(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
               const backends::RunOptions& options) override;

  struct Specialisation {
    Program program;
    std::vector<DeviceBuffer> constants;
    std::vector<exchange::ExtentCheck> checks;
  };
  using SpecialisationPtr = std::shared_ptr<const Specialisation>;
  /// Whoever comes first makes it; others of the same extents wait, those of other extents do not.
  struct Slot {
    base::Mutex mutex;
    SpecialisationPtr made;
  };

  SpecialisationPtr specialise(const graph::DimValues& values, Cancellation cancellation);
  SpecialisationPtr make(const graph::DimValues& values, Cancellation cancellation);
  std::vector<Client::Argument> arguments_of(std::span<const backends::Buffer> inputs,
                                             std::span<const backends::Buffer> outputs,
                                             const Specialisation& specialisation, Cancellation cancellation) const;
  std::vector<DeviceBuffer> results_of(std::unique_ptr<Execution> execution, Cancellation cancellation);
  void give(std::span<const DeviceBuffer> results, std::span<const backends::Buffer> inputs,
            std::span<backends::Buffer> outputs, const graph::DimValues& values, Cancellation cancellation) const;

  graph::Graph graph_;
  std::shared_ptr<const ProgramSource> source_;
  std::shared_ptr<DeviceWeights> weights_;
  std::vector<backends::Port> inputs_, outputs_;

  mutable base::Mutex mutex_;
  std::list<std::pair<std::vector<std::int64_t>, std::shared_ptr<Slot>>> slots_;  // the latest used first
  AbandonedRun abandoned_;
};

}  // namespace alate::xla
