// An ONNX Runtime session as an executable that runs on our buffers.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/onnxruntime/library.h"
#include "base/libraries/foreign_mappings.h"
#include "base/threads/mutex.h"
#include "graph/dims.h"

namespace alate::onnxruntime {

/// A session with its ports and all that it depends on.
struct SessionParts {
  Owned<abi::Session> session;
  std::shared_ptr<graph::DimTable> dims;
  std::vector<backends::Port> inputs, outputs;
  std::vector<std::string> input_names, output_names;  // the session's own, in the ports' order
  std::vector<Tensor> constants = {};                  // the session reads them in place
  std::size_t weight_bytes = 0, kernels = 0;
  std::vector<backends::AliasFacts> aliases = {};
  /// Whether the ports give the shapes in full, as a graph of ours does. A file may be wrong about its own ports: then
  /// the session checks its inputs, and determines the sizes of its outputs.
  bool has_exact_ports = true;
  base::ForeignMappings files = {};  // mapped by the session; declared after it, so that they are destroyed before it
};

/// Inputs are read in place. Outputs are written directly into the caller's buffers where these have the right shape
/// and share no memory with others. Named dims stay open: one session serves all sizes. A cancelled run ends between
/// two kernels of the library, a few hundredths of a second later at most (run_watch.h).
class OnnxExecutable final : public backends::Executable {
 public:
  OnnxExecutable(std::shared_ptr<const Library> library, SessionParts parts)
      : library_(std::move(library)), parts_(std::move(parts)) {}

  std::span<const backends::Port> inputs() const override { return parts_.inputs; }
  std::span<const backends::Port> outputs() const override { return parts_.outputs; }
  backends::ExecutableFacts facts() const override;
  const graph::DimTable& dims() const { return *parts_.dims; }

 private:
  void compute(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
               const backends::RunOptions& options) override;
  bool has_ports_of_a_file() const override { return !parts_.has_exact_ports; }

  struct Result;
  using Binding = Owned<abi::IoBinding>;

  void bind_dims(std::span<const backends::Buffer> inputs, graph::DimValues& dims) const;
  Result bind_output(std::size_t index, const graph::DimValues& dims, std::span<const backends::Buffer> inputs,
                     std::span<const backends::Buffer> outputs, abi::IoBinding* binding) const;
  void read_results(std::vector<Result>& results, abi::IoBinding* binding) const;
  void run_bound(abi::IoBinding* binding, const backends::RunOptions& options) const;
  Binding acquire_binding();
  void release_binding(Binding binding);

  std::shared_ptr<const Library> library_;
  SessionParts parts_;
  base::Mutex mutex_;
  std::vector<Binding> idle_;  // left by finished runs: as many as were ever under way at once
};

}  // namespace alate::onnxruntime
