// Values of numpy 2.4.6, where a test does not say otherwise.
#include <cmath>

#include "tests/unit/graph/make_tensors.h"

namespace alate::graph {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expect_part(double found, double expected, const std::string& what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << what << ": " << found;
    return;
  }
  EXPECT_DOUBLE_EQ(found, expected) << what;
  if (expected == 0) {
    EXPECT_EQ(std::signbit(found), std::signbit(expected)) << what;
  }
}

void expect_parts(Complex found, Complex expected, const std::string& what) {
  expect_part(found.real(), expected.real(), "real part of " + what);
  expect_part(found.imag(), expected.imag(), "imaginary part of " + what);
}

struct Case {
  Complex x, expected;
};

void expect_all(Op op, const std::vector<Case>& cases) {
  std::vector<Complex> inputs;
  for (const Case& one : cases) inputs.push_back(one.x);
  const std::vector<Complex> found = load_complex(run_op(op, {stored_complex(DType::c128, inputs)}));
  for (std::size_t i = 0; i < cases.size(); ++i)
    expect_parts(found[i], cases[i].expected, std::string(to_string(op)) + " of case " + std::to_string(i));
}

Complex of_two(Op op, Complex x, Complex y) {
  const std::vector<Complex> left{x}, right{y};
  return load_complex(run_op(op, {stored_complex(DType::c128, left), stored_complex(DType::c128, right)}))[0];
}

TEST(InterpreterComplex, Exponentials) {
  expect_all(Op::exp, {{{0.5, 0.25}, {1.5974665191199127, 0.4079001700783598}},
                       {{-1.5, 2}, {-0.09285491028402633, 0.2028916804701695}},
                       {{-0.0, -0.0}, {1, -0.0}},
                       {{kInf, 0}, {kInf, 0}},
                       {{-kInf, 1}, {0, 0}},
                       {{kInf, kInf}, {kInf, kNan}},
                       {{kNan, 1}, {kNan, kNan}},
                       {{1000, 1}, {kInf, kInf}}});
  // exp(∞) - 1 is ∞ without an imaginary part, as XLA has it; numpy gives NaN there.
  expect_all(Op::expm1, {{{0.5, 0.25}, {0.5974665191199127, 0.4079001700783598}},
                         {{-1.5, 2}, {-1.0928549102840264, 0.2028916804701695}},
                         {{-0.0, -0.0}, {-0.0, -0.0}},
                         {{kInf, 0}, {kInf, 0}},
                         {{-kInf, 1}, {-1, 0}},
                         {{kNan, 1}, {kNan, kNan}},
                         {{1e-20, 1e-20}, {1e-20, 1e-20}},
                         {{1000, 1}, {kInf, kInf}},
                         {{-1000, 1}, {-1, 0}}});
  // XLA at the far negative side, where numpy's 1 / (1 + exp(-z)) gives NaN.
  expect_all(Op::logistic, {{{0.5, 0.25}, {0.6242751644199613, 0.05900296431450803}},
                            {{-1.5, 2}, {-0.04984258297024425, 0.234807340416369}},
                            {{0, 0}, {0.5, 0}},
                            {{1000, 1}, {1, 0}},
                            {{-1000, 1}, {0, 0}},
                            {{-kInf, 1}, {0, 0}}});
}

