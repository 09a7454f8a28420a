#include "backends/onnxruntime/executable.h"

#include <gtest/gtest.h>

#include <thread>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "graph/builder.h"
#include "graph/builder_functions.h"
#include "tests/unit/backends/onnxruntime/real_library.h"

namespace alate {
namespace {

using backends::Buffer;

// product = x · w for x [n, 2] and a w of 300 columns (over the size of what is written into the model), and -x.
class OnnxExecutable : public WithOnnxRuntime {
 protected:
  void SetUp() override {
    WithOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    graph::Builder b("two_outputs");
    const graph::Value x = b.parameter("x", Shape{.dtype = DType::f32, .dims = {b.dim("n"), 2}});
    std::vector<float> weight(600);
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i % 7) - 3;
    weight_ = Tensor::from<float>({2, 300}, std::span<const float>(weight));
    b.output("product", graph::matmul(b, x, b.constant(weight_)));
    b.output("negative", b.neg({x}));
    executable_ = backend().compile(b.finish(), {});
  }

  float product(float first, float second, std::size_t column) const {
    return first * weight_.values<float>()[column] + second * weight_.values<float>()[300 + column];
  }

  Tensor weight_;
  std::unique_ptr<backends::Executable> executable_;
};

TEST_F(OnnxExecutable, WritesIntoTheCallersBuffersAndMakesTheOthers) {
  const std::vector<Buffer> inputs{Tensor::from<float>({2, 2}, {1, 2, 3, 4})};
  Tensor given = Tensor::zeros(Shape{.dtype = DType::f32, .dims = {2, 300}});
  std::vector<Buffer> outputs{given, Buffer()};
  executable_->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
  EXPECT_TRUE(backends::host_tensor(outputs[0]).shares_storage_with(given));
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_EQ(given.values<float>()[i], product(1, 2, i));
    EXPECT_EQ(given.values<float>()[300 + i], product(3, 4, i));
  }
  EXPECT_EQ(backends::host_tensor(outputs[1]).values<float>()[3], -4);
}

TEST_F(OnnxExecutable, AnOutputMayBeTheMemoryOfAnInput) {
  Tensor x = Tensor::from<float>({1, 2}, {1, 2});
  const std::vector<Buffer> inputs{x};
  std::vector<Buffer> outputs{Buffer(), x};
  executable_->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
  EXPECT_EQ(x.values<float>()[0], -1);
  EXPECT_EQ(x.values<float>()[1], -2);
  EXPECT_EQ(backends::host_tensor(outputs[0]).values<float>()[299], product(1, 2, 299));
}

TEST_F(OnnxExecutable, BuffersOfTheWrongShapeAreRefused) {
  const std::vector<Buffer> inputs{Tensor::from<float>({1, 2}, {1, 2})};
  std::vector<Buffer> outputs{Tensor::zeros(Shape{.dtype = DType::f32, .dims = {2, 300}}), Buffer()};
  EXPECT_EQ(error_of([&] { executable_->run(inputs, outputs, {.cancellation = base::Cancellation::never()}); }).code(),
            ErrorCode::invalid_argument);
  const std::vector<Buffer> wide{Tensor::from<float>({1, 3}, {1, 2, 3})};
  std::vector<Buffer> empty(2);
  const Error error = error_of([&] { executable_->run(wide, empty, {.cancellation = base::Cancellation::never()}); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("input 'x'"), std::string::npos) << error.message();
}

TEST_F(OnnxExecutable, RunsAtTheSameTimeDoNotMix) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        const auto rows = static_cast<std::int64_t>(t) + 1;
        const std::vector<float> values(static_cast<std::size_t>(rows) * 2, static_cast<float>(t + 1));
        const std::vector<Buffer> inputs{Tensor::from<float>({rows, 2}, std::span<const float>(values))};
        std::vector<Buffer> outputs(2);
        executable_->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
        const Tensor found = backends::host_tensor(outputs[0]);
        const auto value = static_cast<float>(t + 1);
        for (std::size_t i = 0; i < found.values<float>().size(); ++i)
          wrong[t] += found.values<float>()[i] == product(value, value, i % 300) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

TEST_F(OnnxExecutable, ACancelledRunThrows) {
  const std::function<bool()> cancelled = [] { return true; };
  const std::vector<Buffer> inputs{Tensor::from<float>({1, 2}, {1, 2})};
  std::vector<Buffer> outputs(2);
  EXPECT_EQ(error_of([&] {
              executable_->run(inputs, outputs, {.cancellation = base::Cancellation::when(cancelled)});
            }).code(),
            ErrorCode::cancelled);
}

TEST_F(OnnxExecutable, CountsTheBytesOfItsWeights) {
  EXPECT_EQ(executable_->facts().weight_bytes, 600 * sizeof(float));
}

TEST_F(OnnxExecutable, SessionOptionsReachTheLibrary) {
  graph::Builder b("exp");
  b.output("y", b.exp({b.parameter("x", Shape{.dtype = DType::f32, .dims = {2}})}));
  const graph::Graph graph = b.finish();
  const auto compile = [&](const char* key, const char* value) {
    backends::CompileOptions options;
    options.session_options[key] = value;
    (void)backend().compile(graph, options);
  };
  compile("intra_op_num_threads", "1");
  compile("graph_optimization_level", "basic");
  compile("execution_mode", "parallel");
  compile("session.disable_prepacking", "1");
  const Error level = error_of([&] { compile("graph_optimization_level", "most"); });
  EXPECT_EQ(level.code(), ErrorCode::invalid_argument);
  EXPECT_NE(level.message().find("graph_optimization_level is 'most'"), std::string::npos) << level.message();
  EXPECT_EQ(error_of([&] { compile("intra_op_num_threads", "two"); }).code(), ErrorCode::invalid_argument);
  // The library itself looks at the values of its own keys.
  EXPECT_NE(error_of([&] { compile("session.intra_op_thread_affinities", "nonsense"); }).message(), "");
}

}  // namespace
}  // namespace alate
