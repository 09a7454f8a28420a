// The cpu backend against the reference interpreter, and its own promises.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <random>
#include <thread>

#include "alate/error.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/registry.h"
#include "backends/spelling.h"
#include "graph/decompose.h"
#include "graph/gradients.h"
#include "graph/interpreter.h"
#include "tensor/element.h"
#include "tests/unit/graph/example_graphs.h"

namespace alate::cpu {
namespace {

using backends::Buffer;
using graph::Builder;
using graph::Graph;
using graph::Value;

Tensor seeded_tensor(std::vector<std::int64_t> extents, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> between(-1, 1);
  Tensor tensor = Tensor::zeros(detail::shape_of(DType::f32, extents));
  for (float& value : tensor.mutable_values<float>()) value = between(generator);
  return tensor;
}

std::vector<Tensor> run_on_cpu(const Graph& graph, const std::vector<Tensor>& inputs,
                               const backends::RunOptions& options = {.cancellation = base::Cancellation::never()}) {
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(graph, {});
  const std::vector<Buffer> buffers(inputs.begin(), inputs.end());
  std::vector<Buffer> outputs(graph.outputs().size());
  executable->run(buffers, outputs, options);
  std::vector<Tensor> results;
  for (const Buffer& output : outputs) results.push_back(*output.host());
  return results;
}

// Of an element's own size where one op rounds once; of the largest element where sums of many cancel.
enum class Bound { of_element, of_largest };

// A step or two of the dtype, whose mantissa has so many bits.
void expect_close_floats(const Tensor& found, const Tensor& wanted, const std::string& what) {
  const int mantissa = wanted.dtype() == DType::f64 ? 50 : (wanted.dtype() == DType::f16 ? 9 : 6);
  const std::size_t bytes = bytes_for(wanted.dtype(), 1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(wanted.element_count()); ++i) {
    const double x = tensor::load_double(found.dtype(), found.bytes().data() + i * bytes);
    const double y = tensor::load_double(wanted.dtype(), wanted.bytes().data() + i * bytes);
    if (std::isfinite(y)) {
      ASSERT_NEAR(x, y, std::ldexp(std::max(1.0, std::abs(y)), -mantissa)) << what << " element " << i;
    } else {
      ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << what << " element " << i;
    }
  }
}

// Parts of complex numbers, which sums of products make, within the largest one's rounding.
void expect_close_parts(const Tensor& found, const Tensor& wanted, const std::string& what) {
  const bool is_wide = wanted.dtype() == DType::c128;
  const DType part = is_wide ? DType::f64 : DType::f32;
  const std::size_t bytes = bits_of(part) / 8;
  const auto at = [&](const Tensor& tensor, std::size_t i) {
    return tensor::load_double(part, tensor.bytes().data() + i);
  };
  double largest = 1;
  for (std::size_t i = 0; i < wanted.byte_count(); i += bytes)
    largest = std::max(largest, std::isfinite(at(wanted, i)) ? std::abs(at(wanted, i)) : 0);
  for (std::size_t i = 0; i < wanted.byte_count(); i += bytes) {
    const double x = at(found, i), y = at(wanted, i);
    if (std::isfinite(y)) {
      ASSERT_NEAR(x, y, (is_wide ? 1e-13 : 2e-6) * largest) << what << " part " << i / bytes;
    } else {
      ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << what << " part " << i / bytes;
    }
  }
}

void expect_close(const Tensor& found, const Tensor& wanted, const std::string& what, Bound bound = Bound::of_element) {
  ASSERT_EQ(found.shape(), wanted.shape()) << what;
  if (is_complex(wanted.dtype())) return expect_close_parts(found, wanted, what);
  if (!is_float(wanted.dtype())) {
    EXPECT_TRUE(std::equal(found.bytes().begin(), found.bytes().end(), wanted.bytes().begin())) << what;
    return;
  }
  if (wanted.dtype() != DType::f32) return expect_close_floats(found, wanted, what);
  float largest = 1;
  for (const float value : wanted.values<float>())
    largest = std::max(largest, std::isfinite(value) ? std::abs(value) : 0);
  for (std::size_t i = 0; i < wanted.values<float>().size(); ++i) {
    const float x = found.values<float>()[i], y = wanted.values<float>()[i];
    if (std::isfinite(y)) {
      const double within = bound == Bound::of_largest ? 1e-5 * largest : 2e-6 * std::max(1.0f, std::abs(y));
      ASSERT_NEAR(x, y, within) << what << " element " << i;
    } else {
      ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << what << " element " << i;
    }
  }
}

void expect_as_reference(const Graph& graph, const std::vector<Tensor>& inputs, const std::string& what,
                         Bound bound = Bound::of_element) {
  const std::vector<Tensor> wanted = graph::interpret(graph, inputs, base::Cancellation::never()),
                            found = run_on_cpu(graph, inputs);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) expect_close(found[i], wanted[i], what, bound);
}

TEST(CpuBackend, AgreesWithTheReferenceOnAnExampleOfEveryOpOrNamesIt) {
  std::size_t run = 0;
  for (const Graph& graph : graph::example_graphs()) {
    try {
      (void)cpu_backend().compile(graph, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
      EXPECT_NE(error.message().find("backend 'cpu' cannot run"), std::string::npos) << error.what();
      continue;
    }
    expect_as_reference(graph, graph::example_inputs(graph), graph.name());
    ++run;
  }
  EXPECT_GT(run, 50u);
}

TEST(CpuBackend, RunsTheDecompositionsOfFusedOpsAsTheReferenceRunsTheOps) {
  for (const Graph& graph : graph::example_graphs()) {
    const std::vector<Tensor> inputs = graph::example_inputs(graph);
    const Graph plain = graph::decompose(graph, [](const Graph&, const graph::Node&) { return false; });
    if (plain.nodes().size() == graph.nodes().size()) continue;
    const std::vector<Tensor> wanted = graph::interpret(graph, inputs, base::Cancellation::never());
    std::vector<Tensor> found;
    try {
      found = run_on_cpu(plain, inputs);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
      continue;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) expect_close(found[i], wanted[i], graph.name());
  }
}

// The places of those that are floats; nothing where one is narrower than f32, whose roundings add up, or complex.
std::vector<std::size_t> wide_floats(const std::vector<Shape>& shapes) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].dtype == DType::f32 || shapes[i].dtype == DType::f64) {
      places.push_back(i);
    } else if (is_float(shapes[i].dtype) || is_complex(shapes[i].dtype)) {
      return {};
    }
  }
  return places;
}

