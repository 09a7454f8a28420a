#include "backends/reference/reference_backend.h"

#include <set>

#include "alate/error.h"
#include "backends/donation.h"
#include "backends/host_buffers.h"
#include "graph/interpreter.h"

namespace alate::backends {
namespace {

using Seen = std::set<const graph::Constant*>;

// Bytes of the tensors that a constant is made of, each counted once.
std::size_t leaf_bytes(const graph::Constant& constant, Seen& seen) {
  if (!seen.insert(&constant).second) return 0;
  if (constant.is_leaf()) return constant.tensor.byte_count();
  std::size_t bytes = 0;
  for (const graph::ConstantPtr& operand : constant.operands) bytes += leaf_bytes(*operand, seen);
  return bytes;
}

std::size_t weight_bytes(const graph::Graph& graph, Seen& seen) {
  std::size_t bytes = 0;
  for (const graph::ConstantPtr& constant : graph.constants()) bytes += leaf_bytes(*constant, seen);
  for (const graph::Node& node : graph.nodes()) {
    for (const graph::Region& region : node.regions) bytes += weight_bytes(*region, seen);
  }
  return bytes;
}

// A result may be an input as it is: gives it memory of its own where the caller wants another result in the input's.
void separate(std::vector<Tensor>& results, std::span<const Buffer> outputs) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::size_t other = 0; other < outputs.size(); ++other) {
      const Tensor* written = other == i ? nullptr : outputs[other].host();
      if (written != nullptr && overlap(results[i].bytes(), written->bytes()))
        results[i] = detail::copy_of(results[i].shape(), results[i].bytes());
    }
  }
}

class ReferenceExecutable final : public Executable {
 public:
  explicit ReferenceExecutable(graph::Graph graph)
      : graph_(std::move(graph)), inputs_(input_ports(graph_)), outputs_(output_ports(graph_)) {
    Seen seen;
    weight_bytes_ = weight_bytes(graph_, seen);
  }

  std::span<const Port> inputs() const override { return inputs_; }
  std::span<const Port> outputs() const override { return outputs_; }

  ExecutableFacts facts() const override {
    return {.weight_bytes = weight_bytes_,
            .scratch_bytes = 0,
            .kernels = graph_.nodes().size(),
            .specialisations = 0,
            .aliases = copied_aliases(graph_, "the reference interpreter gives each value memory of its own")};
  }

 private:
  void compute(std::span<const Buffer> inputs, std::span<Buffer> outputs, const RunOptions& options) override {
    std::vector<Tensor> results = graph::interpret(graph_, host_tensors(inputs), options.cancellation);
    separate(results, outputs);
    store_outputs(results, outputs);
  }

  graph::Graph graph_;
  std::vector<Port> inputs_, outputs_;
  std::size_t weight_bytes_ = 0;
};

class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::vector<Device> devices() override { return {host_device("reference", "the processor, one thread, in double")}; }
  Support supports(const graph::Graph&, const graph::Node& node, const Device&) const override {
    return {.native = true, .spelling = graph::to_string(node.op), .reason = {}};
  }
  std::unique_ptr<Executable> compile(const graph::Graph& graph, const CompileOptions& options) override {
    auto executable = std::make_unique<ReferenceExecutable>(graph);
    require_small_copies(name(), graph, executable->facts().aliases, options);
    return executable;
  }
  Buffer upload(const Tensor& tensor, const Device&) override { return tensor; }
  Tensor download(const Buffer& buffer) override { return host_tensor(buffer); }
};

}  // namespace

Backend& reference_backend() {
  static ReferenceBackend backend;
  return backend;
}

}  // namespace alate::backends
