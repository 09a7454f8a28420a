#include <memory>

#include "graph/gradients.h"
#include "tests/unit/graph/gradients/gradients_check.h"

namespace alate::graph {
namespace {

constexpr Shape scalar_of(DType dtype) { return {dtype, {}}; }

Region finished(Builder& b) { return std::make_shared<const Graph>(b.finish()); }

// x · factor, x · y
Region branch(const std::shared_ptr<DimTable>& dims, double factor) {
  Builder b("branch", dims);
  const Value x = b.parameter("x", {DType::f64, {2}}), n = b.parameter("n", scalar_of(DType::i32)),
              y = b.parameter("y", {DType::f64, {2}});
  b.output("scaled", b.mul({x, scalar_like(b, factor, x)}));
  b.output("n", n);
  b.output("product", factor > 1 ? b.mul({x, y}) : b.sin({y}));
  return finished(b);
}

TEST(Gradients, OfIfElseAreTheChosenBranchs) {
  Builder b("if");
  const Value chosen = b.parameter("chosen", scalar_of(DType::boolean)), x = b.parameter("x", {DType::f64, {2}}),
              n = b.parameter("n", scalar_of(DType::i32)), y = b.parameter("y", {DType::f64, {2}});
  const std::vector<Value> results = b.if_else({chosen, x, n, y}, branch(b.dims(), 2), branch(b.dims(), 0.5));
  for (std::size_t i = 0; i < 3; ++i) b.output("result " + std::to_string(i), results[i]);
  const Graph graph = b.finish();
  for (const bool which : {true, false}) {
    expect_gradients(graph,
                     {Tensor::scalar(which), scattered({2}, 1), Tensor::scalar(std::int32_t{3}), scattered({2}, 2)});
  }
}

TEST(Gradients, OfCallsAreCalls) {
  Builder b("call");
  const Value x = b.parameter("x", {DType::f64, {2}}), n = b.parameter("n", scalar_of(DType::i32)),
              y = b.parameter("y", {DType::f64, {2}});
  const std::vector<Value> results = b.call({x, n, y}, branch(b.dims(), 2));
  b.output("result", b.add({results[0], results[2]}));
  expect_gradients(b.finish(), {scattered({2}, 1), Tensor::scalar(std::int32_t{3}), scattered({2}, 2)});
}

// While count < trips: x = sin(x) · y + x · count, y = y · 1.1, count = count + step. `initial` gives the first count.
template <typename Initial>
Graph loop(std::int32_t trips, std::int32_t step, Initial initial, bool stops_by_x = false) {
  Builder b("loop");
  const Dim width = b.dim("width");
  const Shape row{DType::f64, {width}};
  Builder condition("condition", b.dims()), body("body", b.dims());
  const Value count = condition.parameter("count", scalar_of(DType::i32)), x0 = condition.parameter("x", row);
  condition.parameter("y", row);
  const Value sum = condition.reduce_sum({x0}, {.axes = {0}});
  condition.output("goes on", stops_by_x ? condition.less({sum, condition.scalar(DType::f64, 10)})
                                         : condition.less({count, condition.scalar(DType::i32, trips)}));
  const Value at = body.parameter("count", scalar_of(DType::i32)), x = body.parameter("x", row),
              y = body.parameter("y", row);
  const Value number =
      body.broadcast_in_dim({body.convert({at}, {.dtype = DType::f64})}, {.dims = row.dims, .mapping = {}});
  body.output("count", body.add({at, body.scalar(DType::i32, step)}));
  body.output("x", body.add({body.mul({body.sin({x}), y}), body.mul({x, number})}));
  body.output("y", body.mul({y, scalar_like(body, 1.1, y)}));
  const Value first = initial(b), start = b.parameter("x", row), factor = b.parameter("y", row);
  b.set_source("the loop");
  const std::vector<Value> last = b.while_loop({first, start, factor}, finished(condition), finished(body));
  b.output("x", last[1]);
  b.output("y", last[2]);
  return b.finish();
}
Value zero(Builder& b) { return b.scalar(DType::i32, 0); }

TEST(Gradients, OfWhileLoopsOfKnownTripCounts) {
  for (const std::int32_t trips : {0, 1, 4})
    expect_gradients(loop(trips, 1, zero), {scattered({3}, 1), scattered({3}, 2)}, 1e-6);
  expect_gradients(loop(7, 3, zero), {scattered({3}, 1), scattered({3}, 2)}, 1e-6);
}

TEST(Gradients, OfWhileLoopsOfUnknownTripCountsAreRefusedWithTheReason) {
  const auto differentiate = [](const Graph& graph) {
    vector_jacobian_product(graph, differentiable_outputs(graph), differentiable_parameters(graph));
  };
  const auto given = [](Builder& b) { return b.parameter("count", scalar_of(DType::i32)); };
  const std::string start = "unsupported: no gradient of while_loop(i32[], f64[width], f64[width]) (from the loop): ";
  EXPECT_EQ(refusal([&] { differentiate(loop(3, 1, given)); }),
            start + "the number of trips depends on values that are given at each run");
  EXPECT_EQ(refusal([&] { differentiate(loop(3, 1, zero, true)); }),
            start + "the number of trips depends on values that are given at each run");
  EXPECT_EQ(refusal([&] { differentiate(loop(3, 0, zero)); }), start + "it makes more than 100000 trips");
}

// A reduction of all of x [2, 3] by one op.
Graph folding(Op op) {
  Builder b("fold"), combine("combine", b.dims());
  const Value so_far = combine.parameter("so far", scalar_of(DType::f64)),
              next = combine.parameter("next", scalar_of(DType::f64));
  combine.output("both", combine.emit(op, {so_far, next}, NoAttributes{}).front());
  const Value x = b.parameter("x", {DType::f64, {2, 3}}), start = b.parameter("start", scalar_of(DType::f64));
  b.set_source("encoder.layer.0");
  b.output("y", b.reduce({x, start}, {.axes = {0, 1}}, finished(combine)).front());
  return b.finish();
}

TEST(Gradients, OfReduceWhereItsRegionIsOneOp) {
  for (const Op op : {Op::add, Op::mul, Op::max, Op::min}) {
    for (const double start : {-3.0, 0.25, 3.0}) {
      SCOPED_TRACE(to_string(op));
      expect_gradients(folding(op), {scattered({2, 3}, 1), Tensor::scalar(start)});
    }
  }
}

TEST(Gradients, OfAnOpWithoutRuleAreRefusedByName) {
  const Graph graph = folding(Op::sub);
  const std::size_t first = 0;
  EXPECT_EQ(refusal([&] { with_gradients(graph, 0, std::span(&first, 1)); }),
            "unsupported: no gradient of reduce(f64[2,3], f64[]) (from encoder.layer.0): its region is not one of add, "
            "mul, max and min over its two parameters");
}

TEST(Gradients, OfGradientsAreSecondDerivatives) {
  Builder b("cube");
  const Value x = b.parameter("x", {DType::f64, {3}});
  b.output("y", b.mul({b.tanh({x}), b.mul({x, x})}));
  const Graph graph = b.finish();
  const std::size_t first = 0;
  const Graph once = vector_jacobian_product(graph, std::span(&first, 1), std::span(&first, 1));
  expect_gradients(once, {scattered({3}, 1), scattered({3}, 2)});
  const Graph of_loop = loop(3, 1, zero);
  const Graph back =
      vector_jacobian_product(of_loop, differentiable_outputs(of_loop), differentiable_parameters(of_loop));
  expect_gradients(back, {scattered({2}, 1), scattered({2}, 2), scattered({2}, 3), scattered({2}, 4)}, 1e-5);
}

TEST(Gradients, AreAddedToAGraphThatIsBeingBuilt) {
  Builder b("training step");
  const Value w = b.parameter("w", {DType::f64, {2}}), x = b.parameter("x", {DType::f64, {2}});
  const Value held = b.mul({w, x}), y = b.mul({held, w}), loss = b.reduce_sum({y}, {.axes = {0}});
  const std::vector<Value> ends{loss}, ones{b.scalar(DType::f64, 1)}, asked{w, y, x}, constants{held};
  const std::vector<Value> all = gradients(b, ends, ones, asked), some = gradients(b, ends, ones, asked, constants);
  b.output("w", all[0]);
  b.output("y", all[1]);
  b.output("w, held", some[0]);
  b.output("x, held", some[2]);
  const std::vector<Tensor> found =
      interpret(b.finish(), std::vector{row({3., 5.}), row({2., 4.})}, base::Cancellation::never());
  EXPECT_EQ(values_of<double>(found[0]), (std::vector<double>{12, 40}));  // 2 w x
  EXPECT_EQ(values_of<double>(found[1]), (std::vector<double>{1, 1}));
  EXPECT_EQ(values_of<double>(found[2]), (std::vector<double>{6, 20}));  // w x
  EXPECT_EQ(values_of<double>(found[3]), (std::vector<double>{0, 0}));
}

TEST(Gradients, RefuseWhatHasNone) {
  Builder b("graph");
  const Value x = b.parameter("x", {DType::f64, {2}}), n = b.parameter("n", {DType::i32, {2}});
  const std::vector<Value> xs{x}, ns{n}, none;
  EXPECT_EQ(refusal([&] { gradients(b, xs, none, xs); }),
            "invalid_argument: gradients: there are 1 outputs, but 0 cotangents");
  EXPECT_EQ(refusal([&] { gradients(b, xs, ns, xs); }),
            "invalid_argument: gradients: output 0 is f64[2], but its cotangent is i32[2]");
  EXPECT_EQ(refusal([&] { gradients(b, ns, ns, xs); }),
            "invalid_argument: gradients: output 0 is i32[2], neither float nor complex");
  EXPECT_EQ(refusal([&] { gradients(b, xs, xs, ns); }),
            "invalid_argument: gradients: a value that is asked about is i32[2], neither float nor complex");
  b.output("y", x);
  const Graph graph = b.finish();
  const std::size_t first = 0, far = 5;
  EXPECT_EQ(refusal([&] { with_gradients(graph, 0, std::span(&first, 1)); }),
            "invalid_argument: gradients: the loss 'y' must be a float scalar, not f64[2]");
  EXPECT_EQ(refusal([&] { with_gradients(graph, 5, std::span(&first, 1)); }),
            "invalid_argument: gradients: graph 'graph' has no output 5");
  EXPECT_EQ(refusal([&] { vector_jacobian_product(graph, std::span(&first, 1), std::span(&far, 1)); }),
            "invalid_argument: gradients: there is no parameter 5");
}

}  // namespace
}  // namespace alate::graph
