// Models whose encoder is a file that a backend runs: made by hand, so that no runtime is needed.
#include "runtime/loading/loaded_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "backends/registry.h"
#include "runtime/forward.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"

namespace alate::runtime {
namespace {

using backends::Buffer;
using backends::Port;

constexpr std::chrono::seconds kWatchdog{60};

// Hidden states [batch, length, 2]: the id, and 1 where the mask has one.
class FakeFile final : public backends::Executable {
 public:
  FakeFile() {
    const Dim batch = dims_.named("batch"), length = dims_.named("length");
    inputs_ = {{"input_ids", {DType::i64, {batch, length}}}, {"attention_mask", {DType::i64, {batch, length}}}};
    outputs_ = {{"last_hidden_state", {DType::f32, {batch, length, 2}}}, {"logits", {DType::f32, {batch, Dim(3)}}}};
  }
  std::span<const Port> inputs() const override { return inputs_; }
  std::span<const Port> outputs() const override { return outputs_; }
  void compute(std::span<const Buffer> inputs, std::span<Buffer> outputs,
               const backends::RunOptions& options) override {
    options.cancellation.check();
    const Tensor& ids = *inputs[0].host();
    const Tensor& mask = *inputs[1].host();
    Tensor hidden = Tensor::zeros({DType::f32, {ids.extent(0), ids.extent(1), 2}});
    for (std::size_t i = 0; i < ids.values<std::int64_t>().size(); ++i) {
      hidden.mutable_values<float>()[2 * i] = static_cast<float>(ids.values<std::int64_t>()[i]);
      hidden.mutable_values<float>()[2 * i + 1] = static_cast<float>(mask.values<std::int64_t>()[i]);
    }
    outputs[0] = hidden;
    outputs[1] = Tensor::zeros({DType::f32, {ids.extent(0), 3}});
  }
  backends::ExecutableFacts facts() const override { return {}; }

 private:
  graph::DimTable dims_;
  std::vector<Port> inputs_, outputs_;
};

// Compiles on the reference interpreter, and opens any file as a FakeFile.
class FakeBackend final : public backends::Backend {
 public:
  std::string_view name() const override { return "fake"; }
  std::vector<backends::Device> devices() override { return reference().devices(); }
  backends::Support supports(const graph::Graph& graph, const graph::Node& node,
                             const backends::Device& device) const override {
    return reference().supports(graph, node, device);
  }
  std::unique_ptr<backends::Executable> compile(const graph::Graph& graph,
                                                const backends::CompileOptions& options) override {
    return reference().compile(graph, options);
  }
  std::unique_ptr<backends::Executable> open(const backends::ModelFile&, const backends::CompileOptions&) override {
    return std::make_unique<FakeFile>();
  }
  Buffer upload(const Tensor& tensor, const backends::Device&) override { return tensor; }
  Tensor download(const Buffer& buffer) override { return backends::host_tensor(buffer); }

