// Results that become integers where they are made: products that store them, which results become them, and that what
// reads them sees the same numbers.
#include "backends/cpu/passes/quantize_results.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/gemm/half_product.h"
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

// Of a product with n columns.
struct Rounding {
  std::size_t groups;
  bool smooths;
  std::size_t gap;  // between the scales of rows
};

class QuantizedResults : public kernel_testing::EveryInstructionSet {
 protected:
  void expect_product_quantizes(const GemmArguments& floats, const GemmKernel& kernel, const Rounding& rounding) {
    ASSERT_TRUE(can_quantize_output(floats.n, rounding.groups, kernel));
    std::vector<float> c(floats.m * floats.n);
    GemmArguments product = floats;
    product.c = c.data();
    product.c_stride = floats.n;
    gemm(product, pool_, 1, kernel);

    const WordKind kind = set().integers.kind;
    const std::vector<float> smoothing = random_floats(floats.n, 6);
    struct Rows {
      std::vector<std::uint32_t> words;
      std::vector<float> scales, offsets;
    };
    const std::size_t words = quantized_row_words(floats.n, rounding.groups, kind) + 3,
                      scales = rounding.groups + rounding.gap;
    const Rows untouched{std::vector<std::uint32_t>(floats.m * words, 0xabcdef01),
                         std::vector<float>(floats.m * scales, -7), std::vector<float>(floats.m * scales, -7)};
    const auto integers_in_rows = [&](Rows& rows) {
      return QuantizeArguments{.smoothing = rounding.smooths ? smoothing.data() : nullptr,
                               .words = rows.words.data(),
                               .words_stride = words,
                               .scales = rows.scales.data(),
                               .offsets = rows.offsets.data(),
                               .groups = rounding.groups,
                               .kind = kind,
                               .scales_stride = rounding.gap == 0 ? 0 : scales};
    };
    Rows wanted = untouched;
    QuantizeArguments after = integers_in_rows(wanted);
    after.x = c.data();
    after.x_stride = after.width = floats.n;
    after.rows = floats.m;
    quantize_rows(after, pool_, 1, set());
    product.c = nullptr;
    base::ThreadPool many(7);
    for (const std::size_t workers : {1, 2, 7}) {
      Rows found = untouched;
      product.integers = integers_in_rows(found);
      gemm(product, many, workers, kernel);
      const std::string what = std::to_string(floats.m) + " x " + std::to_string(floats.n) + " x " +
                               std::to_string(floats.k) + " in " + std::to_string(rounding.groups) + " groups, " +
                               std::to_string(workers) + " threads";
      EXPECT_TRUE(same_bits(found.words, wanted.words)) << what;
      EXPECT_TRUE(same_bits(found.scales, wanted.scales)) << what;
      EXPECT_TRUE(same_bits(found.offsets, wanted.offsets)) << what;
    }
  }

  // Rows alone and many, whole strips and not, some that are copied because they collide, and several blocks of rows.
  void expect_products_quantize(const GemmArguments& floats, const GemmKernel& kernel) {
    for (const Rounding& rounding : {Rounding{1, false, 0}, Rounding{2, true, 0}, Rounding{4, true, 9}})
      expect_product_quantizes(floats, kernel, rounding);
    GemmArguments product = floats;
    const std::vector<float> bias = random_floats(product.n, 3), residual = random_floats(product.m * product.n, 4);
    product.bias = bias.data();
    product.activation = Activation::gelu_erf;
    expect_product_quantizes(product, kernel, {4, true, 8});
    product.activation = Activation::none;
    product.residual = residual.data();
    product.residual_stride = product.n;
    expect_product_quantizes(product, kernel, {2, false, 0});
  }
};

INSTANTIATE_TEST_SUITE_P(Sets, QuantizedResults, ::testing::ValuesIn(base::runnable_instruction_sets()),
                         kernel_testing::set_name);

constexpr Sizes kProducts[] = {{1, 128, 64}, {5, 256, 40}, {37, 128, 384}, {61, 128, 4096}, {300, 512, 20}};