TEST(CpuBackend, AgreesWithTheReferenceOnTheGradientsOfEveryExample) {
  std::size_t run = 0;
  for (const Graph& graph : graph::example_graphs()) {
    std::vector<Tensor> inputs = graph::example_inputs(graph);
    std::vector<Shape> outputs, parameters;
    for (const Tensor& output : graph::interpret(graph, inputs, base::Cancellation::never()))
      outputs.push_back(output.shape());
    for (const graph::Parameter& parameter : graph.parameters()) parameters.push_back(parameter.shape);
    const std::vector<std::size_t> ends = wide_floats(outputs), asked = wide_floats(parameters);
    if (ends.empty() || asked.empty()) continue;
    try {
      const Graph back = graph::vector_jacobian_product(graph, ends, asked);
      for (const std::size_t end : ends) {
        Tensor cotangent = Tensor::zeros(outputs[end]);
        const std::size_t bytes = bytes_for(cotangent.dtype(), 1);
        for (std::size_t i = 0; i * bytes < cotangent.byte_count(); ++i) {
          const double value = 0.25 * static_cast<double>(i % 5) - 0.5;
          tensor::store_double(cotangent.dtype(), value, cotangent.mutable_bytes().data() + i * bytes);
        }
        inputs.push_back(cotangent);
      }
      expect_as_reference(back, inputs, back.name(), Bound::of_largest);
      ++run;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << graph.name() << ": " << error.what();
    }
  }
  EXPECT_GT(run, 100u);
}