TEST(InterpreterComplex, Logarithms) {
  expect_all(Op::log, {{{0.5, 0.25}, {-0.5815754049028404, 0.4636476090008061}},
                       {{0, 0}, {-kInf, 0}},
                       {{-0.0, -0.0}, {-kInf, -3.141592653589793}},
                       {{-kInf, 1}, {kInf, 3.141592653589793}},
                       {{kInf, kInf}, {kInf, 0.7853981633974483}},
                       {{kNan, 1}, {kNan, kNan}},
                       {{-4, 0.0}, {1.3862943611198906, 3.141592653589793}},
                       {{-4, -0.0}, {1.3862943611198906, -3.141592653589793}}});
  // XLA near zero, where numpy's real part is 0.
  expect_all(Op::log1p, {{{0.5, 0.25}, {0.4191645952022216, 0.16514867741462683}},
                         {{-1.5, 2}, {0.7234594914681627, 1.8157749899217608}},
                         {{-0.0, -0.0}, {0, -0.0}},
                         {{-kInf, 1}, {kInf, 3.141592653589793}},
                         {{1e-20, 1e-20}, {1e-20, 1e-20}},
                         {{1000, 1}, {6.90875527831647, 0.000999000666665868}}});
}

TEST(InterpreterComplex, Roots) {
  expect_all(Op::sqrt, {{{0.5, 0.25}, {0.7276733451126774, 0.17178037486125622}},
                        {{-1.5, 2}, {0.7071067811865475, 1.4142135623730951}},
                        {{-0.0, -0.0}, {0, -0.0}},
                        {{-kInf, 1}, {0, kInf}},
                        {{kNan, 1}, {kNan, kNan}},
                        {{-4, 0.0}, {0, 2}},
                        {{-4, -0.0}, {0, -2}}});
  expect_all(Op::rsqrt, {{{0.5, 0.25}, {1.3017016520692888, -0.3072900763121319}},
                         {{-1.5, 2}, {0.28284271247461895, -0.565685424949238}},
                         {{0, 0}, {kInf, kNan}},
                         {{1000, 1}, {0.03162276474315122, -1.5811378418731993e-05}}});
}

TEST(InterpreterComplex, Angles) {
  expect_all(Op::sin, {{{0.5, 0.25}, {0.494485780933195, 0.22168816414957482}},
                       {{-1.5, 2}, {-3.752771340479298, 0.2565539560904818}},
                       {{-0.0, -0.0}, {-0.0, -0.0}},
                       {{kInf, 0}, {kNan, 0}}});
  expect_all(Op::cos, {{{0.5, 0.25}, {0.9051501505596068, -0.12110879604381165}},
                       {{-1.5, 2}, {0.26612719531354573, 3.6177750739401375}},
                       {{0, 0}, {1, -0.0}},
                       {{-kInf, 1}, {kNan, kNan}}});
  expect_all(Op::tan, {{{0.5, 0.25}, {0.504500702698564, 0.3124206925025888}},
                       {{-1.5, 2}, {-0.0053620609220030565, 1.036920282100185}},
                       {{kInf, kInf}, {0, 1}}});
  expect_all(Op::tanh, {{{0.5, 0.25}, {0.4854872810241353, 0.19805544995134955}},
                        {{-1.5, 2}, {-1.0641443991765371, -0.08039101531016819}},
                        {{kInf, kInf}, {1, 0}},
                        {{-1000, 1}, {-1, 0}}});
}

// -0 - 0i stays what it is, by StableHLO's specification.
TEST(InterpreterComplex, Signs) {
  expect_all(Op::sign, {{{0.5, 0.25}, {0.8944271909999159, 0.4472135954999579}},
                        {{-1.5, 2}, {-0.6, 0.8}},
                        {{-0.0, -0.0}, {-0.0, -0.0}},
                        {{kInf, 0}, {1, 0}},
                        {{-kInf, 1}, {-1, 0}},
                        {{kInf, kInf}, {kNan, kNan}},
                        {{kNan, 1}, {kNan, kNan}}});
  expect_all(Op::neg, {{{0, kInf}, {-0.0, -kInf}}});
  expect_all(Op::conj, {{{1, 2}, {1, -2}}, {{-0.0, 0}, {-0.0, -0.0}}});
}

