// Cancelled runs of ONNX Runtime.
#include "backends/onnxruntime/run_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "graph/builder.h"
#include "tests/unit/backends/onnxruntime/real_library.h"

namespace alate {
namespace {

using backends::Buffer;
using graph::Builder;

class OnnxRunWatch : public WithOnnxRuntime {
 protected:
  // n ← -n while n < 0, or, where it is endless, while n < 100: from -1 the first ends with 1.
  static std::unique_ptr<backends::Executable> loop(bool is_endless) {
    const auto dims = std::make_shared<graph::DimTable>();
    const Shape scalar{.dtype = DType::f32, .dims = {}};
    Builder condition("condition", dims), body("body", dims), whole("loop", dims);
    const graph::Value c = condition.parameter("n", scalar);
    condition.output("go on", is_endless ? condition.less({c, condition.scalar(DType::f32, 100)})
                                         : condition.less({c, condition.scalar(DType::f32, 0)}));
    body.output("n", body.neg({body.parameter("n", scalar)}));
    const graph::Value n = whole.parameter("n", scalar);
    whole.output("n", whole
                          .while_loop({n}, std::make_shared<const graph::Graph>(condition.finish()),
                                      std::make_shared<const graph::Graph>(body.finish()))
                          .front());
    return backend().compile(whole.finish(), {});
  }
};

// Without the watch this never ends.
TEST_F(OnnxRunWatch, EndsARunThatNobodyWaitsForAnyMore) {
  const auto endless = loop(true), short_one = loop(false);
  const std::vector<Buffer> inputs{Tensor::scalar<float>(-1)};
  for (int round = 0; round < 3; ++round) {
    std::vector<Buffer> outputs(1);
    std::atomic<int> asked = 0;
    const std::function<bool()> cancelled = [&] { return ++asked > 2; };
    EXPECT_EQ(
        error_of([&] { endless->run(inputs, outputs, {.cancellation = base::Cancellation::when(cancelled)}); }).code(),
        ErrorCode::cancelled);
    EXPECT_GT(asked, 2);
    // The same session, and others, go on.
    const std::function<bool()> never = [] { return false; };
    short_one->run(inputs, outputs, {.cancellation = base::Cancellation::when(never)});
    EXPECT_EQ(backends::host_tensor(outputs[0]).values<float>()[0], 1);
  }
}

}  // namespace
}  // namespace alate
