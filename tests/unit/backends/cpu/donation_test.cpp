// Outputs in the memory of donated parameters: by addresses, by values, and by what the facts say.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "alate/error.h"
#include "backends/cpu/cpu_backend.h"
#include "graph/builder.h"
#include "graph/builder_functions.h"
#include "graph/interpreter.h"
#include "tests/unit/backends/cpu/plan_testing.h"
#include "tests/unit/base/expect_error.h"

namespace alate::cpu {
namespace {

using backends::AliasFacts;
using backends::Buffer;
using graph::Builder;
using graph::Graph;
using graph::Value;

constexpr std::int64_t kRows = 6, kWidth = 4;

Tensor copy_of(const Tensor& tensor) { return detail::copy_of(tensor.shape(), tensor.bytes()); }

bool has_equal_bytes(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::ranges::equal(a.bytes(), b.bytes());
}

std::vector<AliasFacts> aliases_of(const Graph& graph) { return cpu_backend().compile(graph, {})->facts().aliases; }

// Runs the graph with each donated parameter's buffer as the buffer of the output that aliases it, with a buffer apart,
// and without one. Values must be the reference's, addresses as the facts say, and nothing else may be written.
void expect_as_reference(const Graph& graph, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> wanted = graph::interpret(graph, inputs, base::Cancellation::never());
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(graph, {});
  enum class Given { same, apart, none };
  for (const Given given : {Given::same, Given::apart, Given::none}) {
    std::vector<Buffer> buffers, outputs(wanted.size());
    for (const Tensor& input : inputs) buffers.emplace_back(copy_of(input));
    std::vector<bool> is_donated(inputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto& parameter = graph.outputs()[i].aliases_parameter;
      if (!parameter || given == Given::none) continue;
      is_donated[*parameter] = given == Given::same;
      outputs[i] = given == Given::same ? buffers[*parameter] : Buffer(Tensor::zeros(inputs[*parameter].shape()));
    }
    const std::vector<Buffer> handed = outputs;
    executable->run(buffers, outputs, {.cancellation = base::Cancellation::never()});
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_TRUE(has_equal_bytes(*outputs[i].host(), wanted[i])) << graph.outputs()[i].name;
      if (!handed[i].empty()) {
        EXPECT_EQ(outputs[i].host()->bytes().data(), handed[i].host()->bytes().data());
      }
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!is_donated[i]) {
        EXPECT_TRUE(has_equal_bytes(*buffers[i].host(), inputs[i])) << "input " << i;
      }
    }
  }
}

// The plan on any number of threads, with outputs in place and apart.
void expect_as_reference_on_threads(const Program& program, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> wanted = graph::interpret(program.graph, inputs, base::Cancellation::never());
  for (const std::size_t workers : {1, 2, 5}) {
    const std::vector<Tensor> apart = program.run(inputs, workers), in_place = program.run_in_place(inputs, workers);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_TRUE(has_equal_bytes(apart[i], wanted[i])) << "output " << i << ", apart, " << workers << " threads";
      EXPECT_TRUE(has_equal_bytes(in_place[i], wanted[i])) << "output " << i << ", in place, " << workers << " threads";
    }
  }
}

void expect_in_place(const Graph& graph) {
  for (const AliasFacts& alias : aliases_of(graph)) {
    EXPECT_TRUE(alias.in_place) << alias.output << ": " << alias.copy_reason;
    EXPECT_EQ(alias.copy_reason, "");
  }
}

// `x` with a row of `rows` added to each of its rows `places`.
Value scatter_rows(Builder& b, Value x, Value places, Value rows) {
  return b.scatter_sum({x, places, rows}, {.update_window_dims = {1},
                                           .inserted_window_dims = {0},
                                           .input_batching_dims = {},
                                           .scatter_indices_batching_dims = {},
                                           .scatter_dims_to_operand_dims = {0},
                                           .index_vector_dim = 1});
}

// A cache of rows, rows to write and where to begin.
struct Cache {
  Builder b{"cache"};
  Value cache = b.parameter("cache", {DType::i32, {kRows, kWidth}}, true);
  Value rows = b.parameter("rows", {DType::i32, {2, kWidth}});
  Value place = b.parameter("place", {DType::i32, {}});
  Value zero = b.scalar(DType::i32, 0);

