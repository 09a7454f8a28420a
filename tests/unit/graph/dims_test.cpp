// Sizes as forms: which are equal, what bounds prove, what they are in a run.
#include "graph/dims.h"

#include <random>
#include <thread>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

struct TwoNames {
  DimTable dims;
  Dim a = dims.named("a", 0, 100), b = dims.named("b", 1);
  DimForm of_a = dims.form(a), of_b = dims.form(b);
};

TEST(DimTable, GivesEqualFormsOneId) {
  TwoNames t;
  EXPECT_EQ(t.dims.of(t.of_a + t.of_b), t.dims.of(t.of_b + t.of_a));
  EXPECT_EQ(t.dims.of(t.of_a + t.of_b - t.of_a), t.b);
  EXPECT_EQ(t.dims.of(t.of_a - t.of_a + 7), Dim(7));
  EXPECT_EQ(t.dims.product(t.of_a + 1, t.of_b - 1), t.dims.product(t.of_b, t.of_a) - t.of_a + t.of_b - 1);
  EXPECT_EQ(t.dims.product(t.of_a, t.dims.product(t.of_b, t.of_a)),
            t.dims.product(t.dims.product(t.of_a, t.of_a), t.of_b));
  EXPECT_EQ(t.dims.quotient(t.of_a * 2 + 3, 2), t.of_a + 1);
  EXPECT_EQ(t.dims.quotient(t.of_a * 2 + 3, 4), t.dims.quotient(t.of_a + 1, 2));
  EXPECT_EQ(t.dims.quotient(t.dims.quotient(t.of_a, 2) + 3, 4), t.dims.quotient(t.of_a + 6, 8));
  EXPECT_EQ(t.dims.quotient_up(t.of_a, 2), t.dims.quotient(t.of_a + 1, 2));
  EXPECT_EQ(t.dims.smaller(t.of_a, t.of_b), t.dims.smaller(t.of_b, t.of_a));
  EXPECT_NE(t.dims.smaller(t.of_a, t.of_b), t.dims.larger(t.of_a, t.of_b));
}

TEST(DimTable, ProvesByBounds) {
  TwoNames t;
  EXPECT_TRUE(t.dims.is_at_most(t.of_a, 100));
  EXPECT_FALSE(t.dims.is_at_most(t.of_a, 99));
  EXPECT_FALSE(t.dims.is_at_most(t.of_b, 1000000));
  EXPECT_TRUE(t.dims.is_at_most(t.of_a, t.of_a + t.of_b - 1));
  EXPECT_EQ(t.dims.smaller(t.of_a, 100), t.of_a);
  EXPECT_EQ(t.dims.larger(t.of_a - 100, 0), DimForm(0));
  EXPECT_EQ(t.dims.quotient(t.of_a, 101), DimForm(0));
  EXPECT_EQ(t.dims.bounds(t.dims.product(t.of_a, t.of_a) - t.of_a), (Interval{-100, 10000}));
  EXPECT_EQ(t.dims.bounds(t.dims.quotient(t.of_b - 2, 3)), (Interval{-1, Interval::kHighest}));
}

TEST(DimTable, WritesForms) {
  TwoNames t;
  const auto text = [&](const DimForm& form) { return t.dims.to_string(form); };
  EXPECT_EQ(text(t.of_a * 2 - t.of_b - 3), "2*a-1*b-3");
  EXPECT_EQ(text(t.dims.quotient(t.of_a + 1, 2) * 3), "3*((a+1)/2)");
  EXPECT_EQ(text(t.dims.quotient(t.of_a, 2)), "a/2");
  EXPECT_EQ(text(t.dims.product(t.of_b, t.of_a)), "a*b");
  EXPECT_EQ(text(t.dims.smaller(t.of_b + 1, t.of_a)), "min(a,b+1)");
  EXPECT_EQ(t.dims.to_string(Shape{DType::f32, {t.dims.of(t.of_a + 1), 4}}), "f32[a+1,4]");
}

TEST(DimTable, RefusesWhatGrowsWithoutBound) {
  TwoNames t;
  EXPECT_NE(refusal([&] { t.of_a* Interval::kHighest + t.of_a; }).find("overflows 64 bits"), std::string::npos);
  EXPECT_NE(refusal([&] { t.dims.of(DimForm(3) - 4); }).find("a size is negative: -1"), std::string::npos);
  DimForm deep = t.of_a;
  const std::string said = refusal([&] {
    for (int i = 0; i < 100; ++i) deep = t.dims.smaller(deep + 1, t.dims.quotient(deep, 2) + t.of_b);
  });
  EXPECT_NE(said.find("more than 256 names and numbers"), std::string::npos) << said;
  DimForm wide = 0;
  const std::string of_many = refusal([&] {
    for (int i = 0; i < 100; ++i) wide = wide + t.dims.form(t.dims.named("n" + std::to_string(i)));
  });
  EXPECT_NE(of_many.find("more than 64 terms"), std::string::npos) << of_many;
}

