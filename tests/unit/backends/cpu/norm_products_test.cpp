// Norms whose rows become integers in the same pass: the kernel, and the steps that are joined.
#include "backends/cpu/kernels/quantize/normalize_quantize.h"

#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "backends/cpu/steps/operations.h"
#include "tests/unit/backends/cpu/kernel_testing.h"
#include "tests/unit/backends/cpu/plan_testing.h"

namespace alate::cpu {
namespace {

using graph::Builder;
using graph::Value;
using kernel_testing::random_floats;
using kernel_testing::same_bits;

class NormProducts : public kernel_testing::EveryInstructionSet {};
INSTANTIATE_TEST_SUITE_P(Sets, NormProducts, ::testing::ValuesIn(base::runnable_instruction_sets()),
                         kernel_testing::set_name);

struct Case {
  std::size_t rows, width, groups;
  WordKind words;
  NormKind norm;
  bool smooths, adds, in_place, rotates;
};

// What a norm and the rounding of its rows write.
struct Written {
  std::vector<float> out, sum, scales, offsets;
  std::vector<std::uint32_t> words;
};

// In one pass or in two.
Written run_case(const Case& c, bool in_one, std::size_t threads, const Kernels& set) {
  const auto x = random_floats(c.rows * c.width, 1, 3), residual = random_floats(c.rows * c.width, 2),
             bias = random_floats(c.width, 3), scale = random_floats(c.width, 4), shift = random_floats(c.width, 5),
             smoothing = random_floats(c.width, 6);
  const std::size_t words = quantized_row_words(c.width, c.groups, c.words);
  Written written{.out = c.in_place ? x : std::vector<float>(x.size()),
                  .sum = std::vector<float>(x.size()),
                  .scales = std::vector<float>(c.rows * c.groups),
                  .offsets = std::vector<float>(c.rows * c.groups),
                  .words = std::vector<std::uint32_t>(c.rows * words, 0xdeadbeef)};
  NormArguments norm{.x = c.in_place ? written.out.data() : x.data(),
                     .x_stride = c.width,
                     .scale = scale.data(),
                     .shift = c.norm == NormKind::layer ? shift.data() : nullptr,
                     .epsilon = 1e-5f,
                     .out = written.out.data(),
                     .out_stride = c.width,
                     .rows = c.rows,
                     .width = c.width};
  if (c.adds) {
    norm.residual = residual.data();
    norm.bias = bias.data();
    norm.residual_stride = norm.sum_stride = c.width;
    if (!c.in_place) norm.sum = written.sum.data();
  }
  const QuantizeArguments integers{.x = written.out.data(),
                                   .x_stride = c.width,
                                   .smoothing = c.smooths ? smoothing.data() : nullptr,
                                   .words = written.words.data(),
                                   .words_stride = words,
                                   .scales = written.scales.data(),
                                   .offsets = written.offsets.data(),
                                   .rows = c.rows,
                                   .width = c.width,
                                   .groups = c.groups,
                                   .kind = c.words,
                                   .rotation = c.rotates ? kLeastRotation : 0};
  base::ThreadPool pool(threads);
  if (in_one) {
    normalize_and_quantize_rows(c.norm, norm, integers, pool, threads, set);
  } else {
    normalize_rows(c.norm, norm, pool, threads, set);
    quantize_rows(integers, pool, threads, set);
  }
  return written;
}

TEST_P(NormProducts, RoundInOnePassToTheBitsOfTwo) {
  for (const std::size_t width : {8, 72, 200, 384}) {
    for (const std::size_t groups : {1, 2, 4, 8}) {
      for (const std::size_t rows : {1, 3, 4, 37}) {
        for (int options = 0; options < 64; ++options) {
          const auto has = [&](int bit) { return (options >> bit & 1) != 0; };
          if (has(5) && width / groups % kLeastRotation != 0) continue;
          const Case c{.rows = rows,
                       .width = width,
                       .groups = groups,
                       .words = has(0) ? WordKind::bytes : WordKind::shorts,
                       .norm = has(1) ? NormKind::layer : NormKind::rms,
                       .smooths = has(2),
                       .adds = has(3),
                       .in_place = has(4),
                       .rotates = has(5)};
          const Written wanted = run_case(c, false, 1, set()), found = run_case(c, true, rows == 37 ? 3 : 1, set());
          const std::string what = std::to_string(rows) + " rows of " + std::to_string(width) + " in " +
                                   std::to_string(groups) + " groups, options " + std::to_string(options);
          ASSERT_TRUE(same_bits(found.out, wanted.out)) << what;
          ASSERT_TRUE(same_bits(found.sum, wanted.sum)) << what;
          ASSERT_TRUE(same_bits(found.scales, wanted.scales)) << what;
          ASSERT_TRUE(same_bits(found.offsets, wanted.offsets)) << what;
          ASSERT_TRUE(same_bits(found.words, wanted.words)) << what;
        }
      }
    }
  }
}

TEST_P(NormProducts, KeepWhatIsNotFiniteInItsRow) {
  std::vector<float> x = random_floats(5 * 48, 7), out(x.size()), scales(5), offsets(5);
  x[2 * 48 + 17] = std::numeric_limits<float>::infinity();
  std::vector<std::uint32_t> words(5 * 12);
  const NormArguments norm{
      .x = x.data(), .x_stride = 48, .epsilon = 1e-5f, .out = out.data(), .out_stride = 48, .rows = 5, .width = 48};
  const QuantizeArguments integers{
      .words = words.data(), .words_stride = 12, .scales = scales.data(), .offsets = offsets.data()};
  normalize_and_quantize_rows(NormKind::layer, norm, integers, pool_, 1, set());
  for (std::size_t row = 0; row < 5; ++row) EXPECT_EQ(std::isnan(scales[row]), row == 2) << row;
}

constexpr std::int64_t kWidth = 48;
constexpr std::int64_t kGroups = 4;

Value weights(Builder& b, DType dtype, std::vector<std::int64_t> extents, unsigned seed) {
  return b.constant(random_tensor(dtype, extents, seed));
}

Value norm(Builder& b, Value x) {
  return b.layer_norm({x, weights(b, DType::f32, {kWidth}, 7), weights(b, DType::f32, {kWidth}, 8)}, {});
}

Value product(Builder& b, Value x, std::int64_t in, std::int64_t out, std::optional<Value> residual = {}) {
  std::vector<Value> operands = {x, weights(b, DType::i8, {out, in}, 1), weights(b, DType::f32, {out, 1}, 2),
                                 weights(b, DType::f32, {out}, 3)};
  if (residual) operands.push_back(*residual);
  return b.quantized_dense(operands, {.blocks = {1, 0},
                                      .has_bias = true,
                                      .activation_groups = kGroups,
                                      .has_residual = residual.has_value(),
                                      .activation = residual ? graph::Activation::none : graph::Activation::gelu_erf});
}

Value tokens_of(Builder& b) { return b.parameter("x", {DType::f32, {b.dim("tokens"), kWidth}}); }

std::vector<std::string> spellings(const Program& program) {
  std::vector<std::string> names;
  for (const Step& step : program.plan.steps) names.emplace_back(step.operation->spelling);
  return names;
}

using Names = std::vector<std::string>;

TEST(NormProductSteps, TakeTheNormBeforeAProduct) {
  // As in an encoder: the norm's rows are what the feed-forward reads, and are added to what it makes.
  const auto layer = [](Builder& b, Value x) {
    const Value rows = norm(b, x);
    return product(b, product(b, rows, kWidth, 2 * kWidth), 2 * kWidth, kWidth, rows);
  };
  Builder b("layers");
  const Value x = tokens_of(b);
  b.output("y", norm(b, layer(b, layer(b, x))));
  const Program whole(std::move(b));
  EXPECT_EQ(spellings(whole),
            (Names{"norm_integer_gemm", "integer_gemm", "norm_integer_gemm", "integer_gemm", "layer_norm"}));
  ASSERT_EQ(whole.plan.row_groups.size(), 1U);
  EXPECT_EQ(whole.plan.row_groups[0].first, 0U);
  EXPECT_EQ(whole.plan.row_groups[0].end, whole.plan.steps.size());

  // The same ops as programs of their own, in which there is nothing to join.
  const auto alone = [](const std::function<Value(Builder&, Value)>& op) {
    Builder single("op");
    const Value in = tokens_of(single);
    single.output("y", op(single, in));
    return Program(std::move(single));
  };
  const Program norms = alone(norm);
  const Program wide = alone([](Builder& built, Value in) { return product(built, in, kWidth, 2 * kWidth); });
  Builder narrow_builder("narrow");
  const Value residual = tokens_of(narrow_builder);
  const Value inner = narrow_builder.parameter("inner", {DType::f32, {narrow_builder.dim("tokens"), 2 * kWidth}});
  narrow_builder.output("y", product(narrow_builder, inner, 2 * kWidth, kWidth, residual));
  const Program narrow(std::move(narrow_builder));

  for (const std::int64_t tokens : {1, 31, 80, 133}) {
    const Tensor in = random_tensor(DType::f32, {tokens, kWidth}, 5);
    Tensor rows = in;
    for (int i = 0; i < 2; ++i) {
      const Tensor normed = norms.run({rows}, 1)[0];
      rows = narrow.run({normed, wide.run({normed}, 1)[0]}, 1)[0];
    }
    const Tensor wanted = norms.run({rows}, 1)[0], found = whole.run({in}, 1)[0];
    EXPECT_TRUE(std::ranges::equal(found.bytes(), wanted.bytes())) << tokens << " tokens";
    expect_equal_runs(whole, {in});
    expect_as_reference(whole.graph, {in}, 1e-2, "the layers");  // a rounding to other integers may come in between
  }
}

TEST(NormProductSteps, LeaveTheRowsToOthers) {
  Builder b("several");
  const Value x = tokens_of(b), rows = norm(b, x);
  b.output("query", product(b, rows, kWidth, kWidth));
  b.output("key", product(b, rows, kWidth, 2 * kWidth));
  b.output("rows", rows);
  b.output("sum", b.add({rows, x}));
  const Program program(std::move(b));
  const Names names = spellings(program);
  EXPECT_EQ(std::ranges::count(names, "norm_integer_gemm"), 1);
  EXPECT_EQ(std::ranges::count(names, "integer_gemm"), 1);
  EXPECT_EQ(std::ranges::count(names, "layer_norm"), 0);
  for (const std::int64_t tokens : {7, 96}) {
    const Tensor in = random_tensor(DType::f32, {tokens, kWidth}, 5);
    expect_equal_runs(program, {in});
    expect_as_reference(program.graph, {in}, 1e-2, "several readers");
  }
}

TEST(NormProductSteps, StayApartWhereTheRowsAreNeededBefore) {
  {
    Builder b("read before");
    const Value x = tokens_of(b), rows = norm(b, x), shown = b.cumulative_sum({rows}, {.axis = 0});
    b.output("y", product(b, rows, kWidth, kWidth, shown));
    EXPECT_EQ(spellings(Program(std::move(b))), (Names{"layer_norm", "cumulative", "integer_gemm"}));
  }
  {
    Builder b("read twice");
    const Value rows = norm(b, tokens_of(b));
    b.output("y", product(b, rows, kWidth, kWidth, rows));
    EXPECT_EQ(spellings(Program(std::move(b))), (Names{"layer_norm", "integer_gemm"}));
  }
}

}  // namespace
}  // namespace alate::cpu