  Value updated(Value from, Value at) { return b.dynamic_update_slice({from, rows, at, zero}); }
  Value updated(Value from) { return updated(from, place); }
  Value added(Value from, Value places) { return scatter_rows(b, from, places, rows); }

  static std::vector<Tensor> inputs() {
    return {random_tensor(DType::i32, {kRows, kWidth}, 1), random_tensor(DType::i32, {2, kWidth}, 2),
            Tensor::scalar(std::int32_t{3})};
  }
};

TEST(CpuDonation, WritesASliceIntoTheDonatedBuffer) {
  Cache c;
  c.b.output("cache", c.updated(c.cache), 0);
  const Graph graph = c.b.finish();
  const std::vector<AliasFacts> aliases = aliases_of(graph);
  ASSERT_EQ(aliases.size(), 1U);
  EXPECT_EQ(aliases[0].output, "cache");
  EXPECT_EQ(aliases[0].parameter, "cache");
  expect_in_place(graph);
  expect_as_reference(graph, Cache::inputs());
}

// In place, an update moves only its own rows.
TEST(CpuDonation, MovesTheWholeOnlyIfTheBuffersDiffer) {
  Cache c;
  c.b.output("cache", c.updated(c.cache), 0);
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(c.b.finish(), {});
  const auto bytes_moved = [&](bool is_given) {
    std::vector<Buffer> inputs, outputs(1);
    for (const Tensor& input : Cache::inputs()) inputs.emplace_back(input);
    if (is_given) outputs = {inputs[0]};
    std::vector<backends::StepTime> steps;
    executable->run(inputs, outputs, {.cancellation = base::Cancellation::never(), .profile = &steps});
    return steps.at(0).work.bytes;
  };
  constexpr double kElementBytes = sizeof(std::int32_t), kPlaces = 2 * kElementBytes;
  EXPECT_EQ(bytes_moved(true), 2 * 2 * kWidth * kElementBytes + kPlaces);
  EXPECT_EQ(bytes_moved(false), (2 * 2 + 2 * kRows) * kWidth * kElementBytes + kPlaces);
}

TEST(CpuDonation, ScattersIntoTheDonatedBuffer) {
  Cache c;
  c.b.output("cache", c.added(c.cache, c.b.constant(Tensor::from<std::int32_t>({2}, {4, 4}))), 0);
  const Graph graph = c.b.finish();
  expect_in_place(graph);
  expect_as_reference(graph, Cache::inputs());
}

TEST(CpuDonation, WritesThroughReshapes) {
  Cache c;
  const Value flat = c.b.reshape({c.cache}, {.dims = {kRows * kWidth}});
  const Value part = c.b.reshape({c.rows}, {.dims = {2 * kWidth}});
  const Value updated = c.b.dynamic_update_slice({flat, part, c.place});
  c.b.output("cache", c.b.reshape({updated}, {.dims = {kRows, kWidth}}), 0);
  const Graph graph = c.b.finish();
  expect_in_place(graph);
  expect_as_reference(graph, Cache::inputs());
}

// p - rate · g, with moments that are donated too.
TEST(CpuDonation, UpdatesAnOptimizersStateInPlace) {
  Builder b("momentum");
  const Shape shape{DType::i32, {1000}};  // two tiles, the second shorter
  const Value p = b.parameter("p", shape, true), m = b.parameter("m", shape, true), g = b.parameter("g", shape);
  const Value moment = b.add({b.mul({m, scalar_like(b, 3, m)}), g});
  b.output("p", b.sub({b.sub({p, b.mul({moment, scalar_like(b, 2, m)})}), b.mul({p, scalar_like(b, 7, p)})}), 0);
  b.output("m", moment, 1);
  const Graph graph = b.finish();
  expect_in_place(graph);
  expect_as_reference(graph, {random_tensor(DType::i32, {1000}, 1), random_tensor(DType::i32, {1000}, 2),
                              random_tensor(DType::i32, {1000}, 3)});
}

