// Cancelled runs of the interpreter.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "alate/error.h"
#include "graph/builder.h"
#include "graph/interpreter.h"
#include "tests/unit/base/expect_error.h"

namespace alate::graph {
namespace {

TEST(InterpreterCancelling, IsAskedBeforeEachOp) {
  Builder b("three");
  const Value x = b.parameter("x", {DType::f32, {2}});
  b.output("out", b.neg({b.abs({b.neg({x})})}));
  const Graph graph = b.finish();
  const std::vector<Tensor> inputs = {Tensor::from<float>({2}, {1, -2})};
  int asked = 0;
  const std::function<bool()> never = [&] {
    ++asked;
    return false;
  };
  EXPECT_EQ(interpret(graph, inputs, base::Cancellation::when(never))[0].values<float>()[1], -2);
  const int all = asked;
  EXPECT_GE(all, 3);
  asked = 0;
  const std::function<bool()> soon = [&] { return ++asked == 3; };
  EXPECT_EQ(base::error_of([&] { interpret(graph, inputs, base::Cancellation::when(soon)); }).code(),
            ErrorCode::cancelled);
  EXPECT_EQ(asked, 3) << "it went on";
}

// An endless loop: only the question ends it.
TEST(InterpreterCancelling, EndsALoop) {
  const auto dims = std::make_shared<DimTable>();
  const Shape scalar{DType::i32, {}};
  Builder condition("condition", dims), body("body", dims), whole("endless", dims);
  const Value c = condition.parameter("n", scalar);
  condition.output("go on", condition.equal({c, c}));
  body.output("n", body.neg({body.parameter("n", scalar)}));
  const Value n = whole.parameter("n", scalar);
  whole.output("n", whole
                        .while_loop({n}, std::make_shared<const Graph>(condition.finish()),
                                    std::make_shared<const Graph>(body.finish()))
                        .front());
  const Graph graph = whole.finish();
  int asked = 0;
  const std::function<bool()> later = [&] { return ++asked > 1000; };
  EXPECT_EQ(base::error_of([&] {
              interpret(graph, std::vector{Tensor::scalar<std::int32_t>(1)}, base::Cancellation::when(later));
            }).code(),
            ErrorCode::cancelled);
}

}  // namespace
}  // namespace alate::graph