TEST(InterpreterComplex, ProductsAndQuotients) {
  expect_parts(of_two(Op::mul, {1, 2}, {3, -4}), {11, 2}, "a product");
  expect_parts(of_two(Op::add, {1, 2}, {3, -4}), {4, -2}, "a sum");
  expect_parts(of_two(Op::sub, {1, 2}, {3, -4}), {-2, 6}, "a difference");
  expect_parts(of_two(Op::div, {1, 2}, {3, -4}), {-0.2, 0.4}, "a quotient");
  expect_parts(of_two(Op::div, {1, 2}, {0, 0}), {kInf, kInf}, "a quotient by zero");
  expect_parts(of_two(Op::div, {kInf, 1}, {2, 1}), {kInf, -kInf}, "infinity over a number");
  expect_parts(of_two(Op::div, {1e300, 1e300}, {1e300, 1e300}), {1, 0}, "a quotient of large numbers");
}

TEST(InterpreterComplex, Powers) {
  expect_parts(of_two(Op::pow, {1, 1}, 2), {0, 2}, "(1 + i)²");
  expect_parts(of_two(Op::pow, {2, -3}, -2), {-0.02958579881656805, 0.07100591715976332}, "(2 - 3i)⁻²");
  expect_parts(of_two(Op::pow, 0, 0), {1, 0}, "0⁰");
  expect_parts(of_two(Op::pow, 0, {1, 1}), {0, 0}, "0 to 1 + i");
  expect_parts(of_two(Op::pow, {0, 1}, {0, 1}), {0.20787957635076193, 0}, "i to i");
  expect_parts(of_two(Op::pow, {2, 1}, 0.5), {1.455346690225355, 0.34356074972251244}, "a square root");
  expect_parts(of_two(Op::pow, {kNan, 0}, 0), {1, 0}, "NaN to 0");
}

