// Cancelled runs on a device, with a fake plugin whose runs end when a test says so.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "alate/error.h"
#include "backends/xla/executable.h"
#include "base/libraries/shared_library.h"
#include "graph/builder.h"
#include "tests/tools/fake_pjrt_plugin.h"
#include "tests/unit/base/expect_error.h"

namespace alate::xla {
namespace {

using backends::Buffer;

const char* const kHoldingPlugin = ALATE_FAKE_PJRT_PLUGIN;
const Shape kManyNumbers{.dtype = DType::f32, .dims = {4096}};  // such a constant is no part of the program's text
constexpr std::chrono::seconds kMostWaiting{60};
constexpr std::chrono::milliseconds kShortTime{100};

class XlaCancelling : public ::testing::Test {
 protected:
  XlaCancelling()
      : fake(*base::SharedLibrary::open(kHoldingPlugin).function<GetFakePlugin>("alate_fake_plugin")()),
        runs(*base::SharedLibrary::open(kHoldingPlugin).function<GetFakeRuns>("alate_fake_runs")()) {
    fake = FakePlugin();
    fake.can_run = true;
    runs.are_held = false;
    runs.begun = 0;
  }
  ~XlaCancelling() override {
    runs.are_held = false;
    executable.reset();
    EXPECT_EQ(runs.buffers, 0) << "buffers are left on the device";
    EXPECT_EQ(runs.events, 0);
  }

  void compile() {
    const auto client = Client::create(Plugin::open(kHoldingPlugin));
    graph::Builder b("sum");
    const graph::Value x = b.parameter("x", kManyNumbers);
    b.output("y", b.add({x, b.constant(Tensor::zeros(kManyNumbers))}));
    executable = std::make_unique<XlaExecutable>(b.finish(),
                                                 std::make_shared<ProgramSource>(client, 0, Settings(), std::nullopt),
                                                 std::make_shared<backends::WeightStore>());
  }

  ErrorCode run(const std::function<bool()>& question) {
    const std::vector<Buffer> inputs = {Tensor::zeros(kManyNumbers)};
    std::vector<Buffer> outputs(1);
    return base::error_of(
               [&] { executable->run(inputs, outputs, {.cancellation = base::Cancellation::when(question)}); })
        .code();
  }

  FakePlugin& fake;
  FakeRuns& runs;
  std::unique_ptr<XlaExecutable> executable;
  const std::function<bool()> once_begun = [this] { return runs.begun > 0; };
};

TEST_F(XlaCancelling, BeginsNothingForARunThatIsCancelled) {
  compile();
  EXPECT_EQ(run([] { return true; }), ErrorCode::cancelled);
  EXPECT_EQ(fake.compiled, 0);
  EXPECT_EQ(runs.begun, 0);
  EXPECT_EQ(runs.buffers, 0);
}

TEST_F(XlaCancelling, EndsBetweenTheUploadOfWeightsAndTheCompiler) {
  compile();
  EXPECT_EQ(run([this] { return runs.buffers > 0; }), ErrorCode::cancelled);
  EXPECT_EQ(fake.compiled, 0);
  EXPECT_EQ(runs.begun, 0);
}

TEST_F(XlaCancelling, KeepsWhatWasCompiledForARunThatIsGone) {
  compile();
  EXPECT_EQ(run([this] { return fake.compiled > 0; }), ErrorCode::cancelled);
  EXPECT_EQ(runs.begun, 0);
  EXPECT_EQ(run(once_begun), ErrorCode::cancelled);
  EXPECT_EQ(fake.compiled, 1);
  EXPECT_EQ(runs.begun, 1);
}

// The test hangs where the caller has to wait for the device.
TEST_F(XlaCancelling, LetsTheCallerGoWhileTheDeviceStillComputes) {
  compile();
  runs.are_held = true;
  EXPECT_EQ(run(once_begun), ErrorCode::cancelled);
  EXPECT_EQ(runs.begun, 1);
  EXPECT_EQ(runs.events, 1) << "the device is not done";
  EXPECT_EQ(runs.buffers, 3) << "its weight, input and output have to stay";
}

TEST_F(XlaCancelling, WaitsForTheDeviceBeforeTheExecutableGoes) {
  compile();
  runs.are_held = true;
  EXPECT_EQ(run(once_begun), ErrorCode::cancelled);
  std::future<void> gone = std::async(std::launch::async, [this] { executable.reset(); });
  EXPECT_EQ(gone.wait_for(kShortTime), std::future_status::timeout);
  runs.are_held = false;
  ASSERT_EQ(gone.wait_for(kMostWaiting), std::future_status::ready);
}

TEST_F(XlaCancelling, LeavesOneRunBehindAtATime) {
  compile();
  runs.are_held = true;
  EXPECT_EQ(run(once_begun), ErrorCode::cancelled);
  std::future<ErrorCode> second =
      std::async(std::launch::async, [this] { return run([this] { return runs.begun > 1; }); });
  EXPECT_EQ(second.wait_for(kShortTime), std::future_status::timeout);
  runs.are_held = false;
  ASSERT_EQ(second.wait_for(kMostWaiting), std::future_status::ready);
  EXPECT_EQ(second.get(), ErrorCode::cancelled);
  // There is room for another one once the device is done with both.
  const auto deadline = std::chrono::steady_clock::now() + kMostWaiting;
  while (runs.events > 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(kShortTime / 10);
  ASSERT_EQ(runs.events, 0);
  runs.are_held = true;
  runs.begun = 0;
  EXPECT_EQ(run(once_begun), ErrorCode::cancelled);
}

TEST_F(XlaCancelling, OnAPluginThatTellsNoEndDropsTheResultAtTheEnd) {
  fake.has_on_ready = false;
  compile();
  runs.are_held = true;
  std::future<ErrorCode> ended = std::async(std::launch::async, [this] { return run(once_begun); });
  EXPECT_EQ(ended.wait_for(kShortTime), std::future_status::timeout);
  runs.are_held = false;
  ASSERT_EQ(ended.wait_for(kMostWaiting), std::future_status::ready);
  EXPECT_EQ(ended.get(), ErrorCode::cancelled);
}

}  // namespace
}  // namespace alate::xla
