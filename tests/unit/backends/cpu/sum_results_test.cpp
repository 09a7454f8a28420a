// Sums of rows that products make for norms: the kernels that store them, which norms read them, and that these make
// the same bits of them as of their own.
#include "backends/cpu/passes/sum_results.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "backends/cpu/kernels/vectors/row_sums.h"
#include "backends/cpu/steps/norm_arguments.h"
#include "tests/unit/backends/cpu/kernel_testing.h"
#include "tests/unit/backends/cpu/plan_testing.h"
#include "tests/unit/backends/cpu/step_testing.h"
#include "tests/unit/backends/cpu/word_problems.h"

namespace alate::cpu {
namespace {

using graph::Builder;
using graph::Value;
using kernel_testing::random_floats;
using kernel_testing::same_bits;
using word_testing::RandomProduct;
using word_testing::Sizes;

class SummedResults : public kernel_testing::EveryInstructionSet {
 protected:
  void expect_product_sums(const GemmArguments& unsummed, const GemmKernel& kernel) {
    const std::size_t m = unsummed.m, n = unsummed.n;
    std::vector<float> wanted(m * n), afterwards(m * kSumLanes);
    GemmArguments product = unsummed;
    product.c = wanted.data();
    product.c_stride = n;
    gemm(product, pool_, 1, kernel);
    product.row_sums = afterwards.data();
    kernel.sum_rows(product, 0, m);
    base::ThreadPool many(7);
    for (const std::size_t workers : {1, 2, 7}) {
      const std::string what = std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(unsummed.k) +
                               ", " + std::to_string(workers) + " threads";
      std::vector<float> c(m * n), sums(m * kSumLanes);
      product.c = c.data();
      product.row_sums = sums.data();
      gemm(product, many, workers, kernel);
      EXPECT_TRUE(same_bits(c, wanted)) << what;
      EXPECT_TRUE(same_bits(sums, afterwards)) << what;
      for (std::size_t row = 0; row < m; ++row) {
        double sum = 0, magnitude = 0, found = 0;
        for (std::size_t j = 0; j < n; ++j) {
          sum += c[row * n + j];
          magnitude += std::abs(c[row * n + j]);
        }
        for (std::size_t lane = 0; lane < kSumLanes; ++lane) found += sums[row * kSumLanes + lane];
        ASSERT_NEAR(found, sum, magnitude * 1e-6) << what << ", row " << row;
      }
    }
  }

