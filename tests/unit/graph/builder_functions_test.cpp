// Values of numpy 2.4.6 and, for instance_norm and activation functions, of torch.
#include "graph/builder_functions.h"

#include <cmath>
#include <functional>

#include "tests/unit/graph/make_tensors.h"

namespace alate::graph {
namespace {

using Doubles = std::vector<double>;
using Function = std::function<Value(Builder&, const std::vector<Value>&)>;

// What a function of parameters gives, in the interpreter.
Tensor run(const std::vector<Tensor>& inputs, const Function& function) {
  Builder b("function");
  std::vector<Value> values;
  for (const Tensor& input : inputs) values.push_back(b.parameter(std::to_string(values.size()), input.shape()));
  b.output("out", function(b, values));
  return interpret(b.finish(), inputs, base::Cancellation::never()).front();
}

// "dims: elements" of a result.
std::string shown(const Tensor& tensor) {
  std::string text;
  for (std::size_t i = 0; i < tensor.rank(); ++i) text += (i == 0 ? "" : "x") + std::to_string(tensor.extent(i));
  text += ":";
  for (const double value : loaded(tensor)) {
    text += ' ';
    text += std::to_string(static_cast<std::int64_t>(value));
  }
  return text;
}

// The error of a function of parameters of these shapes.
std::string refused(const std::vector<Dims>& dims, const Function& function) {
  return refusal([&] {
    Builder b("refused");
    std::vector<Value> values;
    for (const Dims& one : dims) values.push_back(b.parameter(std::to_string(values.size()), {DType::f32, one}));
    function(b, values);
  });
}

void expect_near(const Tensor& found, const Doubles& expected) {
  const Doubles values = loaded(found);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 2e-6 * std::max(1.0, std::fabs(expected[i]))) << "element " << i;
}

TEST(BuilderFunctions, SplitsAlongAnAxis) {
  const auto piece = [](std::size_t place) {
    return [place](Builder& b, const std::vector<Value>& x) { return split(b, x[0], {1, 0, 2}, -1).at(place); };
  };
  const Tensor x = counting({2, 3});
  EXPECT_EQ(shown(run({x}, piece(0))), "2x1: 0 3");
  EXPECT_EQ(shown(run({x}, piece(1))), "2x0:");
  EXPECT_EQ(shown(run({x}, piece(2))), "2x2: 1 2 4 5");
  EXPECT_EQ(shown(run({x}, [](Builder& b, const auto& v) { return split_evenly(b, v[0], 2, 0)[1]; })), "1x3: 3 4 5");
  EXPECT_EQ(refused({{2, 3}},
                    [](Builder& b, const auto& v) {
                      return split(b, v[0], {1, 1}, 1)[0];
                    }),
            "invalid_argument: split(f32[2,3]): the pieces must be as long as the axis together");
  EXPECT_EQ(refused({{2, 3}},
                    [](Builder& b, const auto& v) {
                      return split(b, v[0], {1, 1}, 2)[0];
                    }),
            "invalid_argument: split(f32[2,3]): axis 2 is outside the 2 axes");
  EXPECT_EQ(refused({{2, 3}}, [](Builder& b, const auto& v) { return split_evenly(b, v[0], 2, 1)[0]; }),
            "invalid_argument: split_evenly(f32[2,3]): 2 pieces must divide the axis, whose extent is a number");
}

TEST(BuilderFunctions, TakesColumnsOfMatrices) {
  const Tensor matrix = Tensor::from<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(shown(run({matrix}, [](Builder& b, const auto& v) { return column(b, v[0], 1); })), "2: 1 4");
  EXPECT_NE(refused({{2}}, [](Builder& b, const auto& v) { return column(b, v[0], 0); }).find("is not a matrix"),
            std::string::npos);
}

TEST(BuilderFunctions, StacksSqueezesAndExpands) {
  const Tensor x = row<float>({1, 2}), y = row<float>({3, 4});
  EXPECT_EQ(shown(run({x, y}, [](Builder& b, const auto& v) { return stack(b, v, 0); })), "2x2: 1 2 3 4");
  EXPECT_EQ(shown(run({x, y}, [](Builder& b, const auto& v) { return stack(b, v, -1); })), "2x2: 1 3 2 4");
  const Tensor thin = counting({1, 2, 1});
  EXPECT_EQ(shown(run({thin}, [](Builder& b, const auto& v) { return squeeze(b, v[0]); })), "2: 0 1");
  EXPECT_EQ(shown(run({thin}, [](Builder& b, const auto& v) { return squeeze(b, v[0], Numbers{-1}); })), "1x2: 0 1");
  EXPECT_EQ(shown(run({thin}, [](Builder& b, const auto& v) { return squeeze(b, v[0], Numbers{}); })), "1x2x1: 0 1");
  EXPECT_EQ(shown(run({x}, [](Builder& b, const auto& v) { return expand_dims(b, v[0], {0, -1}); })), "1x2x1: 1 2");
  EXPECT_EQ(refused({{2, 1}}, [](Builder& b, const auto& v) { return squeeze(b, v[0], Numbers{0}); }),
            "invalid_argument: squeeze(f32[2,1]): axis 0 does not have the extent 1");
  EXPECT_EQ(refused({{2}},
                    [](Builder& b, const auto& v) {
                      return expand_dims(b, v[0], {2, -1});
                    }),
            "invalid_argument: expand_dims(f32[2]): axis -1 is named twice");
  EXPECT_EQ(refused({{2}, {3}}, [](Builder& b, const auto& v) { return stack(b, v, 0); }),
            "invalid_argument: stack(f32[2], f32[3]): values must have one dtype and the same dims");
}

TEST(BuilderFunctions, TilesLikeNumpy) {
  const auto tiled = [](const Tensor& x, const Numbers& repeats) {
    return shown(run({x}, [&](Builder& b, const auto& v) { return tile(b, v[0], repeats); }));
  };
  EXPECT_EQ(tiled(counting({2, 2}), {2, 2}), "4x4: 0 1 0 1 2 3 2 3 0 1 0 1 2 3 2 3");
  EXPECT_EQ(tiled(counting({2}), {2, 1, 2}), "2x1x4: 0 1 0 1 0 1 0 1");
  EXPECT_EQ(tiled(counting({2, 2}), {3}), "2x6: 0 1 0 1 0 1 2 3 2 3 2 3");
  EXPECT_EQ(tiled(counting({2}), {0}), "0:");
  EXPECT_EQ(tiled(counting({}), {}), ": 0");
  EXPECT_EQ(refused({{4}}, [](Builder& b, const auto& v) { return tile(b, v[0], {INT64_MAX / 2}); }),
            "invalid_argument: tile(f32[4]): axis 0: the extent would overflow");
  EXPECT_EQ(refused({{4}}, [](Builder& b, const auto& v) { return tile(b, v[0], {-1}); }),
            "invalid_argument: tile(f32[4]): axis 0: cannot repeat a negative number of times");
}

TEST(BuilderFunctions, MakesOneHotRows) {
  const Tensor x = row<std::int8_t>({2, -1, 0, 3});
  EXPECT_EQ(shown(run({x}, [](Builder& b, const auto& v) { return one_hot(b, v[0], 3, DType::f32); })),
            "4x3: 0 0 1 0 0 0 1 0 0 0 0 0");
  EXPECT_EQ(shown(run({x}, [](Builder& b, const auto& v) { return one_hot(b, v[0], 3, DType::i4, 0, 5, -2); })),
            "3x4: -2 -2 5 -2 -2 -2 -2 -2 5 -2 -2 -2");
  // i8 cannot count to 300, whose places would come again.
  const Tensor wide = run({x}, [](Builder& b, const auto& v) { return one_hot(b, v[0], 300, DType::f32); });
  EXPECT_EQ(loaded(run_op(Op::reduce_sum, {wide}, Axes{{1}})), (Doubles{1, 0, 1, 1}));
  const Tensor large = row<std::uint64_t>({std::numeric_limits<std::uint64_t>::max()});
  EXPECT_EQ(shown(run({large}, [](Builder& b, const auto& v) { return one_hot(b, v[0], 2, DType::i32); })), "1x2: 0 0");
}

// Starts and lengths of sequences of the rows 2 … 4 and 0, and of an empty one at the end of six rows.
std::vector<Tensor> packed_in_six() { return {row<std::int32_t>({2, 0, 6}), row<std::int32_t>({3, 1, 0})}; }

TEST(BuilderFunctions, PadsSequencesWithTheirLastRow) {
  EXPECT_EQ(shown(run(packed_in_six(), [](Builder& b, const auto& x) { return padded_rows(b, x[0], x[1], 4); })),
            "3x4: 2 3 4 4 0 0 0 0 6 6 6 6");
  EXPECT_NE(refused({{3}, {2}}, [](Builder& b, const auto& x) { return padded_rows(b, x[0], x[1], 4); })
                .find("starts and lengths must be i32 [sequences]"),
            std::string::npos);
}

TEST(BuilderFunctions, FindsTheSequenceOfEachRow) {
  const auto rows = [](Value PackedRows::*member) {
    return run(packed_in_six(), [=](Builder& b, const auto& x) {
      const Value found = packed_rows(b, x[0], x[1], 6).*member;
      return b.convert({found}, {.dtype = DType::i32});
    });
  };
  EXPECT_EQ(shown(rows(&PackedRows::sequence)), "6: 1 0 0 0 0 0");
  EXPECT_EQ(shown(rows(&PackedRows::place)), "6: 0 0 0 1 2 0");
  EXPECT_EQ(shown(rows(&PackedRows::is_of_sequence)), "6: 1 0 1 1 1 0");
}

TEST(BuilderFunctions, MultipliesMatricesLikeNumpy) {
  const auto product = [](std::vector<std::int64_t> x, std::vector<std::int64_t> y) {
    return shown(run({counting(std::move(x)), counting(std::move(y))},
                     [](Builder& b, const auto& v) { return matmul(b, v[0], v[1]); }));
  };
  EXPECT_EQ(product({3}, {3}), ": 5");
  EXPECT_EQ(product({2, 3}, {3}), "2: 5 14");
  EXPECT_EQ(product({2}, {2, 3}), "3: 3 4 5");
  EXPECT_EQ(product({2, 1, 2, 2}, {3, 2, 1}), "2x3x2x1: 1 3 3 13 5 23 5 7 23 33 41 59");
  EXPECT_EQ(product({2, 2, 2}, {2, 2}), "2x2x2: 2 3 6 11 10 19 14 27");
  EXPECT_EQ(product({2, 2}, {2, 2, 2}), "2x2x2: 2 3 6 11 6 7 26 31");
  EXPECT_EQ(product({2, 2, 2}, {2}), "2x2: 1 3 5 7");
  EXPECT_EQ(product({2}, {2, 2, 2}), "2x2: 2 3 6 7");
  EXPECT_EQ(product({2, 0}, {0, 1}), "2x1: 0 0");
  const auto error = [](const Dims& x, const Dims& y) {
    return refused({x, y}, [](Builder& b, const auto& v) { return matmul(b, v[0], v[1]); });
  };
  EXPECT_EQ(error({2, 3}, {2, 3}),
            "invalid_argument: matmul(f32[2,3], f32[2,3]): the last axis of the first must be as "
            "long as the rows of the second");
  EXPECT_EQ(error({2, 1, 2}, {3, 2, 1}),
            "invalid_argument: matmul(f32[2,1,2], f32[3,2,1]): axes before the last two do "
            "not broadcast, whose extents must be the same or 1");
  EXPECT_EQ(error({}, {3}), "invalid_argument: matmul(f32[], f32[3]): values must have an axis");
}

TEST(BuilderFunctions, EinsumsLikeNumpy) {
  const auto sum = [](std::string_view equation, const std::vector<std::vector<std::int64_t>>& extents) {
    std::vector<Tensor> inputs;
    for (const auto& one : extents) inputs.push_back(counting(one));
    return shown(run(inputs, [&](Builder& b, const auto& v) { return einsum(b, equation, v); }));
  };
  EXPECT_EQ(sum("ij,jk->ik", {{2, 3}, {3, 2}}), "2x2: 10 13 28 40");
  EXPECT_EQ(sum("bij,bjk->bik", {{2, 2, 3}, {2, 3, 1}}), "2x2x1: 5 14 86 122");
  EXPECT_EQ(sum("ij->ji", {{2, 3}}), "3x2: 0 3 1 4 2 5");
  EXPECT_EQ(sum("ii", {{3, 3}}), ": 12");
  EXPECT_EQ(sum("ii->i", {{3, 3}}), "3: 0 4 8");
  EXPECT_EQ(sum("ij,ij", {{2, 2}, {2, 2}}), ": 14");
  EXPECT_EQ(sum("ba", {{2, 3}}), "3x2: 0 3 1 4 2 5");
  EXPECT_EQ(sum("i,j->ji", {{2}, {3}}), "3x2: 0 0 0 1 0 2");
  EXPECT_EQ(sum("...ij,jk", {{2, 1, 2, 3}, {3, 2}}), "2x1x2x2: 10 13 28 40 46 67 64 94");
  EXPECT_EQ(sum("...i,...i->...", {{2, 3}, {3}}), "2: 5 14");
  EXPECT_EQ(sum("ij , jk,kl -> il", {{2, 2}, {2, 3}, {3, 2}}), "2x2: 28 40 104 146");
  EXPECT_EQ(sum("bhqd,bhkd->bhqk", {{1, 2, 2, 2}, {1, 2, 3, 2}}), "1x2x2x3: 1 3 5 3 13 23 59 77 95 85 111 137");
  EXPECT_EQ(sum("iij->j", {{2, 2, 3}}), "3: 9 11 13");
  EXPECT_EQ(sum("ij,ij->ij", {{1, 3}, {2, 3}}), "2x3: 0 1 4 0 4 10");
  EXPECT_EQ(sum("a...->...", {{2, 3}}), "3: 3 5 7");
  EXPECT_EQ(sum("ij,kl->", {{2, 2}, {2, 2}}), ": 36");
  EXPECT_EQ(sum(",i->i", {{}, {2}}), "2: 0 0");
}

TEST(BuilderFunctions, SaysWhatIsWrongWithAnEinsum) {
  const auto error = [](std::string_view equation, const std::vector<Dims>& dims) {
    return refused(dims, [&](Builder& b, const auto& v) { return einsum(b, equation, v); });
  };
  const std::string matrix = "invalid_argument: einsum(f32[2,3]): ";
  EXPECT_EQ(error("ij,jk->ik", {{2, 3}}), matrix + "the equation must name the axes of each operand, and of no other");
  EXPECT_EQ(error("ijk", {{2, 3}}), matrix + "the equation must name each axis of an operand");
  EXPECT_EQ(error("ij->k", {{2, 3}}), matrix + "the result names an axis that no operand has");
  EXPECT_EQ(error("ij->ii", {{2, 3}}), matrix + "the result names an axis twice");
  EXPECT_EQ(error("ii", {{2, 3}}), matrix + "axes of one name have extents 2 and 3");
  EXPECT_EQ(error("i1", {{2, 3}}), matrix + "the equation names axes by letters");
  EXPECT_EQ(error("...i->i", {{2, 3}}), matrix + "the result lacks the axes of \"...\"");
  EXPECT_EQ(error("... ...", {{2, 3}}), matrix + "\"...\" may stand once for an operand");
  EXPECT_EQ(error("", {}), "invalid_argument: einsum(): needs at least one operand");
}

TEST(BuilderFunctions, TakesMeans) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(loaded(run({x}, [](Builder& b, const auto& v) { return reduce_mean(b, v[0]); })), (Doubles{2.5}));
  EXPECT_EQ(loaded(run({x}, [](Builder& b, const auto& v) { return reduce_mean(b, v[0], Numbers{-1}); })),
            (Doubles{1, 4}));
  EXPECT_EQ(shown(run({x}, [](Builder& b, const auto& v) { return reduce_mean(b, v[0], Numbers{0}, true); })),
            "1x3: 1 2 3");  // 1.5, 2.5 and 3.5
  EXPECT_TRUE(
      std::isnan(loaded(run({counting({0})}, [](Builder& b, const auto& v) { return reduce_mean(b, v[0]); }))[0]));
  // A sum of 100 000 would be infinite in f16.
  const Tensor halves = stored(DType::f16, Doubles(200, 500));
  EXPECT_EQ(loaded(run({halves}, [](Builder& b, const auto& v) { return reduce_mean(b, v[0]); })), (Doubles{500}));
  // A named dim is counted when the graph runs.
  Builder b("named");
  b.output("mean", reduce_mean(b, b.parameter("x", {DType::f32, {b.dim("n"), 2}}), Numbers{0}));
  EXPECT_EQ(loaded(interpret(b.finish(), std::vector{counting({4, 2})}, base::Cancellation::never())[0]),
            (Doubles{3, 4}));
}

