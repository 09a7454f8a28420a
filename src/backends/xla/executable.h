// Runs a graph on a plugin's device.
#pragma once

#include <list>
#include <mutex>
#include <vector>

#include "backends/backend.h"
#include "backends/xla/client.h"

namespace alate::xla {

/// Programs have numbers for all dims, so there is one for each combination that was run, up to a limit. Constants are
/// uploaded once for all of them.
class XlaExecutable final : public backends::Executable {
 public:
  /// `graph` has only ops that StableHLO can say.
  XlaExecutable(graph::Graph graph, std::shared_ptr<const Client> client);

  std::span<const backends::Port> inputs() const override { return inputs_; }
  std::span<const backends::Port> outputs() const override { return outputs_; }
  void run(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
           const backends::RunOptions& options) override;
  backends::ExecutableFacts facts() const override;

 private:
  struct Specialisation {
    Program program;
    std::vector<DeviceBuffer> constants;
  };
  using SpecialisationPtr = std::shared_ptr<const Specialisation>;

  SpecialisationPtr specialise(const graph::DimValues& values);
  DeviceBuffer constant(const graph::ConstantPtr& constant);

  graph::Graph graph_;
  std::shared_ptr<const Client> client_;
  std::vector<backends::Port> inputs_, outputs_;

  mutable std::mutex mutex_;
  std::list<std::pair<std::vector<std::int64_t>, SpecialisationPtr>> specialisations_;  // the latest used first
  std::vector<std::pair<graph::ConstantPtr, DeviceBuffer>> constants_;
  std::size_t weight_bytes_ = 0;
};

}  // namespace alate::xla
