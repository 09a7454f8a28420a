// The backend on a real plugin; skipped where none is installed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "alate/error.h"
#include "backends/registry.h"
#include "backends/xla/executable.h"
#include "graph/builder.h"

namespace alate::xla {
namespace {

using backends::Buffer;
using graph::Builder;
using graph::Value;

std::vector<float> floats(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

Tensor row(std::initializer_list<float> values) {
  return Tensor::from<float>({static_cast<std::int64_t>(values.size())}, values);
}

class XlaBackend : public ::testing::Test {
 protected:
  void SetUp() override {
    if (backend.libraries().found.empty()) GTEST_SKIP() << "no PJRT plugin is installed here";
    const auto devices = backend.devices();
    ASSERT_FALSE(devices.at(0).unusable.has_value()) << *devices.at(0).unusable;
    device = devices.at(0);
  }

  std::vector<Buffer> run(backends::Executable& executable, std::vector<Buffer> inputs,
                          std::vector<Buffer> outputs = {}) {
    outputs.resize(executable.outputs().size());
    executable.run(inputs, outputs, {.cancellation = base::Cancellation::never()});
    return outputs;
  }

  template <typename Function>
  std::string refusal(ErrorCode code, const Function& function) {
    try {
      function();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.message();
      return std::string(error.message());
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
  }

  backends::Backend& backend = backends::get_backend("xla");
  backends::Device device;
};

// x + y, of any length.
graph::Graph sum_graph() {
  Builder b("sum");
  const Dim n = b.dim("n");
  const Value x = b.parameter("x", {DType::f32, {n}}), y = b.parameter("y", {DType::f32, {n}});
  b.output("z", b.add({x, y}));
  return b.finish();
}

// The cache is written over: cache + x.
graph::Graph cache_graph() {
  Builder b("cache");
  const Value cache = b.parameter("cache", {DType::f32, {4}}, true), x = b.parameter("x", {DType::f32, {4}});
  b.output("cache", b.add({cache, x}), 0);
  return b.finish();
}

TEST_F(XlaBackend, DescribesItsDevice) {
  EXPECT_EQ(device.backend, "xla");
  EXPECT_FALSE(device.name.empty());
  EXPECT_EQ(device.library, backend.libraries().found.front().string());
  EXPECT_EQ(device.version.rfind("PJRT 0.", 0), 0U) << device.version;
  if (device.name == "cpu") {
    EXPECT_TRUE(device.unified_memory);
    EXPECT_GT(device.total_bytes, 0U);
    EXPECT_EQ(backend.devices().size(), 1U);
  }
}

TEST_F(XlaBackend, RunsAnyExtentAndKeepsFewPrograms) {
  const auto executable = backend.compile(sum_graph(), {});
  EXPECT_TRUE(executable->batch_hint().specialises);
  for (std::int64_t n = 1; n <= 20; ++n) {
    const std::vector<float> ones(static_cast<std::size_t>(n), 1.5F);
    const Tensor x = Tensor::from<float>({n}, std::span(ones));
    const auto outputs = run(*executable, {x, x});
    EXPECT_EQ(floats(*outputs[0].host()), std::vector<float>(static_cast<std::size_t>(n), 3));
  }
  EXPECT_EQ(executable->facts().specialisations, XlaExecutable::kKeptSpecialisations);
  const Tensor again = row({1});  // dropped by now
  EXPECT_EQ(floats(*run(*executable, {again, again})[0].host()), std::vector<float>{2});
}

TEST_F(XlaBackend, RunsInManyThreadsAtOnce) {
  const auto executable = backend.compile(sum_graph(), {});
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const auto n = static_cast<std::int64_t>(t) / 2 + 1;
        const std::vector<float> values(static_cast<std::size_t>(n), static_cast<float>(i));
        const Tensor x = Tensor::from<float>({n}, std::span(values));
        std::vector<Buffer> inputs = {x, x}, outputs(1);
        executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
        right[t] += floats(*outputs[0].host())[0] == static_cast<float>(2 * i) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(4, 10));
  EXPECT_EQ(executable->facts().specialisations, 2U);
}

TEST_F(XlaBackend, WritesResultsIntoTheCallersBuffers) {
  const auto executable = backend.compile(sum_graph(), {});
  Tensor given = Tensor::zeros({DType::f32, {3}});
  const auto outputs = run(*executable, {row({1, 2, 3}), row({4, 5, 6})}, {Buffer(given)});
  EXPECT_EQ(floats(given), (std::vector<float>{5, 7, 9}));
  EXPECT_TRUE(outputs[0].host()->shares_storage_with(given));
  // Also where that is an input's memory.
  Tensor both = Tensor::zeros({DType::f32, {3}});
  std::ranges::fill(both.mutable_values<float>(), 2.0F);
  run(*executable, {both, row({1, 2, 3})}, {Buffer(both)});
  EXPECT_EQ(floats(both), (std::vector<float>{3, 4, 5}));
  const std::string message = refusal(ErrorCode::invalid_argument, [&] {
    run(*executable, {row({1}), row({2})}, {Buffer(given)});
  });
  EXPECT_NE(message.find("output 0 is f32[1] but the buffer given for it is f32[3]"), std::string::npos) << message;
}

TEST_F(XlaBackend, TakesBuffersOfTheDevice) {
  const auto executable = backend.compile(sum_graph(), {});
  const Buffer x = backend.upload(row({1, 2}), device);
  EXPECT_EQ(x.host(), nullptr);
  EXPECT_EQ(floats(*run(*executable, {x, row({3, 4})})[0].host()), (std::vector<float>{4, 6}));
  EXPECT_EQ(floats(backend.download(x)), (std::vector<float>{1, 2}));
  // A result stays there where the caller's buffer is there.
  const auto outputs = run(*executable, {x, x}, {backend.upload(row({0, 0}), device)});
  EXPECT_EQ(outputs[0].host(), nullptr);
  EXPECT_EQ(floats(backend.download(outputs[0])), (std::vector<float>{2, 4}));
}

TEST_F(XlaBackend, WritesOverWhatTheCallerGivesAway) {
  const auto executable = backend.compile(cache_graph(), {});
  Buffer cache = backend.upload(row({1, 2, 3, 4}), device);
  for (int step = 0; step < 3; ++step) {
    std::vector<Buffer> inputs = {cache, row({1, 1, 1, 1})}, outputs = {std::move(cache)};
    executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
    cache = outputs[0];
    EXPECT_EQ(cache.host(), nullptr);
    EXPECT_ANY_THROW(backend.download(inputs[0])) << "it was not given away";
  }
  EXPECT_EQ(floats(backend.download(cache)), (std::vector<float>{4, 5, 6, 7}));
}

TEST_F(XlaBackend, KeepsWhatOthersHold) {
  const auto executable = backend.compile(cache_graph(), {});
  const Buffer held = backend.upload(row({1, 2, 3, 4}), device);
  std::vector<Buffer> inputs = {held, row({1, 1, 1, 1})}, outputs = {held};
  executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
  EXPECT_EQ(floats(backend.download(outputs[0])), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(floats(backend.download(held)), (std::vector<float>{1, 2, 3, 4}));
  // An output that the caller leaves open takes nothing from the input either.
  outputs.assign(1, {});
  executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
  EXPECT_EQ(floats(backend.download(outputs[0])), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(floats(backend.download(held)), (std::vector<float>{1, 2, 3, 4}));
  const Tensor host = row({1, 2, 3, 4});
  EXPECT_EQ(floats(*run(*executable, {host, host})[0].host()), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(floats(host), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(XlaBackend, ReadsBorrowedMemoryAsLongAsItIsNeeded) {
  const auto client = Client::create(Plugin::open(backend.libraries().found.front()));
  DeviceBuffer buffer;
  {
    Tensor tensor = Tensor::zeros({DType::f32, {1000}});
    std::ranges::fill(tensor.mutable_values<float>(), 7.0F);
    buffer = client->upload(tensor, 0, Transfer::borrowed);
  }
  const Tensor found = client->download(buffer);
  EXPECT_TRUE(std::ranges::all_of(found.values<float>(), [](float value) { return value == 7; }));
}

TEST_F(XlaBackend, UploadsAModelsWeightsOnce) {
  std::vector<float> many(1024, 2);
  const graph::ConstantPtr weight = graph::make_constant("w", Tensor::from<float>({1024}, std::span(many)));
  const auto one = std::make_shared<backends::WeightStore>(), other = std::make_shared<backends::WeightStore>();
  Builder b("scale");
  const Value x = b.parameter("x", {DType::f32, {1024}});
  b.output("y", b.mul({x, b.constant(weight)}));
  const graph::Graph graph = b.finish();
  const auto first = backend.compile(graph, {.weights = one}), second = backend.compile(graph, {.weights = one});
  const auto third = backend.compile(graph, {.weights = other});
  const Tensor ones = Tensor::from<float>({1024}, std::span(many));
  EXPECT_EQ(floats(*run(*first, {ones})[0].host())[5], 4);
  EXPECT_EQ(floats(*run(*second, {ones})[0].host())[1023], 4);
  EXPECT_EQ(second->facts().weight_bytes, 4096U);
  EXPECT_EQ(one->bytes_on({.backend = "xla"}), 4096U);
  EXPECT_EQ(one->owned_bytes(), 0U);
  EXPECT_EQ(third->facts().weight_bytes, 0U);  // before its first run
}

TEST_F(XlaBackend, ComparesTheExtentsOfReshapes) {
  Builder b("reshape");
  const Value x = b.parameter("x", {DType::f32, {6}}), extents = b.parameter("extents", {DType::i64, {2}});
  b.output("y", b.dynamic_reshape({x, extents}, {.dims = {2, 3}}));
  const auto executable = backend.compile(b.finish(), {});
  const Tensor values = row({1, 2, 3, 4, 5, 6});
  const auto outputs = run(*executable, {values, Tensor::from<std::int64_t>({2}, {2, 3})});
  EXPECT_EQ(outputs[0].shape(), (Shape{DType::f32, {2, 3}}));
  const std::string message = refusal(ErrorCode::invalid_argument, [&] {
    run(*executable, {values, Tensor::from<std::int64_t>({2}, {3, 2})});
  });
  EXPECT_NE(message.find("operand 1 is [3, 2], but the extents of dims are [2, 3]"), std::string::npos) << message;
}

TEST_F(XlaBackend, GivesNanForMinimaAndMaximaOfNan) {
  Builder b("extremes");
  const Value x = b.parameter("x", {DType::f32, {2}}), y = b.parameter("y", {DType::f32, {2}});
  b.output("max", b.max({x, y}));
  b.output("min", b.min({x, y}));
  const auto executable = backend.compile(b.finish(), {});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto outputs = run(*executable, {row({nan, 1}), row({1, nan})});
  for (const Buffer& output : outputs) {
    for (const float value : floats(*output.host())) EXPECT_TRUE(std::isnan(value));
  }
}

TEST_F(XlaBackend, RunsOnTheDeviceThatIsNamed) {
  if (device.name != "cpu") GTEST_SKIP() << "a plugin for processors makes several devices of them";
  const auto client = Client::create(Plugin::open(backend.libraries().found.front()), {.processors = 2});
  ASSERT_EQ(client->device_count(), 2U);
  EXPECT_NE(client->describe(0).id, client->describe(1).id);
  for (const std::size_t place : {0U, 1U}) {
    const auto source = std::make_shared<ProgramSource>(client, place, Settings(), std::nullopt);
    XlaExecutable executable(sum_graph(), source, std::make_shared<backends::WeightStore>());
    EXPECT_EQ(floats(*run(executable, {row({1}), row({2})})[0].host()), std::vector<float>{3});
  }
}

TEST_F(XlaBackend, RefusesDevicesItDoesNotHave) {
  const std::string message =
      refusal(ErrorCode::unavailable, [&] { backend.compile(sum_graph(), {.device = "quantum"}); });
  EXPECT_NE(message.find("no device 'quantum'"), std::string::npos) << message;
  backends::Device far = device;
  far.index = 1000;
  refusal(ErrorCode::invalid_argument, [&] { backend.upload(row({1}), far); });
}

TEST_F(XlaBackend, SaysWhatIsWrongWithARun) {
  const auto executable = backend.compile(sum_graph(), {});
  refusal(ErrorCode::invalid_argument, [&] { run(*executable, {row({1})}); });
  const std::string message = refusal(ErrorCode::invalid_argument, [&] { run(*executable, {row({1}), row({1, 2})}); });
  EXPECT_NE(message.find("input 'y'"), std::string::npos) << message;
  const std::function<bool()> cancelled = [] { return true; };
  std::vector<Buffer> inputs = {row({1}), row({2})}, outputs(1);
  refusal(ErrorCode::cancelled,
          [&] { executable->run(inputs, outputs, {.cancellation = base::Cancellation::when(cancelled)}); });
}

TEST_F(XlaBackend, KeepsProgramsOnDisk) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "xla_programs";
  std::filesystem::remove_all(folder);
  const auto count = [&] {
    std::size_t programs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "xla"))
      programs += entry.path().extension() == ".program" ? 1 : 0;
    return programs;
  };
  for (int round = 0; round < 2; ++round) {
    const auto executable = backend.compile(sum_graph(), {.cache_folder = folder});
    EXPECT_EQ(floats(*run(*executable, {row({1, 2}), row({3, 4})})[0].host()), (std::vector<float>{4, 6}));
    EXPECT_EQ(count(), 1U);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace alate::xla
