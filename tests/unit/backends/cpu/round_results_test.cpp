// Results that are rounded to bf16 where they are made: the kernels that store them, which results become them, and
// that products see the same numbers.
#include "backends/cpu/passes/round_results.h"

#include <algorithm>

#include "backends/cpu/kernels/gemm/half_product.h"
#include "tensor/half.h"
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
using word_testing::Packed;
using word_testing::Sizes;
using word_testing::Words;

constexpr std::uint16_t kUntouched = 0xabcd;

// Rows of floats as rows of bf16 with a gap between them.
std::vector<std::uint16_t> rounded(const std::vector<float>& x, std::size_t rows, std::size_t stride) {
  std::vector<std::uint16_t> halves(rows * stride, kUntouched);
  const std::size_t width = rows == 0 ? 0 : x.size() / rows;
  for (std::size_t i = 0; i < x.size(); ++i) halves[i / width * stride + i % width] = tensor::float_to_bf16(x[i]);
  return halves;
}

class RoundedResults : public kernel_testing::EveryInstructionSet {
 protected:
  void expect_product_rounds(const GemmArguments& floats, const GemmKernel& kernel) {
    std::vector<float> c(floats.m * floats.n);
    GemmArguments product = floats;
    product.c = c.data();
    product.c_stride = floats.n;
    gemm(product, pool_, 1, kernel);
    product.c = nullptr;
    product.halves_stride = floats.n + 3;
    const std::vector<std::uint16_t> wanted = rounded(c, floats.m, product.halves_stride);
    for (const std::size_t workers : {1, 2}) {
      std::vector<std::uint16_t> halves(wanted.size(), kUntouched);
      product.halves = halves.data();
      gemm(product, pool_, workers, kernel);
      EXPECT_TRUE(same_bits(halves, wanted)) << floats.m << " x " << floats.n << " x " << floats.k << ", " << workers
                                             << " threads, activation " << static_cast<int>(floats.activation);
    }
  }

  // Alone, whole tiles would go straight to C.
  void expect_products_round(const GemmArguments& floats, const GemmKernel& kernel) {
    expect_product_rounds(floats, kernel);
    GemmArguments product = floats;
    const std::vector<float> bias = random_floats(product.n, 3), residual = random_floats(product.m * product.n, 4);
    product.bias = bias.data();
    product.activation = Activation::gelu_erf;
    expect_product_rounds(product, kernel);
    product.activation = Activation::none;
    product.residual = residual.data();
    product.residual_stride = product.n;
    expect_product_rounds(product, kernel);
  }
};

INSTANTIATE_TEST_SUITE_P(Sets, RoundedResults, ::testing::ValuesIn(base::runnable_instruction_sets()),
                         kernel_testing::set_name);

TEST_P(RoundedResults, OfProductsAreThoseOfTheirFloats) {
  std::vector<Sizes> all(std::begin(word_testing::kSizes), std::end(word_testing::kSizes));
  all.push_back({230, 33, 4096});  // in several blocks of rows that are copied
  for (const Sizes& sizes : all) {
    std::vector<float> c;
    const Words a(word_testing::random_bf16(sizes.m * sizes.k, 1), sizes.m, sizes.k);
    const Packed w(word_testing::random_bf16(sizes.n * sizes.k, 2), sizes, set().bf16);
    expect_products_round(word_testing::arguments_of(sizes, a, w, c), set().bf16);
  }
}

