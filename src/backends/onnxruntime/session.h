// Runs a graph as a session of ONNX Runtime.
#pragma once

#include <memory>
#include <vector>

#include "backends/backend.h"
#include "backends/onnxruntime/library.h"
#include "exchange/onnx_writer.h"

namespace alate::onnxruntime {

/// The opset that a library reads.
int opset_of(const Library& library);

/// Inputs are read and outputs written where they lie; so are constants. Named dims stay open: one session serves all
/// sizes.
class OnnxExecutable final : public backends::Executable {
 public:
  OnnxExecutable(const graph::Graph& graph, std::shared_ptr<const Library> library, std::size_t threads);
  ~OnnxExecutable() override;

  std::span<const backends::Port> inputs() const override { return inputs_; }
  std::span<const backends::Port> outputs() const override { return outputs_; }
  void run(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
           const backends::RunOptions& options) override;
  backends::ExecutableFacts facts() const override;

 private:
  using ValuePtr = std::shared_ptr<abi::Value>;

  /// Over the tensor's memory, which must outlive the value.
  ValuePtr value_over(const Tensor& tensor) const;

  std::shared_ptr<const Library> library_;
  graph::Graph graph_;  // for its dims
  std::vector<backends::Port> inputs_, outputs_;
  std::vector<std::string> input_names_, output_names_;
  std::vector<Tensor> constants_;
  std::size_t weight_bytes_ = 0, kernels_ = 0;
  abi::Session* session_ = nullptr;
};

}  // namespace alate::onnxruntime