// One attention block with merged projections: views of columns, strided operands, residuals.
Graph block(std::int64_t hidden, std::int64_t heads) {
  Builder b("block");
  const Dim tokens = b.dim("tokens", 1), sequences = b.dim("sequences", 1), longest = b.dim("longest", 1);
  const Value x = b.parameter("x", {DType::f32, {tokens, hidden}});
  const Value starts = b.parameter("starts", {DType::i32, {sequences}}),
              lengths = b.parameter("lengths", {DType::i32, {sequences}});
  b.parameter("range", {DType::i32, {longest}});
  std::vector<Value> parts;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Value y =
        b.dense({x, b.constant(seeded_tensor({hidden, hidden}, i)), b.constant(seeded_tensor({hidden}, 10 + i))},
                {.has_bias = true});
    parts.push_back(b.reshape({y}, {.dims = {tokens, heads, hidden / heads}}));
  }
  const Value mixed =
      b.ragged_attention({parts[0], parts[1], parts[2], starts, lengths}, {.scale = 0.5, .longest = longest});
  const Value out =
      b.dense({b.reshape({mixed}, {.dims = {tokens, hidden}}), b.constant(seeded_tensor({hidden, hidden}, 20))});
  const Value sum = b.add({out, x});
  b.output("y", b.layer_norm({sum, b.constant(seeded_tensor({hidden}, 21)), b.constant(seeded_tensor({hidden}, 22))},
                             {.epsilon = 1e-12}));
  b.output("pooled", b.ragged_pool({sum, starts, lengths}, {.mode = graph::PoolMode::mean, .longest = longest}));
  return b.finish();
}

std::vector<Tensor> block_inputs(const std::vector<std::int32_t>& lengths, std::int64_t hidden) {
  std::vector<std::int32_t> starts, range;
  std::int32_t tokens = 0;
  for (const std::int32_t length : lengths) {
    starts.push_back(tokens);
    tokens += length;
    for (auto place = static_cast<std::int32_t>(range.size()); place < length; ++place) range.push_back(place);
  }
  const auto ints = [](const std::vector<std::int32_t>& values) {
    return Tensor::from<std::int32_t>({static_cast<std::int64_t>(values.size())}, std::span(values));
  };
  return {seeded_tensor({tokens, hidden}, 99), ints(starts), ints(lengths), ints(range)};
}

TEST(CpuBackend, RunsAnAttentionBlockOfOddSizesAsTheReferenceDoes) {
  for (const auto& [hidden, heads] : {std::pair{36, 3}, std::pair{15, 5}, std::pair{64, 2}, std::pair{7, 1}}) {
    const Graph graph = block(hidden, heads);
    for (const std::vector<std::int32_t>& lengths : {std::vector<std::int32_t>{1}, {3, 0, 17}, {40, 1, 1, 9}}) {
      expect_as_reference(graph, block_inputs(lengths, hidden), "hidden " + std::to_string(hidden), Bound::of_largest);
    }
  }
}

TEST(CpuBackend, GivesTheSameBitsOnAnyNumberOfThreads) {
  const Graph graph = block(64, 4);
  const std::vector<Tensor> inputs = block_inputs({130, 7, 64, 1, 300}, 64);
  const std::vector<Tensor> one =
      run_on_cpu(graph, inputs, {.cancellation = base::Cancellation::never(), .max_workers = 1});
  for (const std::size_t workers : {2u, 3u, 0u}) {
    const std::vector<Tensor> many =
        run_on_cpu(graph, inputs, {.cancellation = base::Cancellation::never(), .max_workers = workers});
    for (std::size_t i = 0; i < one.size(); ++i)
      EXPECT_TRUE(std::equal(one[i].bytes().begin(), one[i].bytes().end(), many[i].bytes().begin()))
          << workers << " workers";
  }
}

