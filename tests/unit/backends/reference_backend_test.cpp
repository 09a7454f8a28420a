#include "backends/reference/reference_backend.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "alate/error.h"
#include "graph/builder.h"

namespace alate::backends {
namespace {

graph::Graph scaled() {
  graph::Builder b("scaled");
  const graph::Value x = b.parameter("x", {DType::f32, {3}});
  const graph::Value weight = b.constant(Tensor::from<float>({3}, {1, 2, 3}));
  b.output("out", b.mul({b.mul({x, weight}), weight}));
  return b.finish();
}

// A server counts the memory of its models by this.
TEST(ReferenceBackend, TellsWhatItsWeightsTake) {
  EXPECT_EQ(reference_backend().compile(scaled(), {})->facts().weight_bytes, 3 * sizeof(float));
}

TEST(ReferenceBackend, SwapsInputsInTheirOwnMemory) {
  graph::Builder b("swap");
  const graph::Value x = b.parameter("x", {DType::f32, {2}}, true), y = b.parameter("y", {DType::f32, {2}}, true);
  b.output("x", y, 0);
  b.output("y", x, 1);
  const Tensor first = Tensor::from<float>({2}, {1, 2}), second = Tensor::from<float>({2}, {3, 4});
  std::vector<Buffer> outputs = {first, second};
  reference_backend()
      .compile(b.finish(), {})
      ->run(std::vector<Buffer>{first, second}, outputs, {.cancellation = base::Cancellation::never()});
  EXPECT_EQ(first.values<float>()[0], 3);
  EXPECT_EQ(second.values<float>()[1], 2);
}

TEST(ReferenceBackend, ARunThatNobodyWantsEnds) {
  const auto executable = reference_backend().compile(scaled(), {});
  const std::vector<Buffer> inputs = {Tensor::from<float>({3}, {1, 1, 1})};
  std::vector<Buffer> outputs(1);
  const std::function<bool()> cancelled = [] { return true; };
  try {
    executable->run(inputs, outputs, {.cancellation = base::Cancellation::when(cancelled)});
    ADD_FAILURE() << "it ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace alate::backends