TEST(DimTable, HasSoManyFormsAtMost) {
  TwoNames t;
  const std::string said = refusal([&] {
    for (int i = 1; i < 100000; ++i) t.dims.of(t.of_a + i);
  });
  EXPECT_NE(said.find("more than 16384 different forms"), std::string::npos) << said;
  EXPECT_EQ(t.dims.to_string(t.dims.of(t.of_a + 1)), "a+1");  // known ones go on
}

TEST(DimTable, MayGrowWhileOthersReadIt) {
  TwoNames t;
  std::vector<Dim> found[2];
  const auto add = [&](std::vector<Dim>& ids) {
    for (int i = 1; i < 200; ++i) ids.push_back(t.dims.of(t.dims.quotient(t.of_a + i, 7) + t.of_b));
  };
  std::thread other([&] { add(found[1]); });
  add(found[0]);
  other.join();
  EXPECT_EQ(found[0], found[1]);
}

TEST(DimValues, ComputesFormsOnceTheirNamesAreBound) {
  TwoNames t;
  const Dim sum = t.dims.of(t.of_a + t.of_b), half = t.dims.of(t.dims.quotient(t.of_a - 5, 2)),
            most = t.dims.of(t.dims.larger(t.of_a, t.of_b)), area = t.dims.of(t.dims.product(t.of_a, t.of_b));
  DimValues values(t.dims);
  values.bind({DType::f32, {t.a}}, {DType::f32, {4}}, "x");
  EXPECT_FALSE(values.is_bound(sum));
  values.bind({DType::f32, {t.b, sum}}, {DType::f32, {9, 13}}, "y");
  EXPECT_EQ(values(sum), 13);
  EXPECT_EQ(values(most), 9);
  EXPECT_EQ(values(area), 36);
  EXPECT_NE(refusal([&] { values(half); }).find("dim '(a+1)/2-3' is -1, and a size cannot be negative"),
            std::string::npos);
}

TEST(DimValues, ChecksInputsWhoseExtentsAreForms) {
  TwoNames t;
  const Dim sum = t.dims.of(t.of_a + t.of_b);
  DimValues early(t.dims);
  early.bind({DType::f32, {sum}}, {DType::f32, {12}}, "input 'x'");
  early.bind({DType::f32, {t.a}}, {DType::f32, {4}}, "input 'y'");
  const auto bind_last = [&] { early.bind({DType::f32, {t.b}}, {DType::f32, {9}}, "input 'z'"); };
  EXPECT_EQ(refusal(bind_last), "invalid_argument: input 'x': an extent of a+b, which is 13, is 12 here");
}

// Whatever the normal form does, the number stays the same.
TEST(DimValues, AgreesWithTheArithmeticThatMadeTheForm) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    TwoNames t;
    std::vector<std::pair<DimForm, std::int64_t>> known{{t.of_a, 17}, {t.of_b, 5}, {3, 3}};
    for (int i = 0; i < 8; ++i) {
      const auto& [x, x_value] = known[random() % known.size()];
      const auto& [y, y_value] = known[random() % known.size()];
      const auto number = static_cast<std::int64_t>(random() % 6 + 1);
      std::pair<DimForm, std::int64_t> next;
      switch (random() % 6) {
        case 0: next = {x + y, x_value + y_value}; break;
        case 1: next = {x - y * number, x_value - y_value * number}; break;
        case 2: next = {t.dims.quotient(x, number), floor_quotient(x_value, number)}; break;
        case 3: next = {t.dims.smaller(x, y), std::min(x_value, y_value)}; break;
        case 4: next = {t.dims.larger(x, y), std::max(x_value, y_value)}; break;
        default:
          if (x.terms.size() * y.terms.size() > 9 || std::abs(x_value * y_value) > 1000000) continue;
          next = {t.dims.product(x, y), x_value * y_value};
      }
      known.push_back(next);
    }
    std::vector<Dim> dims;
    for (const auto& [form, value] : known) dims.push_back(value < 0 ? Dim(0) : t.dims.of(form));
    DimValues values(t.dims);
    values.set(t.a.id(), 17, "a");
    values.set(t.b.id(), 5, "b");
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i].second < 0) continue;
      EXPECT_EQ(values(dims[i]), known[i].second) << t.dims.to_string(known[i].first);
    }
  }
}

}  // namespace
}  // namespace alate::graph