// Results of this size bypass the caches.
TEST(CpuDonation, UpdatesMoreThanTheCachesHoldInPlace) {
  constexpr std::int64_t kCount = (std::int64_t{1} << 22) + 100;
  Builder b("descent");
  const Value p = b.parameter("p", {DType::i32, {kCount}}, true), g = b.parameter("g", {DType::i32, {kCount}});
  b.output("p", b.sub({p, b.mul({g, scalar_like(b, 2, g)})}), 0);
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(b.finish(), {});
  Tensor memory = Tensor::uninitialized({DType::i32, {kCount}}), gradient = Tensor::uninitialized(memory.shape());
  const std::span<std::int32_t> old = memory.mutable_values<std::int32_t>();
  const std::span<std::int32_t> changes = gradient.mutable_values<std::int32_t>();
  for (std::size_t i = 0; i < old.size(); ++i) {
    old[i] = static_cast<std::int32_t>(3 * i);
    changes[i] = static_cast<std::int32_t>(i);
  }
  std::vector<Buffer> outputs = {memory};
  executable->run(std::vector<Buffer>{memory, gradient}, outputs, {.cancellation = base::Cancellation::never()});
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < old.size(); ++i) wrong += old[i] == changes[i] ? 0 : 1;
  EXPECT_EQ(wrong, 0U);
}

TEST(CpuDonation, WritesAChainOfUpdatesWhoseValuesAreRead) {
  Cache c;
  const Value once = c.updated(c.cache);
  const Value twice = c.added(once, c.b.constant(Tensor::from<std::int32_t>({2}, {0, 5})));
  const Value thrice = c.updated(twice, c.b.scalar(DType::i32, 1));
  c.b.output("cache", thrice, 0);
  c.b.output("sum of the second", c.b.reduce_sum({twice}, {.axes = {0}}));
  c.b.output("sum of the first", c.b.reduce_sum({once}, {.axes = {1}}));
  c.b.output("sum of the old", c.b.reduce_sum({c.cache}, {.axes = {0, 1}}));
  c.b.output("rest", c.b.reduce_sum({thrice}, {.axes = {0}}));
  const Graph graph = c.b.finish();
  expect_in_place(graph);
  expect_as_reference(graph, Cache::inputs());
}

TEST(CpuDonation, LetsReadersOfTheOldValueRunFirst) {
  Cache c;
  const Value updated = c.updated(c.cache);
  const Value old_scores = graph::matmul(c.b, c.rows, c.b.transpose({c.cache}, {.permutation = {1, 0}}));
  const Value new_scores = graph::matmul(c.b, c.rows, c.b.transpose({updated}, {.permutation = {1, 0}}));
  c.b.output("cache", updated, 0);
  c.b.output("old", graph::matmul(c.b, old_scores, c.cache));
  c.b.output("new", graph::matmul(c.b, new_scores, updated));
  c.b.output("columns", c.b.slice({c.cache}, {.starts = {0, 1}, .limits = {kRows, 3}, .strides = {}}));
  const Graph graph = c.b.finish();
  expect_in_place(graph);
  expect_as_reference(graph, Cache::inputs());
}

TEST(CpuDonation, ReusesTheBufferForAValueOfOtherOps) {
  Builder b("state");
  const Value state = b.parameter("state", {DType::f32, {3, 3}}, true);
  b.output("state", b.softmax({graph::matmul(b, state, state)}, {.axis = 1}), 0);
  const Graph graph = b.finish();
  expect_in_place(graph);
  const Tensor given = random_tensor(DType::f32, {3, 3}, 4);
  std::vector<Buffer> inputs = {copy_of(given)}, outputs = inputs, apart(1);
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(graph, {});
  executable->run(std::vector<Buffer>{given}, apart, {.cancellation = base::Cancellation::never()});
  executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
  EXPECT_TRUE(has_equal_bytes(*outputs[0].host(), *apart[0].host()));
}

TEST(CpuDonation, PassesAParameterOnWithoutCopyingIt) {
  Cache c;
  c.b.output("cache", c.b.identity({c.cache}), 0);
  c.b.output("sum", c.b.reduce_sum({c.cache}, {.axes = {0}}));
  const Graph graph = c.b.finish();
  expect_in_place(graph);
  expect_as_reference(graph, Cache::inputs());
}

