// Steps that run in blocks of rows: which those are, and that nothing can be seen of it in the results.
#include "backends/cpu/run/row_blocks.h"

#include <functional>

#include "alate/error.h"
#include "tests/unit/backends/cpu/plan_testing.h"

namespace alate::cpu {
namespace {

using graph::Builder;
using graph::Value;

constexpr std::int64_t kWidth = 48;

Shape f32(std::vector<Dim> dims) { return {DType::f32, std::move(dims)}; }

Value weights(Builder& b, std::vector<std::int64_t> extents, unsigned seed) {
  return b.constant(random_tensor(DType::f32, extents, seed));
}

Value norm(Builder& b, Value x) { return b.layer_norm({x, weights(b, {kWidth}, 7), weights(b, {kWidth}, 8)}, {}); }

Value product(Builder& b, Value x, std::int64_t in, std::int64_t out, unsigned seed) {
  return b.dense({x, weights(b, {out, in}, seed), weights(b, {out}, seed + 1)}, {.has_bias = true});
}

// What a transformer's layer does behind attention, twice as wide inside.
Value feed_forward(Builder& b, Value x) {
  const Value wide = b.gelu({product(b, x, kWidth, 2 * kWidth, 1)}, {});
  const Value narrow = b.dense({wide, weights(b, {kWidth, 2 * kWidth}, 3), x}, {.has_residual = true});
  return norm(b, narrow);
}

TEST(RowGroups, AreTheStepsBetweenThoseThatMixRows) {
  Builder b("layers");
  const Value x = b.parameter("x", f32({b.dim("tokens"), kWidth}));
  const Value before = feed_forward(b, x);
  const Value mixed = b.cumulative_sum({before}, {.axis = 0});
  b.output("y", feed_forward(b, mixed));
  const Program program(std::move(b));
  ASSERT_EQ(program.plan.row_groups.size(), 2U);
  const RowGroup &first = program.plan.row_groups[0], &second = program.plan.row_groups[1];
  EXPECT_EQ(first.first, 0U);
  EXPECT_EQ(first.end + 1, second.first) << "the step between them is the sum over rows";
  EXPECT_EQ(second.end, program.plan.steps.size());
  EXPECT_FALSE(first.inner.empty());
  for (const std::int64_t tokens : {1, 31, 32, 79, 300})
    expect_equal_runs(program, {random_tensor(DType::f32, {tokens, kWidth}, 5)});
}

TEST(RowGroups, KeepWhatOthersRead) {
  Builder b("outputs");
  const Value x = b.parameter("x", f32({b.dim("tokens"), kWidth}));
  const Value first = norm(b, x), second = feed_forward(b, first);
  b.output("first", first);                                // of the middle of the group
  b.output("second", second);                              // of its end
  b.output("sum", b.reduce_sum({second}, {.axes = {0}}));  // by a step behind it
  b.output("half",
           b.slice({second}, {.starts = {Dim(0), Dim(16)}, .limits = {b.dim("tokens"), Dim(32)}, .strides = {}}));
  const Program program(std::move(b));
  ASSERT_EQ(program.plan.row_groups.size(), 1U);
  for (const std::int64_t tokens : {64, 97})
    expect_equal_runs(program, {random_tensor(DType::f32, {tokens, kWidth}, 6)});
}

TEST(RowGroups, TakeColumnsOfMatricesAndRowsOfTables) {
  Builder b("views");
  const Dim tokens = b.dim("tokens");
  const Value x = b.parameter("x", f32({tokens, kWidth})), ids = b.parameter("ids", {DType::i32, {tokens}});
  const Value table = weights(b, {100, kWidth}, 9);
  const Value rows = graph::take_rows(b, table, ids);
  const Value sum = b.add({rows, norm(b, x)});
  const Value wide = product(b, sum, kWidth, 3 * kWidth, 11);
  const Value part =
      b.slice({wide}, {.starts = {Dim(0), Dim(kWidth)}, .limits = {tokens, Dim(2 * kWidth)}, .strides = {}});
  b.output("y", feed_forward(b, part));
  const Program program(std::move(b));
  ASSERT_EQ(program.plan.row_groups.size(), 1U);
  EXPECT_EQ(program.plan.row_groups[0].end, program.plan.steps.size());
  Tensor indices = random_tensor(DType::i32, {133}, 4);
  for (std::int32_t& id : indices.mutable_values<std::int32_t>()) id = std::abs(id) % 100;
  expect_equal_runs(program, {random_tensor(DType::f32, {133, kWidth}, 5), indices});
}

TEST(RowGroups, EndWhereAWholeMatrixOfTheGroupIsRead) {
  Builder b("whole");
  const Dim tokens = b.dim("tokens");
  const Value x = b.parameter("x", f32({tokens, kWidth}));
  const Value y = feed_forward(b, x);
  const Value scores =
      b.dot_general({y, y}, {.lhs_batch = {}, .rhs_batch = {}, .lhs_contracting = {1}, .rhs_contracting = {1}});
  b.output("y", b.softmax({scores}, {.axis = 1}));
  const Program program(std::move(b));
  for (const RowGroup& group : program.plan.row_groups) EXPECT_LT(group.end, program.plan.steps.size());
  expect_equal_runs(program, {random_tensor(DType::f32, {70, kWidth}, 5)});
}

TEST(RowGroups, AreTakenInBlocksThatAreWorthAThread) {
  EXPECT_EQ(row_block_count(1000, 1, 0), 1U);
  EXPECT_EQ(row_block_count(0, 4, 0), 1U);
  EXPECT_EQ(row_block_count(8, 4, 0), 1U) << "a thread would read all weights for two rows";
  EXPECT_EQ(row_block_count(64, 2, 0), 2U);
  const std::size_t many = row_block_count(10'000, 3, 0);
  EXPECT_EQ(many % 3, 0U) << "as many for each thread";
  EXPECT_LE(10'000 / many, 128U) << "what lies between the steps stays in the cache";
  constexpr std::size_t kLarge = std::size_t{170} << 20;
  EXPECT_EQ(row_block_count(64, 2, kLarge), 1U) << "both threads would read all weights from memory";
  EXPECT_EQ(row_block_count(1000, 3, kLarge), row_block_count(1000, 3, 0)) << "for much work";
}

TEST(RowGroups, TellEachStepOnceWithTheWorkOfAllRows) {
  Builder b("layer");
  const Value x = b.parameter("x", f32({b.dim("tokens"), kWidth}));
  b.output("y", feed_forward(b, x));
  const Program program(std::move(b));
  std::vector<backends::StepTime> alone, shared;
  const std::vector<Tensor> inputs = {random_tensor(DType::f32, {96, kWidth}, 5)};
  program.run(inputs, 1, {.cancellation = base::Cancellation::never(), .profile = &alone});
  program.run(inputs, 3, {.cancellation = base::Cancellation::never(), .profile = &shared});
  ASSERT_EQ(alone.size(), program.plan.steps.size());
  ASSERT_EQ(shared.size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(shared[i].kernel, alone[i].kernel);
    EXPECT_EQ(shared[i].work.flops, alone[i].work.flops) << shared[i].kernel;
  }
}

TEST(RowGroups, StopWhenTheRunIsCancelled) {
  Builder b("layer");
  const Value x = b.parameter("x", f32({b.dim("tokens"), kWidth}));
  b.output("y", feed_forward(b, x));
  const Program program(std::move(b));
  const std::function<bool()> always = [] { return true; };
  try {
    program.run({random_tensor(DType::f32, {96, kWidth}, 5)}, 3, {.cancellation = base::Cancellation::when(always)});
    FAIL() << "the run went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace alate::cpu
