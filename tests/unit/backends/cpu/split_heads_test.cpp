// Products stored head by head: the kernels that write and read blocks of columns, which results become them, and that
// nothing can be seen of it.
#include "backends/cpu/passes/split_heads.h"

#include <algorithm>

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
using word_testing::Packed;
using word_testing::Sizes;
using word_testing::Words;

class ColumnBlocks : public kernel_testing::EveryInstructionSet {
 protected:
  // Runs a product whose C is in rows, and again with C in blocks and numbers between these that must stay.
  void expect_same_in_blocks(const GemmArguments& in_rows, const GemmKernel& kernel, std::size_t block) {
    constexpr float kUntouched = -4321.0f;
    const std::size_t m = in_rows.m, n = in_rows.n, gap = 5, stride = m * block + gap;
    GemmArguments product = in_rows;
    std::vector<float> rows(m * n), blocks(n / block * stride);
    product.c = rows.data();
    product.c_stride = n;
    gemm(product, pool_, 1, kernel);
    for (const std::size_t workers : {1, 2}) {
      std::fill(blocks.begin(), blocks.end(), kUntouched);
      product.c = blocks.data();
      product.c_stride = product.column_block = block;
      product.block_stride = stride;
      gemm(product, pool_, workers, kernel);
      std::vector<float> wanted(blocks.size(), kUntouched);
      for (std::size_t row = 0; row < m; ++row) {
        for (std::size_t column = 0; column < n; ++column)
          wanted[column / block * stride + row * block + column % block] = rows[row * n + column];
      }
      EXPECT_TRUE(kernel_testing::same_bits(blocks, wanted))
          << m << " x " << n << " x " << product.k << " in blocks of " << block << ", " << workers << " threads";
    }
  }

  // Without a bias whole tiles go straight to C; with more than 1024 words of k, sums wait between two parts of it.
  void expect_same_in_blocks(const Sizes& sizes, const Words& a, const Packed& w, const GemmKernel& kernel,
                             std::size_t block) {
    std::vector<float> c;
    GemmArguments product = word_testing::arguments_of(sizes, a, w, c);
    expect_same_in_blocks(product, kernel, block);
    const std::vector<float> bias = random_floats(sizes.n, 3);
    product.bias = bias.data();
    expect_same_in_blocks(product, kernel, block);
  }
};

// Heads of the sizes of models, which do not all end where panels do.
std::vector<std::pair<Sizes, std::size_t>> problems() {
  std::vector<std::pair<Sizes, std::size_t>> all;
  for (const std::size_t block : {16, 32, 48, 64, 80}) {
    for (const std::size_t m : {1, 2, 3, 5, 14, 15, 29, 61}) all.push_back({{m, 6 * block, 1 + m * block % 37}, block});
    all.push_back({{7, 3 * block, 1300}, block});
  }
  all.push_back({{200, 768, 130}, 64});
  return all;
}

TEST_P(ColumnBlocks, OfFloatsAreThoseOfTheRows) {
  for (const auto& [sizes, block] : problems()) {
    const Words a(random_floats(sizes.m * sizes.k, 1), sizes.m, sizes.k);
    const std::vector<float> w = random_floats(sizes.n * sizes.k, 2);
    expect_same_in_blocks(sizes, a, Packed(w, sizes, set().f32), set().f32, block);
    std::vector<std::uint16_t> halves(w.size());
    std::transform(w.begin(), w.end(), halves.begin(), [](float x) { return tensor::float_to_bf16(x); });
    expect_same_in_blocks(sizes, a, Packed(halves, sizes, set().f32_by_bf16), set().f32_by_bf16, block);
  }
}

TEST_P(ColumnBlocks, OfBf16AreThoseOfTheRows) {
  for (const auto& [sizes, block] : problems()) {
    const word_testing::RandomProduct problem(sizes, set().bf16);
    GemmArguments product = problem.arguments();
    expect_same_in_blocks(product, set().bf16, block);
    const std::vector<float> bias = random_floats(sizes.n, 3);
    product.bias = bias.data();
    expect_same_in_blocks(product, set().bf16, block);
  }
}