TEST_P(RoundedResults, OfNormsAreThoseOfTheirFloats) {
  for (const NormKind kind : {NormKind::layer, NormKind::rms, NormKind::l2}) {
    for (const std::size_t width : {1, 7, 16, 72, 200, 384}) {
      for (const std::size_t rows : {1, 4, 37}) {
        const auto x = random_floats(rows * width, 1, 3), scale = random_floats(width, 4);
        std::vector<float> wanted(x.size()), out(x.size());
        NormArguments norm{.x = x.data(),
                           .x_stride = width,
                           .scale = kind == NormKind::l2 ? nullptr : scale.data(),
                           .epsilon = 1e-5f,
                           .out = wanted.data(),
                           .out_stride = width,
                           .halves_stride = width + 5,
                           .rows = rows,
                           .width = width};
        normalize_rows(kind, norm, pool_, 1, set());
        std::vector<std::uint16_t> both(rows * norm.halves_stride, kUntouched), alone = both;
        norm.halves = both.data();
        norm.out = out.data();
        normalize_rows(kind, norm, pool_, 2, set());
        norm.halves = alone.data();
        norm.out = nullptr;
        normalize_rows(kind, norm, pool_, 2, set());
        EXPECT_TRUE(same_bits(out, wanted)) << rows << " rows of " << width;
        EXPECT_TRUE(same_bits(both, rounded(wanted, rows, norm.halves_stride))) << rows << " rows of " << width;
        EXPECT_TRUE(same_bits(alone, both)) << rows << " rows of " << width;
      }
    }
  }
}

TEST_P(RoundedResults, OfAttentionAreThoseOfItsFloats) {
  constexpr std::size_t kTokens = 170, kHeads = 3;
  const std::vector<std::int32_t> starts = {0, 3, 43}, lengths = {3, 40, 127};
  for (const bool rounds_operands : {false, true}) {
    for (const std::size_t size : {6, 32, 64, 200}) {
      const std::size_t width = kHeads * size;
      const auto q = random_floats(kTokens * width, 1), k = random_floats(kTokens * width, 2),
                 v = random_floats(kTokens * width, 3);
      std::vector<float> out(kTokens * width);
      std::vector<std::uint16_t> halves(out.size(), kUntouched);
      AttentionArguments attention{.q = q.data(), .q_stride = width};
      attention.k = {.base = k.data(), .stride = width};
      attention.v = {.base = v.data(), .stride = width};
      attention.out_stride = width;
      attention.out = out.data();
      attention.starts = starts.data();
      attention.lengths = lengths.data();
      attention.sequences = starts.size();
      attention.heads = attention.kv_heads = kHeads;
      attention.head_size = attention.value_size = size;
      attention.rounds_operands = rounds_operands;
      attend_sequences(attention, pool_, 1, set());
      attention.out = nullptr;
      attention.halves = halves.data();
      attend_sequences(attention, pool_, 2, set());
      EXPECT_TRUE(same_bits(halves, rounded(out, kTokens, width))) << "heads of " << size;
    }
  }
}

// ---- which results ------------------------------------------------------------------------------------------------

constexpr std::int64_t kWidth = 32, kInner = 64;

// Whether this processor multiplies bf16 as it is; elsewhere nothing becomes bf16.
bool multiplies_bf16() { return half_product_kernel(DType::bf16).kind == WordKind::bf16; }

std::size_t rounded_slots(const Program& program) {
  return static_cast<std::size_t>(std::ranges::count_if(program.plan.slots, [](const Slot& slot) {
    return slot.kind == SlotKind::arena && slot.format.kind == kBf16Rows;
  }));
}

std::size_t where_multiplied(std::size_t count) { return multiplies_bf16() ? count : 0; }

Value product(Builder& b, Value x, std::int64_t in, std::int64_t out, unsigned seed, DType dtype = DType::bf16) {
  return b.dense(
      {x, b.constant(random_tensor(dtype, {out, in}, seed)), b.constant(random_tensor(DType::f32, {out}, 3))},
      {.has_bias = true, .activation = graph::Activation::gelu_erf});
}

Value added_product(Builder& b, Value x, Value residual, std::int64_t in, std::int64_t out, unsigned seed) {
  return b.dense({x, b.constant(random_tensor(DType::bf16, {out, in}, seed)), residual}, {.has_residual = true});
}

Value norm(Builder& b, Value x) {
  return b.layer_norm(
      {x, b.constant(random_tensor(DType::f32, {kWidth}, 7)), b.constant(random_tensor(DType::f32, {kWidth}, 8))}, {});
}

Value tokens_of(Builder& b) { return b.parameter("x", {DType::f32, {b.dim("tokens"), kWidth}}); }

