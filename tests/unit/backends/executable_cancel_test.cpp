// Every run has a cancellation, and every backend heeds it.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <type_traits>
#include <vector>

#include "alate/error.h"
#include "backends/backend.h"
#include "backends/registry.h"
#include "graph/builder.h"
#include "graph/builder_functions.h"
#include "tests/unit/base/expect_error.h"

namespace alate::backends {
namespace {

static_assert(!std::is_default_constructible_v<RunOptions>, "a run would begin that nobody said how to end");
static_assert(!std::is_constructible_v<RunOptions, std::size_t>);

// Cannot be interrupted. Somebody leaves while it computes.
class Deaf final : public Executable {
 public:
  std::span<const Port> inputs() const override { return {}; }
  std::span<const Port> outputs() const override { return {}; }
  ExecutableFacts facts() const override { return {}; }

  bool is_unwanted = false;
  int computed = 0;

 private:
  void compute(std::span<const Buffer>, std::span<Buffer>, const RunOptions&) override {
    ++computed;
    is_unwanted = true;
  }
};

TEST(ExecutableCancelling, ABackendThatCannotBeInterruptedBeginsNothingInVainAndGivesNothingInVain) {
  Deaf deaf;
  const auto question = [&] { return deaf.is_unwanted; };
  const RunOptions options{.cancellation = base::Cancellation::when(question)};
  EXPECT_EQ(base::error_of([&] { deaf.run({}, {}, options); }).code(), ErrorCode::cancelled);
  EXPECT_EQ(deaf.computed, 1) << "it ran to its end, and the result is dropped";
  EXPECT_EQ(base::error_of([&] { deaf.run({}, {}, options); }).code(), ErrorCode::cancelled);
  EXPECT_EQ(deaf.computed, 1) << "it was not begun";
}

// Multiplies x with y a hundred times.
graph::Graph products() {
  const auto dims = std::make_shared<graph::DimTable>();
  const Shape count{.dtype = DType::i32, .dims = {}}, matrix{.dtype = DType::f32, .dims = {16, 16}};
  graph::Builder condition("condition", dims), body("body", dims), whole("products", dims);
  const graph::Value n = condition.parameter("n", count);
  condition.parameter("x", matrix);
  condition.parameter("y", matrix);
  condition.output("go on", condition.less({n, condition.scalar(DType::i32, 100)}));
  const graph::Value i = body.parameter("n", count), x = body.parameter("x", matrix), y = body.parameter("y", matrix);
  body.output("n", body.add({i, body.scalar(DType::i32, 1)}));
  body.output("x", graph::matmul(body, x, y));
  body.output("y", y);
  const std::vector<graph::Value> made = whole.while_loop(
      {whole.parameter("n", count), whole.parameter("x", matrix), whole.parameter("y", matrix)},
      std::make_shared<const graph::Graph>(condition.finish()), std::make_shared<const graph::Graph>(body.finish()));
  whole.output("x", made[1]);
  return whole.finish();
}

class EveryBackend : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Backend& backend = get_backend(GetParam());
    const std::vector<Device> devices = backend.devices();
    if (devices.empty() || devices[0].unusable) GTEST_SKIP() << GetParam() << " is not installed here";
    executable_ = backend.compile(products(), {});
    executable_->run(inputs_, outputs_,
                     {.cancellation = base::Cancellation::never()});  // compiles, where that is left over
  }

  std::unique_ptr<Executable> executable_;
  const std::vector<Buffer> inputs_ = {Tensor::scalar<std::int32_t>(0), Tensor::zeros({DType::f32, {16, 16}}),
                                       Tensor::zeros({DType::f32, {16, 16}})};
  std::vector<Buffer> outputs_{1};
};

TEST_P(EveryBackend, BeginsNothingForARunThatIsCancelled) {
  std::atomic<int> asked = 0;
  const auto question = [&] { return ++asked > 0; };
  EXPECT_EQ(base::error_of([&] {
              executable_->run(inputs_, outputs_, {.cancellation = base::Cancellation::when(question)});
            }).code(),
            ErrorCode::cancelled);
  EXPECT_EQ(asked, 1) << "it went on";
}

TEST_P(EveryBackend, GivesNoResultOfARunThatIsCancelledMidway) {
  for (int round = 0; round < 2; ++round) {
    std::atomic<int> asked = 0;
    const auto question = [&] { return ++asked > 1; };
    EXPECT_EQ(base::error_of([&] {
                executable_->run(inputs_, outputs_, {.cancellation = base::Cancellation::when(question)});
              }).code(),
              ErrorCode::cancelled);
    EXPECT_GT(asked, 1);
    std::vector<Buffer> fresh(1);
    const auto wanted = [] { return false; };
    executable_->run(inputs_, fresh, {.cancellation = base::Cancellation::when(wanted)});  // the next one is not harmed
    EXPECT_EQ(fresh[0].shape(), (Shape{DType::f32, {16, 16}}));
  }
}

INSTANTIATE_TEST_SUITE_P(Cancelling, EveryBackend, ::testing::Values("reference", "cpu", "onnx", "xla"),
                         [](const auto& backend) { return std::string(backend.param); });

}  // namespace
}  // namespace alate::backends
