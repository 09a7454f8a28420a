// What a profile says that each kernel call had to do.
#include "backends/cpu/kernels/attention/attention.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "tests/unit/backends/cpu/step_testing.h"

namespace alate::cpu {
namespace {

using backends::Arithmetic;
using backends::StepTime;
using graph::Builder;
using graph::Value;

Shape f32(std::vector<Dim> dims) { return {DType::f32, std::move(dims)}; }

Tensor i32(const std::vector<std::int64_t>& extents, const std::vector<std::int32_t>& values) {
  return Tensor::from<std::int32_t>(extents, values);
}

// The calls of one run of the graph that has `y` as its output.
std::vector<StepTime> profile(Builder& b, Value y, const std::vector<Tensor>& inputs) {
  b.output("y", y);
  static std::unique_ptr<backends::Executable> executable;  // the names of the calls are its own
  executable = cpu_backend().compile(std::move(b).finish(), {});
  const std::vector<backends::Buffer> buffers(inputs.begin(), inputs.end());
  std::vector<backends::Buffer> outputs(1);
  std::vector<StepTime> calls;
  executable->run(buffers, outputs, {.cancellation = base::Cancellation::never(), .profile = &calls});
  return calls;
}

// The one call of this kernel.
StepTime call_of(const std::vector<StepTime>& calls, std::string_view kernel) {
  const auto found = std::ranges::find(calls, kernel, &StepTime::kernel);
  std::string others;
  for (const StepTime& call : calls) others += " " + std::string(call.kernel);
  EXPECT_NE(found, calls.end()) << "there is no " << kernel << " among" << others;
  EXPECT_EQ(std::ranges::count(calls, kernel, &StepTime::kernel), 1) << kernel << " among" << others;
  return found == calls.end() ? StepTime{} : *found;
}

void expect_work(const StepTime& call, double flops, double bytes, Arithmetic arithmetic) {
  SCOPED_TRACE(std::string(call.kernel));
  EXPECT_EQ(call.work.flops, flops);
  EXPECT_EQ(call.work.bytes, bytes);
  EXPECT_EQ(call.work.arithmetic, arithmetic);
  EXPECT_GE(call.time.count(), 0);
}

TEST(StepWork, DenseMultipliesEveryRowWithTheWholeWeight) {
  Builder b("dense");
  const Value x = b.parameter("x", f32({b.dim("rows"), 64}));
  b.set_source("layer");
  // 64 inputs and 96 outputs: whole panels of every instruction set, so that packed weights are as large as they were.
  const Value y =
      b.dense({x, b.constant(random_tensor(DType::f32, {96, 64}, 1)), b.constant(random_tensor(DType::f32, {96}, 2))},
              {.has_bias = true, .activation = graph::Activation::gelu_erf});
  const StepTime call = call_of(profile(b, y, {random_tensor(DType::f32, {5, 64}, 3)}), "gemm");
  expect_work(call, 2 * 5 * 64 * 96, 4 * (5 * 64 + 96 * 64 + 96 + 5 * 96), Arithmetic::f32);
  EXPECT_EQ(call.source, "layer");
}

TEST(StepWork, ProductsOfIntegersAreMeasuredByTheirPeak) {
  Builder b("quantized_dense");
  const Value x = b.parameter("x", f32({5, 64}));
  const Value y = b.quantized_dense(
      {x, b.constant(random_tensor(DType::i8, {96, 64}, 1)), b.constant(random_tensor(DType::f32, {96, 1}, 2))},
      {.blocks = {1, 0}, .activation_groups = 1});
  const StepTime call = call_of(profile(b, y, {random_tensor(DType::f32, {5, 64}, 3)}), "integer_gemm");
  const bool in_bytes = kernels().integers.kind == WordKind::bytes;
  const int weight = 96 * 64 * (in_bytes ? 1 : 2), scales = 4 * 96, sums = 4 * 96;
  expect_work(call, 2 * 5 * 64 * 96, 4 * (5 * 64 + 5 * 96) + weight + scales + sums,
              in_bytes ? Arithmetic::int8 : Arithmetic::int16);
}

TEST(StepWork, ANormAndTheProductOfItsIntegersCountAsBoth) {
  Builder b("norm and product");
  const Value x = b.parameter("x", f32({5, 64}));
  const auto weight = [&](DType dtype, const std::vector<std::int64_t>& extents) {
    return b.constant(random_tensor(dtype, extents, 1));
  };
  const Value rows = b.layer_norm({x, weight(DType::f32, {64}), weight(DType::f32, {64})}, {});
  const Value y = b.quantized_dense({rows, weight(DType::i8, {96, 64}), weight(DType::f32, {96, 1})},
                                    {.blocks = {1, 0}, .activation_groups = 1});
  const StepTime call = call_of(profile(b, y, {random_tensor(DType::f32, {5, 64}, 3)}), "norm_integer_gemm");
  const bool in_bytes = kernels().integers.kind == WordKind::bytes;
  const int packed = 96 * 64 * (in_bytes ? 1 : 2) + 4 * 96 + 4 * 96;  // with scales and sums
  expect_work(call, 8 * 5 * 64 + 2 * 5 * 64 * 96, 4 * (2 * 64 + 2 * 5 * 64 + 5 * 96) + packed,
              in_bytes ? Arithmetic::int8 : Arithmetic::int16);
}

TEST(StepWork, ProductsOfComplexNumbersAreFourEach) {
  for (const DType dtype : {DType::f32, DType::f64, DType::c64}) {
    Builder b("dot_general");
    const Value x = b.parameter("x", {dtype, {3, 4, 5}}), y = b.parameter("y", {dtype, {3, 5, 7}});
    const Value z =
        b.dot_general({x, y}, {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contracting = {2}, .rhs_contracting = {1}});
    const StepTime call =
        call_of(profile(b, z, {random_tensor(dtype, {3, 4, 5}, 1), random_tensor(dtype, {3, 5, 7}, 2)}), "dot_general");
    const double products = 3 * 4 * 5 * 7 * (dtype == DType::c64 ? 4 : 1);
    const double bytes = 3 * (4 * 5 + 5 * 7 + 4 * 7) * (dtype == DType::f32 ? 4 : 8);
    expect_work(call, 2 * products, bytes, dtype == DType::f64 ? Arithmetic::other : Arithmetic::f32);
  }
}

TEST(StepWork, ConvolutionsSumTheWindowAndTheChannelsOfAGroup) {
  for (const std::int64_t groups : {1, 4}) {
    Builder b("conv");
    const Value x = b.parameter("x", f32({2, 4, 9, 9})), kernel = b.parameter("kernel", f32({8, 4 / groups, 3, 3}));
    graph::Convolution conv;
    conv.input_spatial = conv.kernel_spatial = conv.output_spatial = {2, 3};
    conv.feature_groups = groups;
    const Value y = b.conv_general({x, kernel}, conv);
    const StepTime call = call_of(
        profile(b, y,
                {random_tensor(DType::f32, {2, 4, 9, 9}, 1), random_tensor(DType::f32, {8, 4 / groups, 3, 3}, 2)}),
        "conv");
    const double channels = 4.0 / static_cast<double>(groups), result = 2 * 8 * 7 * 7;
    expect_work(call, 2 * result * 9 * channels, 4 * (2 * 4 * 9 * 9 + 8 * channels * 9 + result), Arithmetic::f32);
  }
}

TEST(StepWork, AttentionCountsThePairsThatSeeEachOther) {
  struct Case {
    graph::Attention attention;
    double pairs;  // of five queries and five keys
  };
  const Case cases[] = {{{}, 25},
                        {{.causal = true}, 15},
                        {{.window_left = 1, .window_right = 0}, 9},
                        {{.window_left = 1, .window_right = 1}, 13},
                        {{.causal = true, .window_left = 0}, 5}};
  for (const Case& each : cases) {
    Builder b("attention");
    const Value q = b.parameter("q", f32({2, 5, 4, 8})), k = b.parameter("k", f32({2, 5, 2, 8})),
                v = b.parameter("v", f32({2, 5, 2, 6}));
    const StepTime call =
        call_of(profile(b, b.attention({q, k, v}, each.attention),
                        {random_tensor(DType::f32, {2, 5, 4, 8}, 1), random_tensor(DType::f32, {2, 5, 2, 8}, 2),
                         random_tensor(DType::f32, {2, 5, 2, 6}, 3)}),
                "attention");
    // Two sequences, four heads; 8 wide for the scores and 6 for the values.
    expect_work(call, 2 * each.pairs * 2 * 4 * (8 + 6), 4 * 2 * 5 * (4 * 8 + 2 * 8 + 2 * 6 + 4 * 6), Arithmetic::f32);
  }
}

TEST(StepWork, AttentionSaysWhenItMultipliesIntegers) {
  for (const std::int64_t keys : {20, 40}) {
    Builder b("attention");
    const Shape shape = f32({1, keys, 1, 8});
    const Value q = b.parameter("q", shape), k = b.parameter("k", shape), v = b.parameter("v", shape);
    const Tensor x = random_tensor(DType::f32, {1, keys, 1, 8}, 1);
    const StepTime call =
        call_of(profile(b, b.attention({q, k, v}, {.rounds_operands = true}), {x, x, x}), "attention");
    const bool rounds = rounded_operands(static_cast<std::size_t>(keys), false) == WordKind::shorts;
    EXPECT_EQ(call.work.arithmetic, rounds ? Arithmetic::int16 : Arithmetic::f32);
    if (keys == 20) {
      EXPECT_FALSE(rounds);
    }
  }
}

TEST(StepWork, RaggedAttentionCountsEachSequenceAlone) {
  Builder b("ragged");
  const Value q = b.parameter("q", f32({6, 2, 8})), k = b.parameter("k", f32({6, 2, 8})),
              v = b.parameter("v", f32({6, 2, 8}));
  const Value starts = b.parameter("starts", {DType::i32, {2}}), lengths = b.parameter("lengths", {DType::i32, {2}});
  const Value seen = b.parameter("seen", {DType::i32, {2}});
  const Value y = b.ragged_attention({q, k, v, starts, lengths, seen}, {.has_lengths = true, .longest = 4});
  std::vector<Tensor> inputs;
  for (unsigned i = 0; i < 3; ++i) inputs.push_back(random_tensor(DType::f32, {6, 2, 8}, i));
  inputs.insert(inputs.end(), {i32({2}, {0, 2}), i32({2}, {2, 4}), i32({2}, {2, 3})});
  // 2 × 2 pairs, and four queries that see three keys.
  expect_work(call_of(profile(b, y, inputs), "ragged_attention"), 2 * (4 + 12) * 2 * (8 + 8),
              4 * (4 * 6 * 2 * 8 + 3 * 2), Arithmetic::f32);
}

TEST(StepWork, PagedAttentionCountsTheRowsThatSequencesHave) {
  Builder b("paged");
  const std::vector<Tensor> inputs = {random_tensor(DType::f32, {4, 4, 8}, 1),
                                      random_tensor(DType::f16, {50, 2, 2, 8}, 2),
                                      random_tensor(DType::f16, {50, 2, 2, 6}, 3),
                                      i32({3, 3}, {5, 1, 9, 7, -1, -1, -1, -1, -1}),
                                      i32({3}, {0, 3, 4}),
                                      i32({3}, {3, 1, 0}),
                                      i32({3}, {5, 1, 6})};
  std::vector<Value> operands;
  for (const Tensor& input : inputs)
    operands.push_back(b.parameter("x" + std::to_string(operands.size()), input.shape()));
  const Value y = b.paged_attention(operands, {.causal = true, .longest = 3});
  // Three queries that see 3, 4 and 5 keys, and one that sees itself; 6 rows of the cache.
  expect_work(call_of(profile(b, y, inputs), "paged_attention"), 2 * (3 + 4 + 5 + 1) * 4 * (8 + 6),
              4 * 4 * 4 * (8 + 6) + 6 * 2 * 2 * (8 + 6) + 4 * (9 + 3 * 3), Arithmetic::f32);
}

TEST(StepWork, NormsAndSoftmaxCountForEachElement) {
  const Tensor x = random_tensor(DType::f32, {7, 30}, 1);
  const auto one = [&](std::string_view kernel, auto build) {
    Builder b("rows");
    const Value in = b.parameter("x", f32({7, 30}));
    const Value y = build(b, in);
    return call_of(profile(b, y, {x}), kernel);
  };
  const auto weight = [](Builder& b) { return b.constant(random_tensor(DType::f32, {30}, 2)); };
  const double all = 7 * 30, both = 2 * 4 * all, vector = 4 * 30;
  expect_work(one("layer_norm",
                  [&](Builder& b, Value in) {
                    return b.layer_norm({in, weight(b), weight(b)});
                  }),
              8 * all, both + 2 * vector, Arithmetic::f32);
  expect_work(one("rms_norm",
                  [&](Builder& b, Value in) {
                    return b.rms_norm({in, weight(b)});
                  }),
              4 * all, both + vector, Arithmetic::f32);
  expect_work(one("normalize", [&](Builder& b, Value in) { return b.normalize({in}); }), 3 * all, both,
              Arithmetic::f32);
  expect_work(one("softmax", [&](Builder& b, Value in) { return b.softmax({in}, {.axis = 1}); }), 4 * all, both,
              Arithmetic::f32);
}

TEST(StepWork, StepsThatTouchPartsCountTheParts) {
  const Tensor table = random_tensor(DType::f32, {1000, 30}, 1);
  {
    Builder b("gather");
    const Value x = b.parameter("x", f32({1000, 30})), rows = b.parameter("rows", {DType::i32, {4, 1}});
    const Value y = b.gather({x, rows}, {.offset_dims = {1},
                                         .collapsed_slice_dims = {0},
                                         .start_index_map = {0},
                                         .index_vector_dim = 1,
                                         .slice_sizes = {1, 30}});
    expect_work(call_of(profile(b, y, {table, i32({4, 1}, {3, 1, 4, 1})}), "gather"), 0, 2 * 4 * 4 * 30 + 4 * 4,
                Arithmetic::none);
  }
  {
    Builder b("pool");
    const Value x = b.parameter("x", f32({1000, 30})), starts = b.parameter("starts", {DType::i32, {2}}),
                lengths = b.parameter("lengths", {DType::i32, {2}});
    const Value y = b.ragged_pool({x, starts, lengths}, {.mode = graph::PoolMode::cls, .longest = 600});
    expect_work(call_of(profile(b, y, {table, i32({2}, {0, 400}), i32({2}, {400, 600})}), "pool"), 0,
                4 * (2 * 2 * 30 + 2 * 2), Arithmetic::none);
  }
}

TEST(StepWork, ChainsReadEachInputOnceAndWriteOneResult) {
  Builder b("chain");
  const Value x = b.parameter("x", f32({40, 50})), row = b.parameter("row", f32({50}));
  const Value y = b.add({b.exp({x}), b.broadcast_in_dim({row}, {.dims = {40, 50}, .mapping = {1}})});
  expect_work(
      call_of(profile(b, b.mul({y, x}), {random_tensor(DType::f32, {40, 50}, 1), random_tensor(DType::f32, {50}, 2)}),
              "tiles"),
      0, 4 * (2 * 40 * 50 + 50), Arithmetic::none);
}

TEST(StepWork, TheTimeOfStepsInRegionsIsNotCountedTwice) {
  Builder b("if");
  Builder branch("branch", b.so_far().shared_dims()), other("other", b.so_far().shared_dims());
  branch.output("y", branch.softmax({branch.parameter("x", f32({400, 500}))}, {.axis = 1}));
  other.output("y", other.neg({other.parameter("x", f32({400, 500}))}));
  const Value condition = b.parameter("condition", {DType::boolean, {}}), x = b.parameter("x", f32({400, 500}));
  const auto region = [](Builder& built) { return std::make_shared<const graph::Graph>(std::move(built).finish()); };
  const Value y = b.if_else({condition, x}, region(branch), region(other)).front();
  const std::vector<Tensor> inputs = {Tensor::from<bool>({}, {true}), random_tensor(DType::f32, {400, 500}, 1)};
  const auto start = std::chrono::steady_clock::now();
  const auto calls = profile(b, y, inputs);
  const std::chrono::nanoseconds whole = std::chrono::steady_clock::now() - start;
  const StepTime inner = call_of(calls, "softmax"), outer = call_of(calls, "if");
  expect_work(inner, 4 * 400 * 500, 2 * 4 * 400 * 500, Arithmetic::f32);
  expect_work(outer, 0, 0, Arithmetic::none);
  std::chrono::nanoseconds told{0};
  for (const StepTime& call : calls) told += call.time;
  EXPECT_LE(told, whole);
}

}  // namespace
}  // namespace alate::cpu
