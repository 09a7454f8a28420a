// An executable compiled by a plugin's library.
#pragma once

#include <memory>
#include <vector>

#include "backends/plugin/library.h"

namespace alate::plugin {

class PluginExecutable final : public backends::Executable {
 public:
  /// `graph` has only nodes that the library runs. Throws the library's errors, and internal when its ports are not the
  /// graph's.
  PluginExecutable(const graph::Graph& graph, std::shared_ptr<const Library> library,
                   const backends::CompileOptions& options);
  ~PluginExecutable() override;
  PluginExecutable(const PluginExecutable&) = delete;
  PluginExecutable& operator=(const PluginExecutable&) = delete;

  std::span<const backends::Port> inputs() const override { return inputs_; }
  std::span<const backends::Port> outputs() const override { return outputs_; }
  backends::ExecutableFacts facts() const override;

 private:
  void compute(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
               const backends::RunOptions& options) override;

  void check_ports() const;

  std::shared_ptr<const Library> library_;
  std::shared_ptr<graph::DimTable> dims_;
  std::vector<backends::Port> inputs_, outputs_;
  std::vector<backends::AliasFacts> aliases_;
  std::size_t max_workers_;
  std::vector<Tensor> constants_;  // read by the library as long as the executable lives
  std::shared_ptr<void> constant_descriptions_;
  alate_executable* executable_ = nullptr;
};

}  // namespace alate::plugin