TEST(CpuBackend, ServesManyThreadsAndSizesAtOnce) {
  const Graph graph = block(32, 2);
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(graph, {});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 10; ++round) {
        const std::vector<Tensor> inputs = block_inputs({t + 1, 2 * round + 1}, 32);
        const std::vector<Buffer> buffers(inputs.begin(), inputs.end());
        std::vector<Buffer> outputs(2);
        executable->run(buffers, outputs, {.cancellation = base::Cancellation::never()});
        const std::vector<Tensor> wanted = run_on_cpu(graph, inputs);
        if (!std::equal(wanted[0].bytes().begin(), wanted[0].bytes().end(), outputs[0].host()->bytes().begin()))
          ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(CpuBackend, WritesIntoOutputsThatTheCallerGives) {
  Builder b("g");
  const Value x = b.parameter("x", {DType::f32, {2}});
  b.output("y", b.neg({x}));
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(b.finish(), {});
  const Tensor given = Tensor::zeros({DType::f32, {2}});
  std::vector<Buffer> outputs = {given};
  executable->run(std::vector<Buffer>{Tensor::from<float>({2}, {1, -2})}, outputs,
                  {.cancellation = base::Cancellation::never()});
  EXPECT_EQ(given.values<float>()[0], -1);
  EXPECT_EQ(given.values<float>()[1], 2);
  outputs = {Tensor::zeros({DType::f32, {3}})};
  EXPECT_THROW(executable->run(std::vector<Buffer>{Tensor::from<float>({2}, {1, -2})}, outputs,
                               {.cancellation = base::Cancellation::never()}),
               Error);
}

TEST(CpuBackend, WritesIntoAnOutputThatIsAnInputsMemory) {
  Builder b("g");
  const Value x = b.parameter("x", {DType::f32, {4}});
  b.output("reversed", b.reverse({x}, {.axes = {0}}));
  b.output("doubled", b.add({x, x}));
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(b.finish(), {});
  const Tensor memory = Tensor::from<float>({4}, {1, 2, 3, 4});
  std::vector<Buffer> outputs = {memory, Buffer()};
  executable->run(std::vector<Buffer>{memory}, outputs, {.cancellation = base::Cancellation::never()});
  EXPECT_TRUE(std::ranges::equal(memory.values<float>(), std::vector<float>{4, 3, 2, 1}));
  EXPECT_TRUE(std::ranges::equal(outputs[1].host()->values<float>(), std::vector<float>{2, 4, 6, 8}));
}

TEST(CpuBackend, ComputesResultsThatAreTooLargeForTheCaches) {
  constexpr std::int64_t kRows = 9000, kColumns = 501;  // 18 MB
  Builder b("g");
  const Value x = b.parameter("x", {DType::f32, {kRows, kColumns}});
  const Value counted = b.iota({}, {.dtype = DType::f32, .dims = {kColumns}, .axis = 0});
  b.output("sum", b.add({x, b.broadcast_in_dim({counted}, {.dims = {kRows, kColumns}, .mapping = {1}})}));
  b.output("turned", b.transpose({x}, {.permutation = {1, 0}}));
  b.output("later", b.slice({x}, {.starts = {1, 0}, .limits = {kRows, kColumns}, .strides = {}}));
  b.output("wide", b.concatenate({x, x}, {.axis = 1}));
  b.output("rows", b.gather({x, b.parameter("places", {DType::i32, {kRows}})}, {.offset_dims = {1},
                                                                                .collapsed_slice_dims = {0},
                                                                                .start_index_map = {0},
                                                                                .index_vector_dim = 1,
                                                                                .slice_sizes = {1, kColumns}}));
  Tensor values = Tensor::zeros({DType::f32, {kRows, kColumns}});
  const std::span<float> in = values.mutable_values<float>();
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 4093);
  Tensor places = Tensor::zeros({DType::i32, {kRows}});
  for (std::int64_t row = 0; row < kRows; ++row)
    places.mutable_values<std::int32_t>()[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(row * 7 % kRows);
  const std::vector<Tensor> outputs = run_on_cpu(b.finish(), {values, places});
  const std::span<const float> sum = outputs[0].values<float>(), turned = outputs[1].values<float>(),
                               later = outputs[2].values<float>(), wide = outputs[3].values<float>(),
                               rows = outputs[4].values<float>();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t row = i / kColumns, column = i % kColumns;
    wrong += sum[i] != in[i] + static_cast<float>(column) || turned[column * kRows + row] != in[i];
    wrong += i >= kColumns && later[i - kColumns] != in[i];
    wrong += wide[2 * row * kColumns + column] != in[i] || wide[(2 * row + 1) * kColumns + column] != in[i];
    wrong += rows[i] != in[row * 7 % kRows * kColumns + column];
  }
  EXPECT_EQ(wrong, 0U);
}