TEST(CpuDonation, CopiesWhereAStepNeedsBothValues) {
  Cache c;
  const Value updated = c.updated(c.cache);
  c.b.output("cache", updated, 0);
  c.b.output("change", c.b.sub({updated, c.cache}));
  const Graph graph = c.b.finish();
  const AliasFacts alias = aliases_of(graph).at(0);
  EXPECT_FALSE(alias.in_place);
  EXPECT_EQ(alias.copy_reason, "sub needs 'cache' as it was before dynamic_update_slice and what that makes of it");
  expect_as_reference(graph, Cache::inputs());
}

TEST(CpuDonation, CopiesWhatAnOpCannotWriteOver) {
  Cache c;
  c.b.output("cache", c.b.reverse({c.cache}, {.axes = {0}}), 0);
  const Graph reversed = c.b.finish();
  EXPECT_EQ(aliases_of(reversed).at(0).copy_reason, "reverse reads 'cache' and cannot write over it");
  expect_as_reference(reversed, Cache::inputs());
  // Rows of the parameter are added to others of its rows.
  Builder b("rows to rows");
  const Value x = b.parameter("x", {DType::i32, {2, 4}}, true);
  const Value places = b.constant(Tensor::from<std::int32_t>({2}, {1, 0}));
  b.output("x", scatter_rows(b, x, places, x), 0);
  const Graph shifted = b.finish();
  EXPECT_EQ(aliases_of(shifted).at(0).copy_reason, "scatter_sum reads 'x' and cannot write over it");
  expect_as_reference(shifted, {random_tensor(DType::i32, {2, 4}, 5)});
  // Sums of bf16 are sums of f32 copies.
  Builder halves("halves");
  const Value h = halves.parameter("h", {DType::bf16, {2, 4}}, true), u = halves.parameter("u", {DType::bf16, {2, 4}});
  halves.output("h", scatter_rows(halves, h, halves.constant(Tensor::from<std::int32_t>({2}, {1, 0})), u), 0);
  EXPECT_FALSE(aliases_of(halves.finish()).at(0).in_place);
}

TEST(CpuDonation, SwapsTwoParametersWithOneCopy) {
  Builder b("swap");
  const Value x = b.parameter("x", {DType::i32, {8}}, true), y = b.parameter("y", {DType::i32, {8}}, true);
  b.output("x", y, 0);
  b.output("y", x, 1);
  const Graph graph = b.finish();
  const std::vector<AliasFacts> aliases = aliases_of(graph);
  EXPECT_TRUE(aliases.at(0).in_place);
  EXPECT_FALSE(aliases.at(1).in_place);
  EXPECT_NE(aliases.at(1).copy_reason, "");
  expect_as_reference(graph, {random_tensor(DType::i32, {8}, 1), random_tensor(DType::i32, {8}, 2)});
}

TEST(CpuDonation, GivesOneValueToTwoDonatedParameters) {
  Builder b("twice");
  const Value x = b.parameter("x", {DType::i32, {8}}, true), y = b.parameter("y", {DType::i32, {8}}, true);
  const Value sum = b.add({x, y});
  b.output("x", sum, 0);
  b.output("y", b.add({x, y}), 1);
  b.output("more", b.neg({sum}));
  const Graph graph = b.finish();
  expect_as_reference(graph, {random_tensor(DType::i32, {8}, 1), random_tensor(DType::i32, {8}, 2)});
}

// A row of the sum needs rows of the old value that other threads write.
TEST(CpuDonation, KeepsWholeReadersApartFromRowWiseWriters) {
  Builder b("rows");
  const Dim rows = b.dim("rows", 1);
  const Value x = b.parameter("x", {DType::i32, {rows, 8}}, true), places = b.parameter("places", {DType::i32, {rows}});
  const Value doubled = b.add({x, x}), picked = take_rows(b, x, places);
  b.output("x", b.add({doubled, b.mul({picked, doubled})}), 0);
  b.output("picked", picked);
  const Program program(std::move(b));
  ASSERT_TRUE(program.plan.aliases.at(0).in_place) << program.plan.aliases[0].copy_reason;
  Tensor reversed = Tensor::zeros({DType::i32, {301}});
  for (std::int32_t i = 0; i < 301; ++i) reversed.mutable_values<std::int32_t>()[static_cast<std::size_t>(i)] = 300 - i;
  expect_as_reference_on_threads(program, {random_tensor(DType::i32, {301, 8}, 6), reversed});
}