TEST_P(QuantizedResults, AreThoseOfTheProduct) {
  for (const Sizes& sizes : kProducts) {
    for (const GemmKernel& kernel : {set().f32, set().bf16, set().integers})
      expect_products_quantize(RandomProduct(sizes, kernel).arguments(), kernel);
    if (sizes.k % 4 == 0)
      expect_products_quantize(RandomProduct(sizes, set().integers, 4, true).arguments(), set().integers);
  }
}

// Weights that no second-level cache holds, for few rows, whose columns threads share, and for several blocks of rows.
TEST_P(QuantizedResults, AreThoseOfTheProductByManyWeights) {
  for (const Sizes& sizes : {Sizes{70, 512, 2112}, Sizes{140, 4224, 256}}) {
    const RandomProduct product(sizes, set().integers);
    for (const Rounding& rounding : {Rounding{1, true, 0}, Rounding{2, false, 0}})
      expect_product_quantizes(product.arguments(), set().integers, rounding);
  }
}

TEST_P(QuantizedResults, NeedRunsThatEndWithPanels) {
  const GemmKernel& kernel = set().f32;
  const std::size_t run = std::max(kernel.panel_width, kColumnBlockUnit);
  EXPECT_TRUE(can_quantize_output(6 * run, 3, kernel));
  EXPECT_FALSE(can_quantize_output(6 * run, 4, kernel));
  EXPECT_FALSE(can_quantize_output(6 * run, 5, kernel));
  EXPECT_FALSE(can_quantize_output(3 * run / 2, 1, kernel));
}

// ---- which results ------------------------------------------------------------------------------------------------

constexpr std::int64_t kWidth = 64, kInner = 256, kGroups = 4;

struct Options {
  std::int64_t inner = kInner;
  DType first = DType::i8;  // of the first product's weight
  bool smooths = true;
  bool gives_inner = false;
  bool rotates = false;
};

Value constant(Builder& b, DType dtype, std::vector<std::int64_t> extents, unsigned seed) {
  return b.constant(random_tensor(dtype, extents, seed));
}

Value integer_product(Builder& b, Value x, std::int64_t in, std::int64_t out, bool smooths,
                      std::optional<Value> residual = {}, bool rotates = false) {
  std::vector<Value> operands = {x};
  if (smooths) operands.push_back(constant(b, DType::f32, {in}, 9));
  for (const Value value :
       {constant(b, DType::i8, {out, in}, 1), constant(b, DType::f32, {out, 1}, 2), constant(b, DType::f32, {out}, 3)})
    operands.push_back(value);
  if (residual) operands.push_back(*residual);
  return b.quantized_dense(operands, {.blocks = {1, 0},
                                      .has_bias = true,
                                      .has_smoothing = smooths,
                                      .activation_groups = rotates ? kGroups / 2 : kGroups,
                                      .has_residual = residual.has_value(),
                                      .activation = residual ? graph::Activation::none : graph::Activation::gelu_erf,
                                      .rotation = rotates ? 128 : 0});
}

Value first_product(Builder& b, Value x, const Options& options) {
  if (options.first == DType::i8) return integer_product(b, x, kWidth, options.inner, false);
  return b.dense(
      {x, constant(b, options.first, {options.inner, kWidth}, 1), constant(b, DType::f32, {options.inner}, 3)},
      {.has_bias = true, .activation = graph::Activation::gelu_erf});
}

// Two feed-forward parts.
Program feed_forward(const Options& options) {
  Builder b("feed forward");
  Value x = b.parameter("x", {DType::f32, {b.dim("tokens"), kWidth}});
  for (int layer = 0; layer < 2; ++layer) {
    const Value inner = first_product(b, x, options);
    if (options.gives_inner) b.output("inner" + std::to_string(layer), inner);
    x = integer_product(b, inner, options.inner, kWidth, options.smooths, x, options.rotates);
  }
  b.output("y", x);
  return Program(std::move(b));
}

std::ptrdiff_t integer_slots(const Program& program) {
  return std::ranges::count_if(program.plan.slots, [](const Slot& slot) { return slot.format.kind == kQuantizedRows; });
}

