// Backends in libraries that know only Alate's C header: the example in examples/backend_plugin, and broken ones.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "alate/error.h"
#include "backends/plugin/graph_text.h"
#include "backends/plugin/plugin_backend.h"
#include "backends/plugin/plugin_search.h"
#include "backends/registry.h"
#include "base/os/program_path.h"
#include "graph/builder.h"
#include "graph/interpreter.h"
#include "graph/passes.h"
#include "graph/text/text.h"
#include "tests/unit/graph/example_graphs.h"

namespace alate::plugin {
namespace {

namespace fs = std::filesystem;
using backends::Buffer;
using backends::Executable;
using graph::Builder;
using graph::Graph;
using graph::Value;

fs::path folder_of_tests() { return base::program_path().parent_path(); }

// The registry looks once, so the path is set before any test runs: the example, a broken backend, and a name of our
// own.
const fs::path kOwnName = fs::path(::testing::TempDir()) / "libalate_backend_go.so";
[[maybe_unused]] const int kPathIsSet = [] {
  std::ofstream(kOwnName) << "never opened";
  const std::string path = (folder_of_tests() / "backend_plugins").string() + ":" +
                           (folder_of_tests() / "broken_backend_plugins/libalate_backend_null_table.so").string() +
                           ":" + kOwnName.string() + ":/nowhere/backends";
  return ::setenv("ALATE_BACKEND_PATH", path.c_str(), 1);
}();

backends::Backend& plain() { return backends::get_backend("plain"); }

Tensor seeded_tensor(const std::vector<std::int64_t>& extents, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> between(-1, 1);
  Tensor tensor = Tensor::zeros(detail::shape_of(DType::f32, extents));
  for (float& value : tensor.mutable_values<float>()) value = between(generator);
  return tensor;
}

std::vector<Tensor> run(Executable& executable, std::span<const Tensor> inputs,
                        const backends::RunOptions& options = {.cancellation = base::Cancellation::never()}) {
  const std::vector<Buffer> buffers(inputs.begin(), inputs.end());
  std::vector<Buffer> outputs(executable.outputs().size());
  executable.run(buffers, outputs, options);
  std::vector<Tensor> results;
  for (const Buffer& output : outputs) results.push_back(*output.host());
  return results;
}

void expect_near(const Tensor& found, const Tensor& wanted) {
  ASSERT_EQ(found.shape(), wanted.shape());
  for (std::size_t i = 0; i < wanted.values<float>().size(); ++i) {
    const float x = found.values<float>()[i], y = wanted.values<float>()[i];
    ASSERT_TRUE(std::abs(x - y) <= 2e-6f * std::max(1.0f, std::abs(y)) || (std::isnan(x) && std::isnan(y)) || x == y)
        << "element " << i << ": " << x << ", not " << y;
  }
}

Error error_of(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::internal, "nothing was thrown"};
}

// Two dense layers with a fused softmax: weights over a kilobyte, and one that is made of another.
Graph small_network() {
  Builder b("network");
  const Dim tokens = b.dim("tokens", 0, 64);
  const Value x = b.parameter("the \"x\"", {DType::f32, {tokens, 16}});
  const Value hidden = b.dense({x, b.constant(graph::make_constant("first", seeded_tensor({32, 16}, 1))),
                                b.constant(graph::make_constant("bias", seeded_tensor({32}, 2)))},
                               {.has_bias = true, .activation = graph::Activation::tanh});
  const Value turned =
      b.transpose({b.constant(graph::make_constant("second", seeded_tensor({32, 8}, 3)))}, {.permutation = {1, 0}});
  b.output("probabilities", b.softmax({b.dense({hidden, turned}, {})}, {.axis = 1}));
  b.output("hidden", hidden);
  return b.finish();
}

// For libraries that copy, whatever they are told.
Graph copy_graph() {
  Builder b("copy");
  b.output("y", b.neg({b.parameter("x", {DType::f32, {4}})}));
  return b.finish();
}

TEST(PluginRegistry, KnowsLibrariesByTheirFilesNamesAndAliases) {
  const backends::Registration* row = backends::find_registration("plain");
  ASSERT_NE(row, nullptr);
  EXPECT_NE(row->sentence.find("libalate_backend_plain.so"), std::string_view::npos);
  EXPECT_EQ(backends::find_registration("loops"), row);
  EXPECT_EQ(&row->get(), &plain());
  EXPECT_EQ(plain().name(), "plain");
  EXPECT_EQ(backends::find_registration("no_such_backend"), nullptr);
}

TEST(PluginRegistry, KeepsTheNamesOfAlatesOwnBackends) {
  EXPECT_EQ(backends::get_backend("go").name(), "cpu");
  const std::span<const std::string> refused = backends::refused_registrations();
  ASSERT_EQ(refused.size(), 2U);
  EXPECT_EQ(refused[0], kOwnName.string() + ": 'go' is a backend of Alate itself: name the library otherwise");
  EXPECT_EQ(refused[1], "/nowhere/backends: it is not there");
}

TEST(PluginRegistry, ListsABrokenLibraryWithTheReason) {
  const std::vector<backends::Device> devices = backends::get_backend("null_table").devices();
  ASSERT_EQ(devices.size(), 1U);
  ASSERT_TRUE(devices[0].unusable.has_value());
  EXPECT_NE(devices[0].unusable->find("does not speak version 1"), std::string::npos) << *devices[0].unusable;
  EXPECT_FALSE(devices[0].remedy.empty());
}

TEST(PluginSearch, TakesTheFirstOfANameAndRefusesWhatIsNone) {
  const fs::path folder = fs::path(::testing::TempDir()) / "plugin_search";
  fs::remove_all(folder);
  fs::create_directories(folder / "second");
  for (const char* file : {"libalate_backend_b.so", "libalate_backend_a.so", "libalate_backend_Upper.so", "libother.so",
                           "libalate_backend_.so", "second/libalate_backend_a.so", "second/alate_backend_c.dll"})
    std::ofstream(folder / file) << "";
  const std::vector<std::string_view> taken = {"cpu"};
  const PluginSearch search = find_plugins(
      folder.string() + "::" + (folder / "second").string() + ":" + (folder / "libother.so").string(), taken);
  std::vector<std::string> names;
  for (const FoundPlugin& found : search.found) names.push_back(found.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(search.found[0].file, folder / "libalate_backend_a.so");
  ASSERT_EQ(search.refused.size(), 4U);
  EXPECT_NE(search.refused[2].find("has that name already"), std::string::npos) << search.refused[2];
  EXPECT_NE(search.refused[3].find("libalate_backend_NAME.so"), std::string::npos) << search.refused[3];
}

TEST(PluginBackend, HasTheDevicesThatTheLibraryTells) {
  const std::vector<backends::Device> devices = plain().devices();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_FALSE(devices[0].unusable.has_value());
  EXPECT_EQ(devices[0].backend, "plain");
  EXPECT_EQ(devices[0].name, "cpu");
  EXPECT_EQ(devices[0].version, "Plain 1.0");
  EXPECT_TRUE(devices[0].unified_memory);
}

TEST(PluginBackend, RunsANetworkOfAnySizeLikeTheReference) {
  const Graph graph = small_network();
  const std::unique_ptr<Executable> executable = plain().compile(graph, {.device = "cpu"});
  EXPECT_GE(executable->facts().weight_bytes, (32U * 16 + 32 + 32 * 8) * sizeof(float));
  EXPECT_GT(executable->facts().kernels, 4U);
  for (const std::int64_t tokens : {1, 7, 0, 64}) {
    const std::vector<Tensor> inputs = {seeded_tensor({tokens, 16}, static_cast<std::uint32_t>(tokens))};
    const std::vector<Tensor> wanted = graph::interpret(graph, inputs, base::Cancellation::never()),
                              found = run(*executable, inputs);
    for (std::size_t i = 0; i < wanted.size(); ++i) expect_near(found[i], wanted[i]);
  }
}

TEST(PluginBackend, CopiesDonatedParametersAndSaysSo) {
  Builder b("donated");
  const Value x = b.parameter("x", {DType::f32, {3}}, true);
  b.output("x", b.add({x, x}), 0);
  const std::unique_ptr<Executable> executable = plain().compile(b.finish(), {});
  ASSERT_EQ(executable->facts().aliases.size(), 1U);
  EXPECT_FALSE(executable->facts().aliases[0].in_place);
  EXPECT_EQ(executable->facts().aliases[0].copy_reason, "in the C interface of backends no output overlaps an input");
  const Tensor memory = Tensor::from<float>({3}, {1, 2, 3});
  std::vector<Buffer> outputs = {memory};
  executable->run(std::vector<Buffer>{memory}, outputs, {.cancellation = base::Cancellation::never()});
  EXPECT_TRUE(std::ranges::equal(memory.values<float>(), std::vector<float>{2, 4, 6}));
}

TEST(PluginBackend, RunsManyAtATime) {
  const Graph graph = small_network();
  const std::unique_ptr<Executable> executable = plain().compile(graph, {});
  std::vector<std::thread> threads;
  std::atomic<int> equal = 0;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<Tensor> inputs = {seeded_tensor({t + 1, 16}, t)};
      const Tensor first = run(*executable, inputs)[0];
      for (int i = 0; i < 8; ++i) {
        const Tensor again = run(*executable, inputs)[0];
        equal += std::ranges::equal(again.bytes(), first.bytes()) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 32);
}

TEST(PluginBackend, AgreesWithTheReferenceOnExamplesOrNamesTheOp) {
  std::size_t compared = 0, refused = 0;
  for (const Graph& graph : graph::example_graphs()) {
    std::unique_ptr<Executable> executable;
    try {
      executable = plain().compile(graph, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
      ++refused;
      continue;
    }
    const std::vector<Tensor> inputs = graph::example_inputs(graph);
    const std::vector<Tensor> wanted = graph::interpret(graph, inputs, base::Cancellation::never()),
                              found = run(*executable, inputs);
    for (std::size_t i = 0; i < wanted.size(); ++i) expect_near(found[i], wanted[i]);
    ++compared;
  }
  EXPECT_GT(compared, 10U);
  EXPECT_GT(refused, 10U);
}

TEST(PluginBackend, RefusesWhatTheLibraryDoesNotRunWithItsReason) {
  Builder b("g");
  b.set_source("layer 3");
  b.output("y", b.logistic({b.parameter("x", {DType::f32, {4}})}));
  const Error op = error_of([graph = b.finish()] { plain().compile(graph, {}); });
  EXPECT_EQ(op.code(), ErrorCode::unsupported);
  for (const char* part : {"'plain'", "logistic", "f32", "layer 3", "no such op"})
    EXPECT_NE(op.message().find(part), std::string::npos) << op.message();

  Builder d("g");
  d.output("y", d.neg({d.parameter("x", {DType::f64, {4}})}));
  const Error dtype = error_of([graph = d.finish()] { plain().compile(graph, {}); });
  EXPECT_NE(dtype.message().find("neg for f64: only f32"), std::string::npos) << dtype.message();

  const Error device = error_of([] { plain().compile(copy_graph(), {.device = "gpu"}); });
  EXPECT_EQ(device.code(), ErrorCode::not_found) << device.what();
}

TEST(PluginBackend, RefusesInputsOfAnotherShapeAndRunsThatAreCancelled) {
  const std::unique_ptr<Executable> executable = plain().compile(copy_graph(), {});
  const std::vector<Tensor> longer = {seeded_tensor({5}, 1)}, right = {seeded_tensor({4}, 1)};
  EXPECT_EQ(error_of([&] { run(*executable, longer); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { run(*executable, {}); }).code(), ErrorCode::invalid_argument);
  int asked = 0;
  const std::function<bool()> later = [&] { return ++asked > 1; };
  EXPECT_EQ(error_of([&] { run(*executable, right, {.cancellation = base::Cancellation::when(later)}); }).code(),
            ErrorCode::cancelled);
}

TEST(PluginGraphText, GivesLeavesInTheOrderOfTheirNumbers) {
  backends::WeightStore weights;
  const Graph network = small_network();
  const GraphText text = write_graph(graph::eliminate_dead_nodes(graph::fold_constants(network)), weights);
  ASSERT_EQ(text.constants.size(), 3U);
  for (const graph::ConstantPtr& constant : text.constants) EXPECT_TRUE(constant->is_leaf());
  EXPECT_EQ(text.constants[0]->name, "first");
  EXPECT_EQ(text.constants[2]->shape, (Shape{DType::f32, {8, 32}}));
  const Graph again = graph::parse_graph(text.text, [&](std::string_view, const Shape&, const Fingerprint& identity) {
    for (const graph::ConstantPtr& constant : text.constants) {
      if (constant->identity == identity) return constant;
    }
    return graph::ConstantPtr();
  });
  const std::vector<Tensor> inputs = {seeded_tensor({3, 16}, 5)};
  expect_near(graph::interpret(again, inputs, base::Cancellation::never())[0],
              graph::interpret(network, inputs, base::Cancellation::never())[0]);
}

fs::path broken(const std::string& name) {
  return folder_of_tests() / "broken_backend_plugins" / ("libalate_backend_" + name + ".so");
}

TEST(PluginBackend, TakesALibraryWhoseStructsHaveMoreMembers) {
  const std::unique_ptr<backends::Backend> backend = make_backend({"newer", broken("newer")});
  EXPECT_FALSE(backend->devices()[0].unusable.has_value());
  const Tensor x = seeded_tensor({4}, 1);
  expect_near(run(*backend->compile(copy_graph(), {}), std::vector<Tensor>{x})[0], x);
}

// What a library with this fault answers, at the first step that shows it.
Error fault(const std::string& name) {
  const fs::path file = broken(name);
  EXPECT_TRUE(fs::exists(file)) << file;
  const std::unique_ptr<backends::Backend> backend = make_backend({name, file});
  return error_of([&] {
    const std::vector<backends::Device> devices = backend->devices();
    if (devices[0].unusable) throw Error(ErrorCode::unavailable, *devices[0].unusable);
    const std::unique_ptr<Executable> executable = backend->compile(copy_graph(), {});
    run(*executable, std::vector<Tensor>{seeded_tensor({4}, 1)});
  });
}

struct Fault {
  const char* name;
  const char* message;
};

class BrokenPlugin : public ::testing::TestWithParam<Fault> {};

TEST_P(BrokenPlugin, IsRefusedWithTheReason) {
  const Error error = fault(GetParam().name);
  EXPECT_NE(error.message().find(GetParam().message), std::string::npos) << error.what();
}

INSTANTIATE_TEST_SUITE_P(
    Faults, BrokenPlugin,
    ::testing::Values(
        Fault{"without_function", "it has no alate_backend_get_api"},
        Fault{"null_table", "it does not speak version 1 of the interface"},
        Fault{"other_version", "its table is of version 2, asked for was 1"},
        Fault{"small_table", "its table has 64 bytes"}, Fault{"without_run", "its table lacks a function"},
        Fault{"other_name", "it calls itself 'somebody_else'"},
        Fault{"not_utf8", "gives as the description what is no line of UTF-8"},
        Fault{"no_alias", "an alias of it is no name"}, Fault{"small_device", "gives a device of 8 bytes"},
        Fault{"endless_devices", "has devices without end"}, Fault{"small_status", "compiling: it says nothing more"},
        Fault{"no_executable", "compiled a graph and gives no executable"},
        Fault{"other_ports", "compiled a graph whose input 0 is 'x' f32[4] into one with another"},
        Fault{"too_few_ports", "of 1 inputs and 1 outputs into one of 1 and 0"},
        Fault{"short_output", "says that it wrote 8 bytes of output 'y', which has 16"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace alate::plugin