TEST_P(ColumnBlocks, OfIntegersAreThoseOfTheRows) {
  const GemmKernel& kernel = set().integers;
  for (const auto& [sizes, block] : problems()) {
    const word_testing::IntegerProblem problem(sizes);
    const Words a = problem.a_words(kernel.kind);
    const Packed w = problem.packed(kernel);
    std::vector<float> c;
    GemmArguments product = word_testing::arguments_of(sizes, a, w, c);
    product.scales = problem.scales();
    product.bias = problem.bias.data();
    expect_same_in_blocks(product, kernel, block);
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, ColumnBlocks, ::testing::ValuesIn(base::runnable_instruction_sets()),
                         kernel_testing::set_name);

constexpr std::int64_t kHidden = 40, kLongest = 150;

enum class Weight : std::uint8_t { f32, bf16, i8 };

struct Layer {
  std::int64_t heads, kv_heads, head_size;
  Weight weight = Weight::f32;
  bool rounds_operands = false;
  std::int64_t value_size = 0;  // 0: the head size

  std::int64_t values() const { return value_size == 0 ? head_size : value_size; }
  std::int64_t columns() const { return heads * head_size + kv_heads * (head_size + values()); }
};

struct Texts {
  Value starts, lengths;
  Dim tokens;
  explicit Texts(Builder& b) : tokens(b.dim("tokens")) {
    const Dim sequences = b.dim("sequences");
    starts = b.parameter("starts", {DType::i32, {sequences}});
    lengths = b.parameter("lengths", {DType::i32, {sequences}});
  }
};

Value projection(Builder& b, Value x, Weight weight, std::int64_t columns) {
  const Value bias = b.constant(random_tensor(DType::f32, {columns}, 4));
  if (weight == Weight::i8) {
    const Tensor integers = random_tensor(DType::i8, {columns, kHidden}, 3);
    const Value scales = b.constant(random_tensor(DType::f32, {columns, 1}, 5));
    return b.quantized_dense({x, b.constant(integers), scales, bias},
                             {.blocks = {1, 0}, .has_bias = true, .activation_groups = 1});
  }
  const DType dtype = weight == Weight::bf16 ? DType::bf16 : DType::f32;
  return b.dense({x, b.constant(random_tensor(dtype, {columns, kHidden}, 3)), bias}, {.has_bias = true});
}

Value heads_of(Builder& b, Value whole, const Texts& texts, std::int64_t first, std::int64_t heads, std::int64_t size) {
  const Value columns = b.slice(
      {whole}, {.starts = {Dim(0), Dim(first)}, .limits = {texts.tokens, Dim(first + heads * size)}, .strides = {}});
  return b.reshape({columns}, {.dims = {texts.tokens, heads, size}});
}

Value attend(Builder& b, Value whole, const Texts& texts, const Layer& layer) {
  const std::int64_t keys = layer.heads * layer.head_size, values = keys + layer.kv_heads * layer.head_size;
  return b.ragged_attention(
      {heads_of(b, whole, texts, 0, layer.heads, layer.head_size),
       heads_of(b, whole, texts, keys, layer.kv_heads, layer.head_size),
       heads_of(b, whole, texts, values, layer.kv_heads, layer.values()), texts.starts, texts.lengths},
      {.scale = 0.25, .rounds_operands = layer.rounds_operands, .longest = kLongest});
}

// With steps before it, the product is in a group that runs in blocks of rows.
Program program_of(const Layer& layer, bool also_gives_product) {
  Builder b("layer");
  const Texts texts(b);
  const Value x = b.parameter("x", {DType::f32, {texts.tokens, kHidden}});
  const Value ones = b.constant(random_tensor(DType::f32, {kHidden}, 7));
  const Value before = projection(b, b.layer_norm({x, ones, ones}, {}), Weight::f32, kHidden);
  const Value whole = projection(b, before, layer.weight, layer.columns());
  b.output("mixed", attend(b, whole, texts, layer));
  if (also_gives_product) b.output("product", whole);
  return Program(std::move(b));
}

std::vector<Tensor> inputs_of(const std::vector<std::int32_t>& lengths) {
  std::vector<std::int32_t> starts;
  std::int64_t tokens = 0;
  for (const std::int32_t length : lengths) {
    starts.push_back(static_cast<std::int32_t>(tokens));
    tokens += length;
  }
  const auto count = static_cast<std::int64_t>(lengths.size());
  return {Tensor::from<std::int32_t>({count}, std::span(starts)),
          Tensor::from<std::int32_t>({count}, std::span(lengths)), random_tensor(DType::f32, {tokens, kHidden}, 9)};
}

// The blocks of the results of steps, where there are any.
std::vector<std::int64_t> blocks_of(const Plan& plan) {
  std::vector<std::int64_t> blocks;
  for (const Slot& slot : plan.slots) {
    if (slot.kind != SlotKind::view && slot.format.kind == kColumnBlocks) blocks.push_back(slot.format.column_block());
  }
  return blocks;
}

const std::vector<std::int64_t> kNone;

TEST(SplitHeads, ChangesNoBits) {
  for (const Weight weight : {Weight::f32, Weight::bf16, Weight::i8}) {
    for (const Layer& of : {Layer{6, 6, 16}, {3, 3, 32}, {4, 2, 32}, {2, 2, 64}, {4, 1, 80}}) {
      Layer layer = of;
      layer.weight = weight;
      layer.rounds_operands = weight == Weight::i8;
      const Program split = program_of(layer, false), whole = program_of(layer, true);
      ASSERT_EQ(blocks_of(split.plan), std::vector<std::int64_t>{layer.head_size});
      ASSERT_EQ(blocks_of(whole.plan), kNone) << "an output has its columns side by side";
      ASSERT_EQ(split.plan.row_groups.size(), 1U);
      for (const std::vector<std::int32_t>& lengths :
           {std::vector<std::int32_t>{1}, {31, 2, 0, 1}, {130}, {40, 17, 150, 33, 8}}) {
        const std::vector<Tensor> inputs = inputs_of(lengths);
        const Tensor wanted = whole.run(inputs, 1)[0];
        for (const std::size_t workers : {1, 2, 3, 5}) {
          EXPECT_TRUE(std::ranges::equal(split.run(inputs, workers)[0].bytes(), wanted.bytes()))
              << layer.heads << " heads of " << layer.head_size << ", weight " << static_cast<int>(weight) << ", "
              << workers << " threads, " << lengths.size() << " texts";
        }
      }
    }
  }
}

TEST(SplitHeads, LeavesHeadsThatVectorsCrossOrThatDiffer) {
  EXPECT_EQ(blocks_of(program_of({4, 4, 24}, false).plan), kNone);
  EXPECT_EQ(blocks_of(program_of({4, 4, 8}, false).plan), kNone);
  EXPECT_EQ(blocks_of(program_of({2, 2, 32, Weight::f32, false, 16}, false).plan), kNone);
}

TEST(SplitHeads, LeavesWhatAnotherStepReads) {
  const Layer layer{2, 2, 32};
  enum class Reader : std::uint8_t { whole, columns, output_of_columns, none };
  for (const Reader reader : {Reader::whole, Reader::columns, Reader::output_of_columns, Reader::none}) {
    Builder b("readers");
    const Texts texts(b);
    const Value x = b.parameter("x", {DType::f32, {texts.tokens, kHidden}});
    const Value whole = projection(b, x, Weight::f32, layer.columns());
    b.output("mixed", attend(b, whole, texts, layer));
    const Value keys = heads_of(b, whole, texts, 64, 2, 32);
    if (reader == Reader::whole) b.output("other", b.neg({whole}));
    if (reader == Reader::columns) b.output("other", b.neg({keys}));
    if (reader == Reader::output_of_columns) b.output("other", keys);
    const Program program(std::move(b));
    EXPECT_EQ(blocks_of(program.plan).empty(), reader != Reader::none) << static_cast<int>(reader);
  }
}

TEST(SplitHeads, TakesProductsOfTheirOwnAndTwoReaders) {
  const auto make = [&](bool gives_products) {
    Builder b("products");
    const Texts texts(b);
    const Value x = b.parameter("x", {DType::f32, {texts.tokens, kHidden}});
    const Value query = projection(b, x, Weight::f32, 64), both = projection(b, x, Weight::f32, 128);
    const Value heads = b.reshape({query}, {.dims = {texts.tokens, 2, 32}});
    for (const bool is_causal : {false, true}) {
      b.output(is_causal ? "causal" : "mixed",
               b.ragged_attention({heads, heads_of(b, both, texts, 0, 2, 32), heads_of(b, both, texts, 64, 2, 32),
                                   texts.starts, texts.lengths},
                                  {.causal = is_causal, .longest = kLongest}));
    }
    if (gives_products) {
      b.output("query", query);
      b.output("both", both);
    }
    return Program(std::move(b));
  };
  const Program split = make(false), whole = make(true);
  EXPECT_EQ(blocks_of(split.plan), (std::vector<std::int64_t>{32, 32}));
  EXPECT_EQ(blocks_of(whole.plan), kNone);
  const std::vector<Tensor> inputs = inputs_of({20, 70, 3});
  const std::vector<Tensor> wanted = whole.run(inputs, 1);
  for (const std::size_t workers : {1, 2, 3}) {
    const std::vector<Tensor> found = split.run(inputs, workers);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_TRUE(std::ranges::equal(found[i].bytes(), wanted[i].bytes())) << "output " << i;
  }
}

}  // namespace
}  // namespace alate::cpu
