// Steps that write over an operand must do so only where nothing else reads it.
#include <gtest/gtest.h>

#include <functional>

#include "backends/cpu/cpu_backend.h"
#include "graph/builder.h"
#include "graph/interpreter.h"

namespace alate::cpu {
namespace {

using backends::Buffer;
using graph::Builder;
using graph::Graph;
using graph::Value;

Value update(Builder& b, Value x, Value part, Value place) { return b.dynamic_update_slice({x, part, place}); }

// Outputs that `build` makes of 64 floats, 3 others and a place, on the processor and by the reference.
void expect_same(const std::function<std::vector<Value>(Builder&, Value, Value, Value)>& build) {
  Builder b("updates");
  const Value x = b.parameter("x", {DType::f32, {64}}), part = b.parameter("part", {DType::f32, {3}}),
              place = b.parameter("place", {DType::i32, {}});
  for (const Value value : build(b, x, part, place)) b.output("y" + std::to_string(value.node), value);
  const Graph graph = b.finish();
  Tensor values = Tensor::zeros({DType::f32, {64}}), others = Tensor::zeros({DType::f32, {3}});
  for (std::size_t i = 0; i < 64; ++i) values.mutable_values<float>()[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < 3; ++i) others.mutable_values<float>()[i] = -static_cast<float>(i) - 1;
  const std::vector<Tensor> inputs = {values, others, Tensor::scalar(std::int32_t{7})};
  const std::vector<Tensor> wanted = graph::interpret(graph, inputs, base::Cancellation::never());
  const std::vector<Buffer> buffers(inputs.begin(), inputs.end());
  std::vector<Buffer> outputs(graph.outputs().size());
  cpu_backend().compile(graph, {})->run(buffers, outputs, {.cancellation = base::Cancellation::never()});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Tensor found = *outputs[i].host();
    EXPECT_TRUE(std::equal(found.bytes().begin(), found.bytes().end(), wanted[i].bytes().begin())) << "output " << i;
  }
  EXPECT_EQ(values.values<float>()[7], 7.0f);  // a parameter is never written
}

TEST(CpuInPlace, UpdatesOfUpdates) {
  expect_same([](Builder& b, Value x, Value part, Value place) {
    const Value once = update(b, b.neg({x}), part, place);
    return std::vector<Value>{update(b, once, part, b.scalar(DType::i32, 30))};
  });
}

TEST(CpuInPlace, KeepsWhatIsReadLater) {
  expect_same([](Builder& b, Value x, Value part, Value place) {
    const Value negative = b.neg({x}), updated = update(b, negative, part, place);
    return std::vector<Value>{updated, b.add({negative, x})};
  });
}

TEST(CpuInPlace, KeepsOutputsParametersAndWhatViewsShow) {
  expect_same([](Builder& b, Value x, Value part, Value place) {
    const Value negative = b.neg({x}), shown = b.identity({negative});
    return std::vector<Value>{negative, update(b, negative, part, place), update(b, x, part, place),
                              update(b, shown, part, place)};
  });
}

}  // namespace
}  // namespace alate::cpu