// Two feed-forward parts with their norms. Where results are also outputs, they are needed as floats.
Program encoder(bool gives_all) {
  Builder b("encoder");
  Value x = norm(b, tokens_of(b));
  for (unsigned layer = 0; layer < 2; ++layer) {
    const Value inner = product(b, x, kWidth, kInner, 10 + layer);
    const Value sum = added_product(b, inner, x, kInner, kWidth, 20 + layer);
    if (gives_all) b.output("inner" + std::to_string(layer), inner);
    x = norm(b, sum);
  }
  b.output("y", x);
  return Program(std::move(b));
}

TEST(RoundResults, ChangesNoBits) {
  const Program program = encoder(false), whole = encoder(true);
  EXPECT_EQ(rounded_slots(program), where_multiplied(4)) << "two norms and two inner results";
  EXPECT_EQ(rounded_slots(whole), where_multiplied(2)) << "norms alone have both results";
  for (const std::int64_t tokens : {1, 15, 64, 201}) {
    const std::vector<Tensor> inputs = {random_tensor(DType::f32, {tokens, kWidth}, 1)};
    const Tensor wanted = whole.run(inputs, 1).back();
    EXPECT_TRUE(std::ranges::equal(program.run(inputs, 1)[0].bytes(), wanted.bytes())) << tokens << " tokens";
    expect_equal_runs(program, inputs);
  }
}

TEST(RoundResults, LeavesWhatOthersReadOrWordsDoNotHold) {
  enum class Reader : std::uint8_t { product, products, other, f32_product, residual };
  for (const Reader reader :
       {Reader::product, Reader::products, Reader::other, Reader::f32_product, Reader::residual}) {
    Builder b("readers");
    const Value made = product(b, tokens_of(b), kWidth, kWidth, 1);
    b.output("y", product(b, made, kWidth, 8, 2));
    if (reader == Reader::products) b.output("z", product(b, made, kWidth, 8, 4));
    if (reader == Reader::other) b.output("z", b.neg({made}));
    if (reader == Reader::f32_product) b.output("z", product(b, made, kWidth, 8, 4, DType::f32));
    if (reader == Reader::residual) b.output("z", added_product(b, made, made, kWidth, kWidth, 4));
    const bool is_rounded = reader == Reader::product || reader == Reader::products;
    EXPECT_EQ(rounded_slots(Program(std::move(b))), where_multiplied(is_rounded ? 1 : 0)) << static_cast<int>(reader);
  }
  for (const DType other : {DType::f32, DType::f16}) {
    Builder b("made otherwise");
    b.output("y", product(b, product(b, tokens_of(b), kWidth, kWidth, 1, other), kWidth, 8, 2));
    EXPECT_EQ(rounded_slots(Program(std::move(b))), 0U) << to_string(other);
  }
  Builder b("odd");
  b.output("y", product(b, product(b, tokens_of(b), kWidth, 33, 1), 33, 8, 2));
  EXPECT_EQ(rounded_slots(Program(std::move(b))), 0U);
}

TEST(RoundResults, TakesWhatIsReadUnderAnotherShape) {
  const auto make = [](bool gives_norm) {
    Builder b("views");
    const Dim tokens = b.dim("tokens");
    const Value x = b.parameter("x", {DType::f32, {tokens, kWidth}});
    const Value rows = norm(b, x);
    const Value halves = b.reshape({rows}, {.dims = {tokens, Dim(2), Dim(kWidth / 2)}});
    b.output("y", product(b, b.reshape({halves}, {.dims = {tokens, Dim(kWidth)}}), kWidth, 8, 2));
    b.output("z", product(b, halves, kWidth / 2, 8, 5));
    if (gives_norm) b.output("norm", rows);
    return Program(std::move(b));
  };
  const Program alone = make(false), both = make(true);
  EXPECT_EQ(rounded_slots(alone), where_multiplied(1));
  EXPECT_EQ(rounded_slots(both), where_multiplied(1));
  const std::vector<Tensor> inputs = {random_tensor(DType::f32, {19, kWidth}, 1)};
  expect_equal_runs(alone, inputs);
  const std::vector<Tensor> found = alone.run(inputs, 1), wanted = both.run(inputs, 1);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(found[i].bytes(), wanted[i].bytes())) << "output " << i;
}

}  // namespace
}  // namespace alate::cpu
