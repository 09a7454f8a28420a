#include "backends/self_test.h"

#include <algorithm>
#include <cmath>

#include "alate/error.h"
#include "graph/builder.h"
#include "graph/interpreter.h"

namespace alate::backends {
namespace {

constexpr std::int64_t kRows = 5, kInner = 24, kColumns = 7;

Tensor waves(std::vector<Dim> dims, double step) {
  Tensor tensor = Tensor::uninitialized({DType::f32, std::move(dims)});
  const std::span<float> values = tensor.mutable_values<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
  return tensor;
}

// A matrix product, an activation, a row-wise norm and a sum: the ops that a wrong driver or a broken library gets
// wrong first.
graph::Graph test_graph() {
  graph::Builder b("self_test");
  const graph::Value x = b.parameter("x", {DType::f32, {kRows, kInner}});
  const graph::Value y = b.parameter("y", {DType::f32, {kInner, kColumns}});
  const graph::Value product =
      b.dot_general({x, y}, {.lhs_batch = {}, .rhs_batch = {}, .lhs_contracting = {1}, .rhs_contracting = {0}});
  const graph::Value weights = b.softmax({b.tanh({product})}, {.axis = 1});
  b.output("product", product);
  b.output("weights", weights);
  b.output("sums", b.reduce_sum({b.exp({product})}, {.axes = {0}}));
  return b.finish();
}

void run(Backend& backend, const Device& device) {
  const graph::Graph graph = test_graph();
  const std::vector<Tensor> inputs = {waves({kRows, kInner}, 0.7), waves({kInner, kColumns}, 1.3)};
  const std::vector<Tensor> wanted = graph::interpret(graph, inputs, base::Cancellation::never());
  CompileOptions options;
  options.device = std::to_string(device.index);
  const std::unique_ptr<Executable> executable = backend.compile(graph, options);
  std::vector<Buffer> buffers, outputs(wanted.size());
  for (const Tensor& input : inputs) buffers.push_back(backend.upload(input, device));
  executable->run(buffers, outputs, {.cancellation = base::Cancellation::never()});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Tensor found = backend.download(outputs[i]);
    if (found.shape() != wanted[i].shape())
      throw make_error(ErrorCode::internal, "result ", graph.outputs()[i].name, " is ", to_string(found.shape()),
                       ", not ", to_string(wanted[i].shape()));
    for (std::size_t k = 0; k < wanted[i].values<float>().size(); ++k) {
      const double right = double{wanted[i].values<float>()[k]}, given = double{found.values<float>()[k]};
      // Wide enough for devices that multiply in TF32, far too narrow for wrong results.
      if (!(std::abs(given - right) <= 5e-3 * std::max(1.0, std::abs(right))))
        throw make_error(ErrorCode::internal, "result ", graph.outputs()[i].name, " has ", given, " where ", right,
                         " is right");
    }
  }
}

}  // namespace

std::string self_test(Backend& backend, const Device& device) {
  try {
    run(backend, device);
    return {};
  } catch (const std::exception& error) {
    return std::string("its self-test failed: ") + error.what();
  }
}

}  // namespace alate::backends
