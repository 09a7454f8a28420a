#include "graph/interpreter.h"

#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

using Floats = std::vector<float>;

Graph sum_over_tokens(std::int64_t most) {
  Builder b("sum over tokens");
  const Dim tokens = b.dim("tokens", 1, most);
  const Value x = b.parameter("x", {DType::f32, {tokens, 2}});
  const Value y = b.parameter("y", {DType::f32, {tokens, 2}});
  b.output("sum", b.reduce_sum({b.add({x, y})}, {.axes = {0}}));
  b.output("count", b.iota({}, {.dtype = DType::i32, .dims = {tokens}, .axis = 0}));
  return b.finish();
}

TEST(Interpreter, BindsNamedDimsToTheInputs) {
  const Graph graph = sum_over_tokens(8);
  const std::vector<Tensor> short_one =
      interpret(graph, std::vector{counting({1, 2}), counting({1, 2})}, base::Cancellation::never());
  EXPECT_EQ(values_of<float>(short_one[0]), (Floats{0, 2}));
  const std::vector<Tensor> long_one =
      interpret(graph, std::vector{counting({3, 2}), counting({3, 2})}, base::Cancellation::never());
  EXPECT_EQ(values_of<float>(long_one[0]), (Floats{12, 18}));
  EXPECT_EQ(values_of<std::int32_t>(long_one[1]), (std::vector<std::int32_t>{0, 1, 2}));
}

TEST(Interpreter, RefusesInputsThatDoNotFit) {
  const Graph graph = sum_over_tokens(8);
  const auto refused = [&](const std::vector<Tensor>& inputs) {
    return refusal([&] { interpret(graph, inputs, base::Cancellation::never()); });
  };
  EXPECT_EQ(refused({counting({1, 2})}), "invalid_argument: graph 'sum over tokens' takes 2 inputs but 1 were given");
  EXPECT_NE(refused({counting({2, 2}), counting({3, 2})}).find("input 'y': dim 'tokens' is 3 here but 2"),
            std::string::npos);
  EXPECT_NE(refused({counting({9, 2}), counting({9, 2})}).find("input 'x': dim 'tokens' is 9, outside its bounds"),
            std::string::npos);
  EXPECT_NE(refused({counting({2, 3}), counting({2, 3})}).find("input 'x': expected f32[tokens,2], got f32[2,3]"),
            std::string::npos);
}

TEST(Interpreter, RefusesDimsThatNoInputHas) {
  Builder b("unknown");
  b.output("out", b.iota({}, {.dtype = DType::i32, .dims = {b.dim("tokens")}, .axis = 0}));
  EXPECT_EQ(refusal([&] { interpret(b.finish(), {}, base::Cancellation::never()); }),
            "invalid_argument: iota: the size of i32[tokens] is not known, because no input has all of its dims");
}

TEST(Interpreter, RefusesValuesOfTooManyElements) {
  Builder b("huge");
  b.output("out", b.iota({}, {.dtype = DType::i32, .dims = {65536, 65536}, .axis = 0}));
  EXPECT_TRUE(refusal([&] {
                interpret(b.finish(), {}, base::Cancellation::never());
              }).starts_with("resource_exhausted: iota: i32[65536,65536]"));
}

TEST(Interpreter, RefusesSlicesPastTheEndOfABoundDim) {
  Builder b("first four");
  const Dim tokens = b.dim("tokens");
  const Value x = b.parameter("x", {DType::f32, {tokens}});
  b.output("out", b.slice({x}, {.starts = {0}, .limits = {4}, .strides = {}}));
  const Graph graph = b.finish();
  EXPECT_EQ(values_of<float>(interpret(graph, std::vector{counting({5})}, base::Cancellation::never())[0]),
            (Floats{0, 1, 2, 3}));
  EXPECT_EQ(refusal([&] { interpret(graph, std::vector{counting({3})}, base::Cancellation::never()); }),
            "invalid_argument: slice(f32[3]): slice reaches past the end of its operand");
}