  void expect_products_sum(const GemmArguments& product, const GemmKernel& kernel) {
    expect_product_sums(product, kernel);
    GemmArguments with = product;
    const std::vector<float> bias = random_floats(product.n, 3), residual = random_floats(product.m * product.n, 4);
    with.bias = bias.data();
    expect_product_sums(with, kernel);
    with.residual = residual.data();
    with.residual_stride = product.n;
    expect_product_sums(with, kernel);
  }
};

INSTANTIATE_TEST_SUITE_P(Sets, SummedResults, ::testing::ValuesIn(base::runnable_instruction_sets()),
                         kernel_testing::set_name);

// The second last one's rows collide, of the last one there are several blocks of rows.
constexpr Sizes kProducts[] = {{1, 33, 64}, {1, 384, 200}, {5, 100, 1}, {37, 384, 384}, {61, 40, 4096}, {700, 65, 300}};

TEST_P(SummedResults, AreThoseOfTheResult) {
  for (const Sizes& sizes : kProducts) {
    for (const GemmKernel& kernel : {set().f32, set().bf16, set().integers})
      expect_products_sum(RandomProduct(sizes, kernel).arguments(), kernel);
    if (sizes.k % 4 == 0)
      expect_products_sum(RandomProduct(sizes, set().integers, 4, true).arguments(), set().integers);
  }
}

TEST_P(SummedResults, MakeTheSameNorms) {
  for (const std::size_t width : {1, 7, 16, 72, 200, 384}) {
    for (const std::size_t rows : {1, 4, 37}) {
      const std::vector<float> ones(rows, 1.0f), x = random_floats(rows * width, 5, 3), scale = random_floats(width, 6);
      std::vector<float> values(x), sums(rows * kSumLanes), wanted(x.size()), found(x.size());
      GemmArguments product;
      product.c = values.data();
      product.c_stride = product.n = width;
      product.row_sums = sums.data();
      set().f32.sum_rows(product, 0, rows);
      NormArguments norm{.x = x.data(),
                         .x_stride = width,
                         .scale = scale.data(),
                         .epsilon = 1e-5f,
                         .out = wanted.data(),
                         .out_stride = width,
                         .rows = rows,
                         .width = width};
      normalize_rows(NormKind::layer, norm, pool_, 1, set());
      norm.out = found.data();
      norm.row_sums = sums.data();
      normalize_rows(NormKind::layer, norm, pool_, 2, set());
      EXPECT_TRUE(same_bits(found, wanted)) << rows << " rows of " << width;
      for (float& sum : sums) sum += 1;
      normalize_rows(NormKind::layer, norm, pool_, 2, set());
      EXPECT_FALSE(same_bits(found, wanted)) << "nobody reads the sums";
    }
  }
}

// ---- which norms --------------------------------------------------------------------------------------------------

constexpr std::int64_t kWidth = 48;

Value constant(Builder& b, DType dtype, std::vector<std::int64_t> extents, unsigned seed) {
  return b.constant(random_tensor(dtype, extents, seed));
}

Value product(Builder& b, Value x, DType weight, graph::Activation activation, std::optional<Value> residual = {}) {
  std::vector<Value> operands = {x, constant(b, weight, {kWidth, kWidth}, 1)};
  if (weight == DType::i8) operands.push_back(constant(b, DType::f32, {kWidth, 1}, 2));
  operands.push_back(constant(b, DType::f32, {kWidth}, 3));
  if (residual) operands.push_back(*residual);
  if (weight == DType::i8)
    return b.quantized_dense(operands, {.blocks = {1, 0},
                                        .has_bias = true,
                                        .activation_groups = 1,
                                        .has_residual = residual.has_value(),
                                        .activation = activation});
  return b.dense(operands, {.has_bias = true, .has_residual = residual.has_value(), .activation = activation});
}

Value norm(Builder& b, Value x) {
  return b.layer_norm({x, constant(b, DType::f32, {kWidth}, 7), constant(b, DType::f32, {kWidth}, 8)}, {});
}

std::size_t norms_with_sums(const Program& program) {
  std::size_t count = 0;
  for (const Step& step : program.plan.steps) {
    count += row_sums_operand(step) ? 1 : 0;
    for (const Step& part : step.parts) count += row_sums_operand(part) ? 1 : 0;
  }
  return count;
}

Program program_of(const std::function<Value(Builder&, Value)>& body) {
  Builder b("rows");
  const Value x = b.parameter("x", {DType::f32, {b.dim("tokens"), kWidth}});
  b.output("y", body(b, x));
  return Program(std::move(b));
}

TEST(SumResults, ChangesNoBits) {
  for (const DType weight : {DType::f32, DType::bf16, DType::f16, DType::i8}) {
    const auto layer = [&](Builder& b, Value x) { return product(b, x, weight, graph::Activation::none, x); };
    // A norm, and the product behind it, which may be one step.
    const Program whole = program_of([&](Builder& b, Value x) {
      return norm(b, product(b, norm(b, layer(b, x)), weight, graph::Activation::none));
    });
    EXPECT_EQ(norms_with_sums(whole), 2U);
    const Program first = program_of(layer), norms = program_of(norm),
                  second =
                      program_of([&](Builder& b, Value x) { return product(b, x, weight, graph::Activation::none); });
    EXPECT_EQ(norms_with_sums(norms), 0U);
    for (const std::int64_t tokens : {1, 31, 80, 133}) {
      const Tensor x = random_tensor(DType::f32, {tokens, kWidth}, 5);
      Tensor wanted = x;
      for (const Program* program : {&first, &norms, &second, &norms}) wanted = program->run({wanted}, 1)[0];
      EXPECT_TRUE(std::ranges::equal(whole.run({x}, 1)[0].bytes(), wanted.bytes())) << tokens << " tokens";
      expect_equal_runs(whole, {x});
    }
  }
}

TEST(SumResults, NamesTheSumsInTheProductsEpilogue) {
  const Program program =
      program_of([](Builder& b, Value x) { return norm(b, product(b, x, DType::f32, graph::Activation::none)); });
  ASSERT_EQ(program.plan.steps.size(), 2U);
  const Step &product = program.plan.steps[0], &norm = program.plan.steps[1];
  ASSERT_EQ(product.epilogue.row_sums, 1U);
  ASSERT_EQ(row_sums_operand(norm), 3U) << "behind x, scale and shift";
  EXPECT_EQ(norm.inputs[3], product.outputs[1]);
}

TEST(SumResults, TakesProductsWithoutActivationAlone) {
  EXPECT_EQ(norms_with_sums(program_of(
                [](Builder& b, Value x) { return norm(b, product(b, x, DType::f32, graph::Activation::relu)); })),
            0U);
  EXPECT_EQ(norms_with_sums(program_of([](Builder& b, Value x) { return norm(b, b.add({x, x})); })), 0U);
}

TEST(SumResults, GivesSeveralNormsTheSameSums) {
  const auto body = [](Builder& b, Value x) {
    const Value rows = product(b, x, DType::f32, graph::Activation::none);
    return b.add({norm(b, rows), b.mul({norm(b, rows), rows})});
  };
  const Program program = program_of(body);
  EXPECT_GE(norms_with_sums(program), 1U);
  const Tensor x = random_tensor(DType::f32, {21, kWidth}, 5);
  expect_equal_runs(program, {x});
  expect_as_reference(program.graph, {x}, 1e-4, "two norms");
}

}  // namespace
}  // namespace alate::cpu