TEST(BuilderFunctions, NormalizesInstancesLikeTorch) {
  Tensor x = counting({2, 3, 4});
  for (float& value : x.mutable_values<float>()) value *= value;
  const Tensor scale = row<float>({1, 2, -1}), shift = row<float>({0, 1, 2});
  expect_near(
      run({x, scale, shift}, [](Builder& b, const auto& v) { return instance_norm(b, v[0], v[1], v[2]); }),
      {-0.999999642, -0.714285493, 0.142857075, 1.57142794,  -1.51236653, -0.0535729975, 1.72939682,  3.83654308,
       3.2931335,    2.49374175,   1.60030413,  0.612820268, -1.30779648, -0.480077207,  0.413859606, 1.3740139,
       -1.63131237,  0.0547712892, 1.8430419,   3.73349929,  3.32055426,  2.46791291,    1.57367909,  0.637853086});
  EXPECT_EQ(
      refused({{2, 3, 4}, {3}, {4}}, [](Builder& b, const auto& v) { return instance_norm(b, v[0], v[1], v[2]); }),
      "invalid_argument: instance_norm(f32[2,3,4], f32[3], f32[4]): scale and shift must have an element for each "
      "channel");
}

TEST(BuilderFunctions, ActivatesLikeTorch) {
  const Tensor x = row<float>({-8, -1.5F, -0.25F, 0, 0.25F, 2, 7});
  const auto expect = [&](const std::function<Value(Builder&, Value)>& function, const Doubles& expected) {
    expect_near(run({x}, [&](Builder& b, const auto& v) { return function(b, v[0]); }), expected);
    const Tensor nan = row<float>({std::numeric_limits<float>::quiet_NaN()});
    EXPECT_TRUE(std::isnan(loaded(run({nan}, [&](Builder& b, const auto& v) { return function(b, v[0]); }))[0]));
  };
  expect([](Builder& b, Value v) { return relu(b, v); }, {0, 0, 0, 0, 0.25, 2, 7});
  expect([](Builder& b, Value v) { return relu6(b, v); }, {0, 0, 0, 0, 0.25, 2, 6});
  expect([](Builder& b, Value v) { return leaky_relu(b, v, 0.1); }, {-0.8, -0.15, -0.025, 0, 0.25, 2, 7});
  expect([](Builder& b, Value v) { return leaky_relu(b, v, 1.5); }, {-12, -2.25, -0.375, 0, 0.25, 2, 7});
  expect([](Builder& b, Value v) { return leaky_relu(b, v, -0.5); }, {4, 0.75, 0.125, 0, 0.25, 2, 7});
  expect([](Builder& b, Value v) { return thresholded_relu(b, v); }, {0, 0, 0, 0, 0, 2, 7});
  expect([](Builder& b, Value v) { return elu(b, v, 0.5); }, {-0.499832273, -0.388434917, -0.110599607, 0, 0.25, 2, 7});
  expect([](Builder& b, Value v) { return celu(b, v, 2); }, {-1.96336877, -1.05526686, -0.235006198, 0, 0.25, 2, 7});
  expect([](Builder& b, Value v) { return selu(b, v); },
         {-1.75750959, -1.36581433, -0.388890177, 0, 0.262675256, 2.10140204, 7.35490704});
  expect([](Builder& b, Value v) { return softplus(b, v); },
         {0.000335406367, 0.201413289, 0.575939417, 0.693147182, 0.825939417, 2.12692809, 7.00091171});
  expect([](Builder& b, Value v) { return softsign(b, v); },
         {-0.888888896, -0.600000024, -0.200000003, 0, 0.200000003, 0.666666687, 0.875});
  expect([](Builder& b, Value v) { return mish(b, v); },
         {-0.0026832507, -0.298099756, -0.129926965, 0, 0.169572398, 1.943959, 6.99998856});
  expect([](Builder& b, Value v) { return hard_tanh(b, v); }, {-1, -1, -0.25, 0, 0.25, 1, 1});
  expect([](Builder& b, Value v) { return hard_sigmoid(b, v); },
         {0, 0.25, 0.458333343, 0.5, 0.541666687, 0.833333313, 1});
  expect([](Builder& b, Value v) { return hard_swish(b, v); },
         {0, -0.375, -0.114583336, 0, 0.135416672, 1.66666663, 7});
  expect_near(run({x, counting({7})}, [](Builder& b, const auto& v) { return prelu(b, v[0], v[1]); }),
              {0, -1.5, -0.5, 0, 0.25, 2, 7});
}

TEST(BuilderFunctions, ClipsAtEitherEnd) {
  const auto clipped = [](const Tensor& x, std::optional<double> low, std::optional<double> high) {
    return loaded(run({x}, [&](Builder& b, const auto& v) { return clip(b, v[0], low, high); }));
  };
  EXPECT_EQ(clipped(row<float>({-3, 0, 3}), -1, {}), (Doubles{-1, 0, 3}));
  EXPECT_EQ(clipped(row<float>({-3, 0, 3}), {}, 1), (Doubles{-3, 0, 1}));
  EXPECT_EQ(clipped(row<float>({-3, 0, 3}), 2, 1), (Doubles{1, 1, 1}));
  EXPECT_EQ(clipped(row<std::uint8_t>({0, 200}), -1, 100), (Doubles{0, 100}));
  EXPECT_EQ(clipped(row<float>({4}), {}, {}), (Doubles{4}));
  EXPECT_EQ(refused({{2}}, [](Builder& b, const auto& v) { return elu(b, b.convert({v[0]}, {DType::i32})); }),
            "invalid_argument: elu(i32[2]): takes floats that ops compute with");
}

}  // namespace
}  // namespace alate::graph