TEST(CpuDonation, WritesRowsInPlaceOnEachThread) {
  Builder b("rows");
  const Dim rows = b.dim("rows", 1);
  const Value x = b.parameter("x", {DType::i32, {rows, 8}}, true), y = b.parameter("y", {DType::i32, {rows, 8}});
  const Value sum = b.add({x, y});
  b.output("sum", sum);
  b.output("x", b.mul({b.sub({x, sum}), x}), 0);
  const Program program(std::move(b));
  ASSERT_TRUE(program.plan.aliases.at(0).in_place) << program.plan.aliases[0].copy_reason;
  EXPECT_EQ(program.plan.row_groups.size(), 1U);
  expect_as_reference_on_threads(program,
                                 {random_tensor(DType::i32, {301, 8}, 7), random_tensor(DType::i32, {301, 8}, 8)});
}

TEST(CpuDonation, KeepsOtherInputsInTheSameMemory) {
  Builder b("sum");
  const Value x = b.parameter("x", {DType::i32, {4}}, true), y = b.parameter("y", {DType::i32, {4}});
  const Value ones = scalar_like(b, 1, x);
  b.output("x", b.add({x, ones}), 0);
  b.output("old", b.reverse({y}, {.axes = {0}}));
  b.output("product", b.mul({b.add({x, ones}), y}));
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(b.finish(), {});
  const Tensor memory = Tensor::from<std::int32_t>({4}, {1, 2, 3, 4});
  std::vector<Buffer> outputs = {memory, Buffer(), Buffer()};
  executable->run(std::vector<Buffer>{memory, memory}, outputs, {.cancellation = base::Cancellation::never()});
  EXPECT_TRUE(std::ranges::equal(memory.values<std::int32_t>(), std::vector<std::int32_t>{2, 3, 4, 5}));
  EXPECT_TRUE(std::ranges::equal(outputs[1].host()->values<std::int32_t>(), std::vector<std::int32_t>{4, 3, 2, 1}));
  EXPECT_TRUE(std::ranges::equal(outputs[2].host()->values<std::int32_t>(), std::vector<std::int32_t>{2, 6, 12, 20}));
}

TEST(CpuDonation, RefusesABufferThatOverlapsAPartOfTheDonatedOne) {
  Cache c;
  c.b.output("cache", c.updated(c.cache), 0);
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(c.b.finish(), {});
  const std::vector<Tensor> inputs = Cache::inputs();
  const Tensor memory = copy_of(inputs[0]);
  const auto none = std::make_shared<int>();
  // It is refused before it is read: its end is past the memory's.
  const Tensor shifted = Tensor::borrow(memory.shape(), memory.bytes().data() + sizeof(std::int32_t), none);
  std::vector<Buffer> outputs = {memory};
  const Error error = base::error_of([&] {
    executable->run(std::vector<Buffer>{shifted, inputs[1], inputs[2]}, outputs,
                    {.cancellation = base::Cancellation::never()});
  });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.message(),
            "the buffer of output 'cache' overlaps a part of the buffer of input 'cache', which it aliases: give the "
            "same buffer for both, or one that is apart");
  EXPECT_TRUE(has_equal_bytes(memory, inputs[0]));
}

TEST(CpuDonation, NeedsNoMemoryForOutputsInPlace) {
  const auto outputs_of = [](bool is_in_place) {
    Cache c;
    c.b.output("cache", is_in_place ? c.updated(c.cache) : c.b.reverse({c.cache}, {.axes = {0}}), 0);
    const backends::DimSettings none;
    return cpu_backend().memory_needs(c.b.finish(), std::span(&none, 1)).at(0).outputs;
  };
  EXPECT_EQ(outputs_of(true), 0U);
  EXPECT_EQ(outputs_of(false), static_cast<std::size_t>(kRows * kWidth) * sizeof(std::int32_t));
}

}  // namespace
}  // namespace alate::cpu