TEST(QuantizeResults, ChangesNoBits) {
  for (const DType first : {DType::i8, DType::f32, DType::bf16, DType::f16}) {
    for (const auto& [smooths, rotates] : {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
      Options options{.first = first, .smooths = smooths, .rotates = rotates};
      const Program program = feed_forward(options);
      options.gives_inner = true;
      const Program whole = feed_forward(options);
      EXPECT_EQ(integer_slots(program), 2);
      EXPECT_EQ(integer_slots(whole), 0) << "the caller gets floats";
      for (const std::int64_t tokens : {1, 15, 64, 201}) {
        const std::vector<Tensor> inputs = {random_tensor(DType::f32, {tokens, kWidth}, 1)};
        const Tensor wanted = whole.run(inputs, 1).back();
        EXPECT_TRUE(std::ranges::equal(program.run(inputs, 1)[0].bytes(), wanted.bytes())) << tokens << " tokens";
        expect_equal_runs(program, inputs);
      }
    }
  }
}

TEST(QuantizeResults, TakesLessMemory) {
  const Program program = feed_forward({});
  graph::DimValues values(*program.plan.dims);
  values.bind(program.plan.inputs[0].shape, {DType::f32, {1000, kWidth}}, "input");
  const std::size_t word = values_per_word(kernels().integers.kind), floats = 1000 * kInner * sizeof(float);
  EXPECT_LT(bind_plan(program.plan, values, 1).arena_bytes, 2 * floats / word + 3 * 1000 * kWidth * sizeof(float));
}

TEST(QuantizeResults, LeavesRunsThatEndWithinPanels) { EXPECT_EQ(integer_slots(feed_forward({.inner = 4 * 24})), 0); }

TEST(QuantizeResults, LeavesWhatIsReadTwice) {
  Builder b("read twice");
  const Value x = b.parameter("x", {DType::f32, {b.dim("tokens"), kWidth}});
  const Value inner = first_product(b, x, {});
  b.output("y", integer_product(b, inner, kInner, kWidth, true));
  b.output("z", b.add({inner, inner}));
  const Program program(std::move(b));
  EXPECT_EQ(integer_slots(program), 0);
  const std::vector<Tensor> inputs = {random_tensor(DType::f32, {33, kWidth}, 1)};
  expect_equal_runs(program, inputs);
}

// ---- what feeds integers ------------------------------------------------------------------------------------------

// Attention among the tokens of each text, then a product of integers.
Program attention(bool gives_mixed) {
  constexpr std::int64_t kHeads = 2, kHeadSize = kWidth / kHeads;
  Builder b("attention");
  const Dim texts = b.dim("texts", 1), tokens = b.dim("tokens");
  const Value starts = b.parameter("starts", {DType::i32, {texts}}),
              lengths = b.parameter("lengths", {DType::i32, {texts}});
  const Value x = b.parameter("x", {DType::f32, {tokens, kHeads, kHeadSize}});
  const Value mixed =
      b.ragged_attention({x, x, x, starts, lengths}, {.scale = 0.2, .rounds_operands = true, .longest = 60});
  const Value rows = b.reshape({mixed}, {.dims = {tokens, kWidth}});
  b.output("y", integer_product(b, rows, kWidth, kWidth, true));
  if (gives_mixed) b.output("mixed", mixed);
  return Program(std::move(b));
}

bool feeds_quantized(const Program& program) {
  return std::ranges::any_of(program.plan.steps, [](const Step& step) { return step.epilogue.is_quantized_next; });
}

TEST(QuantizeResults, MarksAttentionThatIntegersAreMadeOf) {
  const Program marked = attention(false), plain = attention(true);
  EXPECT_TRUE(feeds_quantized(marked));
  EXPECT_FALSE(feeds_quantized(plain)) << "the caller gets floats";
  const std::vector<Tensor> inputs = {Tensor::from<std::int32_t>({2}, {{0, 60}}),
                                      Tensor::from<std::int32_t>({2}, {{60, 7}}),
                                      random_tensor(DType::f32, {67, 2, 32}, 1)};
  expect_equal_runs(marked, inputs);
  const Tensor found = marked.run(inputs, 1)[0], wanted = plain.run(inputs, 1)[0];
  const std::span<const float> a = found.values<float>(), b = wanted.values<float>();
  float greatest = 0;
  for (const float value : b) greatest = std::max(greatest, std::abs(value));
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 0.02f * greatest) << "place " << i;
}

}  // namespace
}  // namespace alate::cpu