TEST(Interpreter, LoopsWhileTheConditionHolds) {
  // (n, a, b) ← (n - 1, b, a + b) while n > 0: Fibonacci numbers.
  const auto dims = std::make_shared<DimTable>();
  const Shape scalar{DType::i32, {}};
  const auto begin = [&](Builder& b) {
    std::vector<Value> values;
    for (const char* name : {"n", "a", "b"}) values.push_back(b.parameter(name, scalar));
    return values;
  };
  Builder condition("condition", dims), body("body", dims), whole("fibonacci", dims);
  const std::vector<Value> c = begin(condition);
  condition.output("go on", condition.greater({c[0], condition.scalar(DType::i32, 0)}));
  const std::vector<Value> s = begin(body);
  body.output("n", body.sub({s[0], body.scalar(DType::i32, 1)}));
  body.output("a", s[2]);
  body.output("b", body.add({s[1], s[2]}));
  const Value n = whole.parameter("n", scalar);
  const std::vector<Value> last =
      whole.while_loop({n, whole.scalar(DType::i32, 0), whole.scalar(DType::i32, 1)},
                       std::make_shared<const Graph>(condition.finish()), std::make_shared<const Graph>(body.finish()));
  whole.output("fibonacci", last[1]);
  const Graph graph = whole.finish();
  EXPECT_EQ(values_of<std::int32_t>(
                interpret(graph, std::vector{Tensor::scalar<std::int32_t>(10)}, base::Cancellation::never())[0])[0],
            55);
  EXPECT_EQ(values_of<std::int32_t>(
                interpret(graph, std::vector{Tensor::scalar<std::int32_t>(0)}, base::Cancellation::never())[0])[0],
            0);
}

TEST(Interpreter, RunsOneBranchOfAnIf) {
  const auto dims = std::make_shared<DimTable>();
  const Shape shape{DType::f32, {dims->named("n")}};
  const auto branch = [&](Op op) {
    Builder b(std::string(to_string(op)), dims);
    b.output("out", b.emit(op, {b.parameter("x", shape)}, NoAttributes{}).front());
    return std::make_shared<const Graph>(b.finish());
  };
  Builder b("choice", dims);
  const Value chosen = b.parameter("chosen", {DType::boolean, {}}), x = b.parameter("x", shape);
  b.output("out", b.if_else({chosen, x}, branch(Op::neg), branch(Op::abs)).front());
  const Graph graph = b.finish();
  const Tensor input = row<float>({-1, 2});
  EXPECT_EQ(
      values_of<float>(interpret(graph, std::vector{Tensor::scalar(true), input}, base::Cancellation::never())[0]),
      (Floats{1, -2}));
  EXPECT_EQ(
      values_of<float>(interpret(graph, std::vector{Tensor::scalar(false), input}, base::Cancellation::never())[0]),
      (Floats{1, 2}));
}

TEST(Materialize, GivesALeafWithoutACopy) {
  const Tensor tensor = counting({4});
  EXPECT_TRUE(materialize(*make_constant("weight", tensor)).shares_storage_with(tensor));
}

TEST(Materialize, ComputesOpsOverConstantsOnceEach) {
  // Doubled 60 times: without sharing this would be 2^60 additions.
  ConstantPtr constant = make_constant("one", row<double>({1}));
  for (int i = 0; i < 60; ++i) constant = make_constant(Op::add, NoAttributes{}, constant->shape, {constant, constant});
  EXPECT_EQ(values_of<double>(materialize(*constant)), std::vector<double>{0x1p60});

  const ConstantPtr matrix = make_constant("matrix", counting({2, 2}));
  const ConstantPtr turned = make_constant(Op::transpose, Permutation{{1, 0}}, matrix->shape, {matrix});
  const ConstantPtr both = make_constant(Op::concatenate, Axis{0}, {DType::f32, {4, 2}}, {matrix, turned});
  EXPECT_EQ(values_of<float>(materialize(*both)), (Floats{0, 1, 2, 3, 0, 2, 1, 3}));
}

TEST(Interpreter, ReadsConstants) {
  Builder b("add one");
  const Value x = b.parameter("x", {DType::f32, {2}});
  const ConstantPtr one = make_constant("one", row<float>({1, 1}));
  b.output("out", b.add({x, b.constant(make_constant(Op::neg, NoAttributes{}, one->shape, {one}))}));
  b.output("same", x);
  const std::vector<Tensor> outputs =
      interpret(b.finish(), std::vector{row<float>({3, 4})}, base::Cancellation::never());
  EXPECT_EQ(values_of<float>(outputs[0]), (Floats{2, 3}));
  EXPECT_EQ(values_of<float>(outputs[1]), (Floats{3, 4}));
}

}  // namespace
}  // namespace alate::graph
