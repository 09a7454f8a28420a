// Values of loops that stay in place: given on as they are, or with a slice written over.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "graph/builder.h"
#include "graph/interpreter.h"

namespace alate::cpu {
namespace {

using backends::Buffer;
using graph::Builder;
using graph::Graph;
using graph::Value;

constexpr std::int64_t kRows = 5, kWidth = 7;

// Runs `body` five times over a place, three matrices [kRows, kWidth] and a row, and compares all of them with the
// reference's.
void expect_same(const std::function<void(Builder&, std::vector<Value>&)>& body) {
  const Shape place{DType::i32, {}}, matrix{DType::f32, {kRows, kWidth}}, row{DType::f32, {1, kWidth}};
  const std::vector<Shape> shapes = {place, matrix, matrix, matrix, row};
  Builder whole("loop");
  const auto parameters = [&](Builder& b) {
    std::vector<Value> values;
    for (std::size_t i = 0; i < shapes.size(); ++i) values.push_back(b.parameter(std::to_string(i), shapes[i]));
    return values;
  };
  Builder condition("condition", whole.dims()), step("body", whole.dims());
  const std::vector<Value> asked = parameters(condition);
  condition.output("goes on", condition.less({asked[0], condition.scalar(DType::i32, kRows)}));
  std::vector<Value> values = parameters(step);
  const Value before = values[0];
  body(step, values);
  values[0] = step.add({before, step.scalar(DType::i32, 1)});
  for (std::size_t i = 0; i < values.size(); ++i) step.output(std::to_string(i), values[i]);
  const std::vector<Value> last = whole.while_loop(parameters(whole), std::make_shared<const Graph>(condition.finish()),
                                                   std::make_shared<const Graph>(step.finish()));
  for (std::size_t i = 0; i < last.size(); ++i) whole.output(std::to_string(i), last[i]);
  const Graph graph = whole.finish();

  std::vector<Tensor> inputs = {Tensor::scalar(std::int32_t{0})};
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    inputs.push_back(Tensor::zeros(shapes[i]));
    float next = static_cast<float>(i);
    for (float& value : inputs.back().mutable_values<float>()) value = next += 0.5F;
  }
  const std::vector<Tensor> wanted = graph::interpret(graph, inputs, base::Cancellation::never());
  const std::vector<Buffer> buffers(inputs.begin(), inputs.end());
  std::vector<Buffer> outputs(graph.outputs().size());
  cpu_backend().compile(graph, {})->run(buffers, outputs, {.cancellation = base::Cancellation::never()});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Tensor found = *outputs[i].host();
    EXPECT_TRUE(std::ranges::equal(found.bytes(), wanted[i].bytes())) << "value " << i;
  }
  EXPECT_EQ(inputs[1].values<float>()[0], 1.5F);  // a parameter is never written
}

Value updated(Builder& b, Value matrix, Value row, Value place) {
  return b.dynamic_update_slice({matrix, row, place, b.scalar(DType::i32, 0)});
}

Value row_at(Builder& b, Value matrix, Value place) {
  return b.dynamic_slice({matrix, place, b.scalar(DType::i32, 0)}, {.slice_sizes = {1, kWidth}});
}

TEST(LoopValues, GivenOnAndUpdated) {
  expect_same([](Builder& b, std::vector<Value>& values) {
    const Value row = row_at(b, values[1], values[0]);
    values[4] = b.add({values[4], row});
    values[2] = updated(b, values[2], values[4], values[0]);
  });
}

TEST(LoopValues, ReadBesideTheirUpdate) {
  expect_same([](Builder& b, std::vector<Value>& values) {
    const Value matrix = values[2], made = updated(b, matrix, values[4], values[0]);
    values[2] = made;
    values[3] = b.add({matrix, made});
    values[4] = row_at(b, matrix, values[0]);
  });
}

TEST(LoopValues, UpdatedFromThemselves) {
  expect_same([](Builder& b, std::vector<Value>& values) {
    const Value matrix = values[2];
    values[2] = updated(b, matrix, row_at(b, matrix, b.sub({b.scalar(DType::i32, kRows - 1), values[0]})), values[0]);
  });
}

TEST(LoopValues, ExchangedAndShared) {
  expect_same([](Builder&, std::vector<Value>& values) { std::swap(values[1], values[2]); });
  expect_same([](Builder&, std::vector<Value>& values) { values[2] = values[1]; });
  expect_same([](Builder& b, std::vector<Value>& values) {
    const Value made = updated(b, values[1], values[4], values[0]);
    values[1] = values[2] = made;
  });
  expect_same([](Builder& b, std::vector<Value>& values) { values[2] = updated(b, values[1], values[4], values[0]); });
}

}  // namespace
}  // namespace alate::cpu
