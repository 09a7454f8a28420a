// A session of ONNX Runtime that is run with our buffers.
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

/// What a session takes and gives, and what it stands on.
struct SessionParts {
  Owned<abi::Session> session;
  std::shared_ptr<graph::DimTable> dims;
  std::vector<backends::Port> inputs, outputs;
  std::vector<std::string> input_names, output_names;  // the session's, in the ports' order
  std::vector<Tensor> constants = {};                  // the session reads them where they lie
  std::size_t weight_bytes = 0, kernels = 0;
  /// Whether the ports say all of the shapes, as a graph of ours does. What a file says of its own may be wrong: then
  /// the session checks what it gets, and says how large its outputs are.
  bool has_exact_ports = true;
  base::ForeignMappings files = {};  // that the session mapped; after it, so that they go before it does
};

/// Inputs are read where they lie. Outputs are written where they are to be, into the caller's buffers where they have
/// the right shape and are nobody else's memory. Named dims stay open: one session serves all sizes. A run
/// that is cancelled ends between two kernels of the library, at the latest a few hundredths of a second later
/// (run_watch.h).
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
  Binding take_binding();
  void give_binding(Binding binding);

  std::shared_ptr<const Library> library_;
  SessionParts parts_;
  base::Mutex mutex_;
  std::vector<Binding> idle_;  // of runs that ended: one for each that was under way at a time
};

}  // namespace alate::onnxruntime
