// Which lookups are joined with their sum and its norm, and that nothing can be seen of it in the results.
#include "backends/cpu/passes/join_embeddings.h"

#include <functional>

#include "alate/error.h"
#include "tests/unit/backends/cpu/plan_testing.h"
#include "tests/unit/backends/cpu/step_testing.h"

namespace alate::cpu {
namespace {

using graph::Builder;
using graph::Value;

constexpr std::int64_t kVocabulary = 200;

struct Embeddings {
  Builder& b;
  std::int64_t width;

  Value numbers(DType dtype, std::vector<std::int64_t> extents, unsigned seed) const {
    return b.constant(random_tensor(dtype, extents, seed));
  }
  Value rows(DType dtype, Value indices, unsigned seed) const {
    const Value taken = graph::take_rows(b, numbers(dtype, {kVocabulary, width}, seed), indices);
    return dtype == DType::f32 ? taken : b.convert({taken}, {.dtype = DType::f32});
  }
  Value integer_rows(DType dtype, Value indices, unsigned seed, graph::Numbers blocks = {1, 0}) const {
    const std::int64_t scales = kVocabulary / blocks[0];
    return b.quantized_embedding(
        {indices, numbers(dtype, {kVocabulary, width}, seed), numbers(DType::f32, {scales, 1}, seed + 1)},
        {.blocks = std::move(blocks)});
  }
  Value repeated(Value x, Value like, graph::Numbers mapping) const {
    return b.broadcast_in_dim({x}, {.dims = b.shape(like).dims, .mapping = std::move(mapping)});
  }
  Value norm(Value x) const {
    return b.layer_norm({x, numbers(DType::f32, {width}, 91), numbers(DType::f32, {width}, 92)}, {.epsilon = 1e-6});
  }
};

// Gives the sum for indices a, b (i32, i64; [tokens]) and numbers [tokens, width].
using Sum = std::function<Value(const Embeddings&, Value a, Value b, Value x)>;

// With `shows_sum` the sum is an output too, so that it must be there.
Program program_of(const Sum& sum, std::int64_t width, bool shows_sum, bool has_product = false) {
  Builder b("embeddings");
  const Embeddings embeddings{b, width};
  const Dim tokens = b.dim("tokens");
  const Value first = b.parameter("first", {DType::i32, {tokens}}),
              second = b.parameter("second", {DType::i64, {tokens}}),
              x = b.parameter("x", {DType::f32, {tokens, width}});
  const Value added = sum(embeddings, first, second, x);
  Value y = embeddings.norm(added);
  if (has_product) y = b.dense({y, embeddings.numbers(DType::f32, {24, width}, 93)}, {});
  b.output("y", y);
  if (shows_sum) b.output("sum", added);
  return Program(std::move(b));
}

std::vector<std::string_view> kernels_of(const Plan& plan) {
  std::vector<std::string_view> kernels;
  for (const Step& step : plan.steps) kernels.push_back(step.operation->spelling);
  return kernels;
}

bool is_joined(const Plan& plan) {
  const auto kernels = kernels_of(plan);
  return std::ranges::find(kernels, "embed_norm") != kernels.end();
}

// Indices some of which are beyond the tables.
std::vector<Tensor> inputs_of(std::int64_t tokens, std::int64_t width) {
  Tensor first = random_tensor(DType::i32, {tokens}, 1), second = random_tensor(DType::i64, {tokens}, 2);
  for (std::int32_t& id : first.mutable_values<std::int32_t>()) id *= 3;
  for (std::int64_t& id : second.mutable_values<std::int64_t>()) id *= id;
  return {first, second, random_tensor(DType::f32, {tokens, width}, 3)};
}

void expect_joined_as_apart(const Sum& sum, std::size_t steps = 1) {
  for (const std::int64_t width : {2, 19, 48, 100}) {
    const Program joined = program_of(sum, width, false), apart = program_of(sum, width, true);
    ASSERT_TRUE(is_joined(joined.plan));
    ASSERT_FALSE(is_joined(apart.plan));
    EXPECT_EQ(joined.plan.steps.size(), steps);
    for (const std::int64_t tokens : {0, 1, 33, 170}) {
      const std::vector<Tensor> inputs = inputs_of(tokens, width);
      const Tensor wanted = apart.run(inputs, 1)[0];
      for (const std::size_t workers : {1, 2, 3}) {
        EXPECT_TRUE(std::ranges::equal(joined.run(inputs, workers)[0].bytes(), wanted.bytes()))
            << tokens << " × " << width << " with " << workers << " threads";
      }
    }
  }
}

void expect_apart(const std::string& what, const Sum& sum) {
  const Program program = program_of(sum, 48, false);
  EXPECT_FALSE(is_joined(program.plan)) << what;
  EXPECT_EQ(program.run(inputs_of(9, 48), 2).size(), 1U);
}

TEST(JoinEmbeddings, TakesTheLookupsOfAnEncoder) {
  expect_joined_as_apart([](const Embeddings& e, Value a, Value b, Value /*x*/) {
    const Value words = e.integer_rows(DType::i8, a, 5), types = e.rows(DType::f32, b, 7);
    return e.b.add({e.b.add({words, types}), e.rows(DType::f32, a, 9)});
  });
}

TEST(JoinEmbeddings, TakesTablesOfEveryTypeAndRowsThatRepeat) {
  expect_joined_as_apart([](const Embeddings& e, Value a, Value b, Value x) {
    const Value sum = e.b.add({e.rows(DType::bf16, b, 5), e.rows(DType::f16, a, 6)});
    const Value row = e.repeated(e.numbers(DType::f32, {e.width}, 8), x, {1});
    return e.b.add({row, e.b.add({e.integer_rows(DType::u8, b, 10), sum})});
  });
}

TEST(JoinEmbeddings, TakesOneLookupAlone) {
  const auto alone = [](auto rows) {
    expect_joined_as_apart([&](const Embeddings& e, Value a, Value b, Value /*x*/) { return rows(e, a, b); });
  };
  alone([](const Embeddings& e, Value a, Value /*b*/) { return e.rows(DType::f32, a, 5); });
  alone([](const Embeddings& e, Value /*a*/, Value b) { return e.rows(DType::bf16, b, 5); });
  alone([](const Embeddings& e, Value /*a*/, Value b) { return e.integer_rows(DType::i8, b, 5); });
}

TEST(JoinEmbeddings, AddsWhatIsNoLookup) {
  expect_joined_as_apart([](const Embeddings& e, Value a, Value /*b*/, Value x) {
    return e.b.add({x, e.integer_rows(DType::i8, a, 5)});
  });
  expect_joined_as_apart(
      [](const Embeddings& e, Value a, Value b, Value x) {
        const Value product = e.b.dense({x, e.numbers(DType::f32, {e.width, e.width}, 4)}, {});
        return e.b.add({e.b.add({product, e.rows(DType::f16, b, 5)}), e.rows(DType::f32, a, 6)});
      },
      2);
}

// Seven gathers and their sum come before.
TEST(JoinEmbeddings, TakesTheEndOfASumThatIsTooLongForOneChain) {
  const auto sum = [](const Embeddings& e, Value a, Value b, Value /*x*/) {
    Value all = e.rows(DType::f32, a, 5);
    for (unsigned i = 0; i < 8; ++i) all = e.b.add({all, e.rows(DType::f32, b, 6 + i)});
    return all;
  };
  expect_joined_as_apart(sum, 9);
}

TEST(JoinEmbeddings, KeepsALookupThatOthersReadToo) {
  Builder b("shared");
  const Embeddings e{b, 48};
  const Value ids = b.parameter("ids", {DType::i32, {b.dim("tokens")}});
  const Value shared = e.rows(DType::f32, ids, 5), sum = b.add({shared, e.integer_rows(DType::i8, ids, 6)});
  b.output("y", e.norm(sum));
  b.output("shared", b.tanh({shared}));
  const Program program(std::move(b));
  auto kernels = kernels_of(program.plan);
  std::ranges::sort(kernels);
  EXPECT_EQ(kernels, (std::vector<std::string_view>{"embed_norm", "gather", "tiles"}));
  const std::vector<Tensor> inputs = {inputs_of(70, 48)[0]},
                            wanted = graph::interpret(program.graph, inputs, base::Cancellation::never()),
                            found = program.run(inputs, 3);
  for (std::size_t i = 0; i < 48 * 70; ++i)
    ASSERT_NEAR(found[0].values<float>()[i], wanted[0].values<float>()[i], 1e-4);
  EXPECT_TRUE(std::ranges::equal(found[0].bytes(), program.run(inputs, 1)[0].bytes()));
}

// As exported programs have them: indices [texts, length], positions that are the same for every text.
TEST(JoinEmbeddings, RepeatsPositionsForEveryText) {
  const auto build = [](bool shows_sum) {
    Builder b("texts");
    const Embeddings e{b, 40};
    const Dim texts = b.dim("texts"), length = b.dim("length");
    const Value ids = b.parameter("ids", {DType::i64, {texts, length}}),
                places = b.parameter("places", {DType::i32, {length}});
    const Value words = e.integer_rows(DType::i8, ids, 5),
                positions = e.repeated(e.rows(DType::f32, places, 6), words, {1, 2}),
                row = e.repeated(e.numbers(DType::f32, {1, 1, 40}, 7), words, {0, 1, 2});
    const Value sum = b.add({b.add({words, positions}), row});
    b.output("y", b.gelu({b.dense({e.norm(sum), e.numbers(DType::f32, {40, 40}, 8)}, {})}, {}));
    if (shows_sum) b.output("sum", sum);
    return Program(std::move(b));
  };
  const Program joined = build(false), apart = build(true);
  EXPECT_EQ(kernels_of(joined.plan).front(), "embed_norm");
  ASSERT_FALSE(is_joined(apart.plan));
  ASSERT_EQ(joined.plan.row_groups.size(), 1U);
  EXPECT_EQ(joined.plan.row_groups[0].first, 0U);
  Tensor ids = random_tensor(DType::i64, {64, 7}, 1), places = random_tensor(DType::i32, {7}, 2);
  const Tensor wanted = apart.run({ids, places}, 1)[0];
  for (const std::size_t workers : {1, 2, 3})
    EXPECT_TRUE(std::ranges::equal(joined.run({ids, places}, workers)[0].bytes(), wanted.bytes())) << workers;
}

TEST(JoinEmbeddings, BeginsAGroupOfRows) {
  const Sum sum = [](const Embeddings& e, Value a, Value b, Value x) {
    const Value row = e.repeated(e.numbers(DType::f32, {e.width}, 8), x, {1});
    return e.b.add({e.b.add({e.integer_rows(DType::i8, a, 5), row}), e.rows(DType::f32, b, 7)});
  };
  const Program joined = program_of(sum, 48, false, true), apart = program_of(sum, 48, true, true);
  ASSERT_EQ(joined.plan.row_groups.size(), 1U);
  EXPECT_EQ(joined.plan.row_groups[0].first, 0U);
  EXPECT_EQ(joined.plan.row_groups[0].end, 2U);
  for (const std::int64_t tokens : {31, 97, 300}) {
    const std::vector<Tensor> inputs = inputs_of(tokens, 48);
    for (const std::size_t workers : {1, 2, 5}) {
      EXPECT_TRUE(std::ranges::equal(joined.run(inputs, workers)[0].bytes(), apart.run(inputs, workers)[0].bytes()))
          << tokens << " rows with " << workers << " threads";
    }
  }
}

TEST(JoinEmbeddings, LeavesWhatDoesNotFit) {
  expect_apart("sums of two and two", [](const Embeddings& e, Value a, Value b, Value x) {
    return e.b.add({e.b.add({e.rows(DType::f32, a, 5), x}), e.b.add({e.rows(DType::f32, b, 6), x})});
  });
  expect_apart("a product", [](const Embeddings& e, Value a, Value /*b*/, Value x) {
    return e.b.mul({e.rows(DType::f32, a, 5), x});
  });
  expect_apart("a difference", [](const Embeddings& e, Value a, Value b, Value /*x*/) {
    return e.b.sub({e.rows(DType::f32, a, 5), e.rows(DType::f32, b, 6)});
  });
  expect_apart("no lookup", [](const Embeddings& e, Value /*a*/, Value /*b*/, Value x) {
    return e.b.add({x, e.repeated(e.numbers(DType::f32, {e.width}, 8), x, {1})});
  });
  expect_apart("a number for each row", [](const Embeddings& e, Value a, Value b, Value x) {
    return e.b.add({e.rows(DType::f32, a, 5), e.repeated(e.b.convert({b}, {.dtype = DType::f32}), x, {0})});
  });
  expect_apart("a number for all", [](const Embeddings& e, Value a, Value /*b*/, Value x) {
    return e.b.add({e.rows(DType::f32, a, 5), graph::scalar_like(e.b, 0.5, x)});
  });
  expect_apart("scales of two rows", [](const Embeddings& e, Value a, Value /*b*/, Value /*x*/) {
    return e.integer_rows(DType::i8, a, 5, {2, 0});
  });
  expect_apart("rows of shorts",
               [](const Embeddings& e, Value a, Value /*b*/, Value /*x*/) { return e.integer_rows(DType::i16, a, 5); });
  expect_apart("half a row", [](const Embeddings& e, Value a, Value /*b*/, Value /*x*/) {
    const Value table = e.numbers(DType::f32, {kVocabulary, 2 * e.width}, 5);
    return e.b.gather({table, a}, {.offset_dims = {1},
                                   .collapsed_slice_dims = {0},
                                   .start_index_map = {0},
                                   .index_vector_dim = 1,
                                   .slice_sizes = {Dim(1), Dim(e.width)}});
  });
}

TEST(JoinEmbeddings, TellWhatTheyRead) {
  Builder b("embeddings");
  const Embeddings e{b, 48};
  const Dim tokens = b.dim("tokens");
  const Value ids = b.parameter("ids", {DType::i32, {tokens}}), places = b.parameter("places", {DType::i64, {tokens}});
  const Value words = e.integer_rows(DType::i8, ids, 5), row = e.repeated(e.numbers(DType::f32, {48}, 8), words, {1});
  b.set_source("layer");
  b.output("y", e.norm(b.add({b.add({words, e.rows(DType::bf16, places, 6)}), row})));
  const Program program(std::move(b));
  std::vector<backends::StepTime> calls;
  const std::vector<Tensor> inputs = inputs_of(10, 48);
  program.run({inputs[0], inputs[1]}, 1, {.cancellation = base::Cancellation::never(), .profile = &calls});
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].kernel, "embed_norm");
  EXPECT_EQ(calls[0].source, "layer");
  EXPECT_EQ(calls[0].work.flops, 10 * 48 * (8 + 2 + 1));
  EXPECT_EQ(calls[0].work.bytes, 10 * (4 + 48 + 4) + 10 * (8 + 2 * 48) + 4 * 48 + 2 * 4 * 48 + 10 * 4 * 48);
  EXPECT_EQ(calls[0].work.arithmetic, backends::Arithmetic::f32);
}

TEST(JoinEmbeddings, RefuseToTakeRowsOfAnEmptyTable) {
  Builder b("empty");
  const Embeddings e{b, 16};
  const Value table = b.parameter("table", {DType::f32, {b.dim("rows"), 16}}),
              ids = b.parameter("ids", {DType::i32, {b.dim("tokens")}});
  b.output("y", e.norm(graph::take_rows(b, table, ids)));
  const Program program(std::move(b));
  ASSERT_TRUE(is_joined(program.plan));
  const Tensor nothing = Tensor::zeros({DType::f32, {0, 16}});
  EXPECT_EQ(program.run({nothing, Tensor::zeros({DType::i32, {0}})}, 1)[0].byte_count(), 0U);
  try {
    program.run({nothing, Tensor::zeros({DType::i32, {3}})}, 1);
    FAIL() << "rows of nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("embed_norm: there are 3 rows to take"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace alate::cpu