 private:
  static backends::Backend& reference() { return backends::get_backend("reference"); }
};

std::shared_ptr<Model::State> model_of_file(backends::Backend& backend) {
  auto state = std::make_shared<Model::State>();
  state->folder = "folder";
  state->form =
      form_of_file("folder/model.onnx", "onnx", {.vocabulary = 100, .positions = 16, .types = 2, .hidden_size = 2});
  state->store = std::make_shared<backends::WeightStore>([](const graph::Constant&) {});
  state->backend = &backend;
  return state;
}

NamedTensors row_of(std::int64_t length) {
  Tensor ids = Tensor::zeros({DType::i64, {1, length}});
  return {{"input_ids", ids}};
}

// Fails where an action does not end. What hangs is left behind: nothing can end it.
template <typename Action>
void expect_ends(Action action) {
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> ended = done->get_future();
  std::thread([action = std::move(action), done] {
    try {
      action();
      done->set_value();
    } catch (...) {
      done->set_exception(std::current_exception());
    }
  }).detach();
  ASSERT_EQ(ended.wait_for(kWatchdog), std::future_status::ready) << "it hangs";
  ended.get();
}

// The program over a file opens the file.
TEST(LoadedModel, TheProgramOfAFileIsCompiledWithoutWaitingForItself) {
  const auto backend = std::make_shared<FakeBackend>();
  const auto state = model_of_file(*backend);
  expect_ends([state, backend] {
    const EntryPoint& program = state->forward_entry_point();
    EXPECT_EQ(program.outputs().size(), 1U);
    EXPECT_EQ(program.outputs()[0].name, "last_hidden_state");
    EXPECT_NE(state->open_file("folder/model.onnx"), nullptr);
  });
}

TEST(LoadedModel, SaysWhatForwardTakesAndGivesOfAFile) {
  FakeBackend backend;
  const auto state = model_of_file(backend);
  EXPECT_EQ(forward_inputs(*state), (std::vector<std::string>{"input_ids", "attention_mask"}));
  const std::vector<ForwardOutput> outputs = forward_outputs(*state);
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_TRUE(outputs[0].is_per_token);
  EXPECT_EQ(outputs[0].extents, (std::vector<std::int64_t>{2}));
  EXPECT_FALSE(outputs[1].is_per_token);
  EXPECT_EQ(outputs[1].extents, (std::vector<std::int64_t>{3}));

  NamedTensors inputs = row_of(3);
  add_usual_inputs(*state, inputs);
  EXPECT_EQ(inputs.size(), 2U);  // not types, which this file does not take
  EXPECT_EQ(forward(*state, inputs, {.cancellation = base::Cancellation::never()})
                .find("last_hidden_state")
                ->second.values<float>()[5],
            1);
}

TEST(LoadedModel, NoRowIsLongerThanTheModelWhateverItsPositionsAre) {
  FakeBackend backend;
  const auto file = model_of_file(backend);
  const Model weights = Model::load(source_folder() / "tests/golden/models/st_mean");
  const std::int64_t most = weights.state().limits().positions;
  for (const std::int64_t length : {std::int64_t{17}, most + 1, std::int64_t{65536}}) {
    NamedTensors inputs = row_of(length);
    inputs.emplace("position_ids", Tensor::zeros({DType::i64, {1, length}}));
    EXPECT_EQ(base::error_of([&] { forward(*file, inputs, {.cancellation = base::Cancellation::never()}); }).code(),
              ErrorCode::invalid_argument)
        << length;
    if (length <= most) continue;
    EXPECT_EQ(base::error_of([&] { weights.forward(inputs); }).code(), ErrorCode::invalid_argument) << length;
  }
  NamedTensors inputs = row_of(most);
  inputs.emplace("position_ids", Tensor::zeros({DType::i64, {1, most}}));
  EXPECT_NO_THROW(weights.forward(inputs));
}

// Asked more than once within one batch: a run ends between two layers.
TEST(LoadedModel, ForwardIsCancelledWithinABatchOnEveryEngine) {
  for (const char* backend : {"cpu", "reference"}) {
    SCOPED_TRACE(backend);
    const Model model =
        Model::load(source_folder() / "tests/golden/models/two_layers",
                    {.backend = {.places = {BackendPlace::parse(backend)}, .policy = BackendPolicy::strict}});
    std::atomic<int> asked = 0;
    const std::function<bool()> never = [&] {
      ++asked;
      return false;
    };
    forward(model.state(), row_of(4), {.cancellation = base::Cancellation::when(never)});
    const int all = asked;
    EXPECT_GE(all, 2 * 5) << "fewer than a few for each layer";
    asked = 0;
    const std::function<bool()> halfway = [&] { return ++asked >= all / 2; };
    EXPECT_EQ(base::error_of([&] {
                forward(model.state(), row_of(4), {.cancellation = base::Cancellation::when(halfway)});
              }).code(),
              ErrorCode::cancelled);
    EXPECT_LE(asked, all / 2 + 1) << "it went on";
  }
}

}  // namespace
}  // namespace alate::runtime