TEST(InterpreterComplex, TakesNumbersApartAndTogether) {
  const Tensor x = row<float>({3, 0, -INFINITY}), y = row<float>({4, -1, NAN});
  const Tensor z = run_op(Op::complex, {x, y});
  EXPECT_EQ(z.shape(), (Shape{DType::c64, {3}}));
  EXPECT_TRUE(std::ranges::equal(run_op(Op::real, {z}).bytes(), x.bytes()));
  EXPECT_TRUE(std::ranges::equal(run_op(Op::imag, {z}).bytes(), y.bytes()));
  EXPECT_EQ(values_of<float>(run_op(Op::abs, {z})), (std::vector<float>{5, 1, static_cast<float>(kInf)}));
  EXPECT_EQ(values_of<float>(run_op(Op::imag, {x})), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(run_op(Op::complex, {row<double>({}), row<double>({})}).shape(), (Shape{DType::c128, {0}}));
}

TEST(InterpreterComplex, ComparesMovesAndContracts) {
  const std::vector<Complex> left{{1, 2}, {3, -1}, {kNan, 0}}, right{{1, 2}, {3, 1}, {kNan, 0}};
  const Tensor x = stored_complex(DType::c64, left), y = stored_complex(DType::c64, right);
  EXPECT_EQ(values_of<bool>(run_op(Op::equal, {x, y})), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(values_of<bool>(run_op(Op::not_equal, {x, y})), (std::vector<bool>{false, true, true}));
  expect_parts(load_complex(run_op(Op::slice, {x}, Slice{{1}, {2}, {}}))[0], {3, -1}, "a slice");
  const std::vector<Complex> a{{1, 2}, {3, -1}}, b{{0, 1}, {2, 2}};
  const Tensor p = stored_complex(DType::c128, a), q = stored_complex(DType::c128, b);
  expect_parts(load_complex(run_op(Op::dot_general, {p, q}, DotGeneral{{}, {}, {0}, {0}}))[0], {6, 5}, "a dot");
  expect_parts(load_complex(run_op(Op::reduce_sum, {p}, Axes{{0}}))[0], {4, 1}, "a sum");
}

// Real parts first, imaginary ones where they are equal; StableHLO leaves open what NaN gives max and min.
TEST(InterpreterComplex, OrdersByRealThenImaginaryPart) {
  const std::vector<Complex> left{{1, 9}, {1, -2}, {-0.0, 3}, {2, 2}, {kNan, 0}, {1, kNan}, {-kInf, 5}};
  const std::vector<Complex> right{{2, -9}, {1, 3}, {0, -3}, {2, 2}, {1, 0}, {1, 1}, {-kInf, 4}};
  for (const DType dtype : {DType::c64, DType::c128}) {
    const Tensor x = stored_complex(dtype, left), y = stored_complex(dtype, right);
    const auto truths = [&](Op op) { return values_of<bool>(run_op(op, {x, y})); };
    EXPECT_EQ(truths(Op::less), (std::vector<bool>{true, true, false, false, false, false, false}));
    EXPECT_EQ(truths(Op::less_or_equal), (std::vector<bool>{true, true, false, true, false, false, false}));
    EXPECT_EQ(truths(Op::greater), (std::vector<bool>{false, false, true, false, false, false, true}));
    EXPECT_EQ(truths(Op::greater_or_equal), (std::vector<bool>{false, false, true, true, false, false, true}));
  }
  expect_parts(of_two(Op::max, {1, 9}, {2, -9}), {2, -9}, "the larger real part");
  expect_parts(of_two(Op::max, {1, 9}, {1, -9}), {1, 9}, "the larger imaginary part");
  expect_parts(of_two(Op::min, {-0.0, 9}, {0, -9}), {0, -9}, "the smaller imaginary part");
  expect_parts(of_two(Op::min, {1, 9}, {2, -9}), {1, 9}, "the smaller real part");
  expect_parts(of_two(Op::max, {kInf, 9}, {2, kNan}), {2, kNan}, "a value with NaN");
  expect_parts(of_two(Op::min, {kNan, 9}, {2, 3}), {kNan, 9}, "a value with NaN first");
  const std::vector<Complex> low{{0, 1}}, x{{0, -7}, {0, 2}, {3, 4}}, high{{3, 3}};
  const Tensor bounds[] = {stored_complex(DType::c64, low), stored_complex(DType::c64, high)};
  const Tensor one_low = run_op(Op::reshape, {bounds[0]}, Reshape{}),
               one_high = run_op(Op::reshape, {bounds[1]}, Reshape{});
  EXPECT_EQ(load_complex(run_op(Op::clamp, {one_low, stored_complex(DType::c64, x), one_high})),
            (std::vector<Complex>{{0, 1}, {0, 2}, {3, 3}}));
}

TEST(InterpreterComplex, ConvertsByTheRealPart) {
  const std::vector<Complex> values{{-2.7, 5}, {0, 1}, {300, 0}, {kNan, 1}};
  const Tensor z = stored_complex(DType::c128, values);
  const auto converted = [&](DType to) { return loaded(run_op(Op::convert, {z}, Convert{to})); };
  EXPECT_EQ(converted(DType::i8), (std::vector<double>{-2, 0, 127, 0}));
  EXPECT_EQ(converted(DType::boolean), (std::vector<double>{1, 0, 1, 1}));
  EXPECT_EQ(converted(DType::f64)[0], -2.7);
  const Tensor narrow = run_op(Op::convert, {z}, Convert{DType::c64});
  EXPECT_EQ(load_complex(narrow)[0], Complex(-2.7F, 5));
  EXPECT_EQ(load_complex(run_op(Op::convert, {row<std::int32_t>({-3})}, Convert{DType::c64}))[0], Complex(-3));
  // 2^60 + 2^36 + 1 lies above a tie of f32; by way of a double it would be on it.
  const std::int64_t beyond_tie = (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1;
  EXPECT_EQ(load_complex(run_op(Op::convert, {row<std::int64_t>({beyond_tie})}, Convert{DType::c64}))[0],
            Complex(0x1.000002p60));
}

}  // namespace
}  // namespace alate::graph