TEST(CpuBackend, GivesInputsAndConstantsThatAreOutputs) {
  Builder b("g");
  const Value x = b.parameter("x", {DType::f32, {2, 2}});
  const Value twice = b.add({x, x});
  b.output("x", x);
  b.output("flat", b.reshape({twice}, {.dims = {4}}));
  b.output("twice", twice);
  b.output("again", twice);
  b.output("constant", b.constant(Tensor::from<float>({2}, {5, 6})));
  b.output("column", b.slice({x}, {.starts = {0, 1}, .limits = {2, 2}, .strides = {}}));
  const std::vector<Tensor> outputs = run_on_cpu(b.finish(), {Tensor::from<float>({2, 2}, {1, 2, 3, 4})});
  const auto values = [&](std::size_t i) {
    return std::vector<float>(outputs[i].values<float>().begin(), outputs[i].values<float>().end());
  };
  EXPECT_EQ(values(0), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(values(1), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(values(2), values(1));
  EXPECT_EQ(values(3), values(1));
  EXPECT_EQ(values(4), (std::vector<float>{5, 6}));
  EXPECT_EQ(values(5), (std::vector<float>{2, 4}));
  EXPECT_EQ(to_string(outputs[1].shape()), "f32[4]");
}

TEST(CpuBackend, NamesOpDtypeAndSourceOfWhatItCannotRun) {
  Builder b("g");
  b.set_source("the last layer");
  b.output("y", b.exp({b.parameter("x", {DType::f64, {2}})}));
  try {
    backends::require_native("cpu", b.finish(), [](const Graph& graph, const graph::Node& node) {
      return backends::look_up({}, graph, node);
    });
    FAIL() << "a table without rows has exp of f64";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_EQ(error.message(),
              "backend 'cpu' cannot run exp for f64 (from the last layer): no native exp for f64; choose another "
              "backend, for example 'reference': exp");
  }
}

TEST(CpuBackend, RefusesInputsThatDoNotFit) {
  const Graph graph = block(16, 2);
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(graph, {});
  const auto run = [&](std::vector<Tensor> inputs) {
    const std::vector<Buffer> buffers(inputs.begin(), inputs.end());
    std::vector<Buffer> outputs(2);
    executable->run(buffers, outputs, {.cancellation = base::Cancellation::never()});
  };
  std::vector<Tensor> inputs = block_inputs({3, 4}, 16);
  inputs[1] = Tensor::from<std::int32_t>({2}, {0, 6});  // the second sequence ends past the tokens
  EXPECT_THROW(run(inputs), Error);
  inputs = block_inputs({3, 4}, 16);
  inputs[2] = Tensor::from<std::int32_t>({3}, {1, 2, 4});
  EXPECT_THROW(run(inputs), Error);
  inputs = block_inputs({3, 4}, 16);
  inputs[3] = Tensor::from<std::int32_t>({3}, {0, 1, 2});  // the second sequence is longer than `longest`
  EXPECT_THROW(run(inputs), Error);
}

TEST(CpuBackend, StopsBetweenStepsWhenCancelled) {
  const std::function<bool()> cancelled = [] { return true; };
  try {
    run_on_cpu(block(16, 2), block_inputs({3}, 16), {.cancellation = base::Cancellation::when(cancelled)});
    FAIL() << "the run went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

TEST(WeightStore, HoldsAWeightOnceHoweverManyProgramsUseIt) {
  const auto weights = std::make_shared<backends::WeightStore>();
  const Graph graph = block(64, 4);
  (void)cpu_backend().compile(graph, {.weights = weights});
  const std::size_t once = weights->owned_bytes();
  EXPECT_GE(once, 4u * 64 * 64 * sizeof(float));
  (void)cpu_backend().compile(graph, {.weights = weights});
  EXPECT_EQ(weights->owned_bytes(), once);
}

TEST(Registry, KnowsBackendsByNameAndAlias) {
  EXPECT_EQ(backends::get_backend("cpu").name(), "cpu");
  EXPECT_EQ(&backends::get_backend("simplego"), &backends::get_backend("cpu"));
  EXPECT_EQ(backends::get_backend("reference").devices().size(), 1u);
  try {
    backends::get_backend("abacus");
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_NE(error.message().find("cpu"), std::string::npos);
  }
}

}  // namespace
}  // namespace alate::cpu
