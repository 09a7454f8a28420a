// The kernel interface against plain loops in double, on our own engine's kernels and as graphs on every backend.
#include "alate/kernels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <random>
#include <thread>

#include "alate/error.h"
#include "array/kernels/executable_cache.h"
#include "array/kernels/kernel_backends.h"
#include "backends/registry.h"

namespace alate::array {
namespace {

using Floats = std::vector<float>;
using Kernels = std::shared_ptr<const KernelBackend>;

Floats random_floats(std::size_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> between(-1, 1);
  Floats values(count);
  for (float& value : values) value = between(generator);
  return values;
}

MatrixView matrix(const Floats& values, std::size_t rows) { return {values, rows, values.size() / rows}; }

void expect_near(const Floats& found, const std::vector<double>& wanted, double within = 1e-5) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(double{found[i]}, wanted[i], within) << "value " << i;
}

// a [m, k] · b [k, n], by the definition.
std::vector<double> product(const Floats& a, const Floats& b, std::size_t m, std::size_t k, std::size_t n) {
  std::vector<double> out(m * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t l = 0; l < k; ++l) out[i * n + j] += double{a[i * k + l]} * double{b[l * n + j]};
    }
  }
  return out;
}

std::vector<double> softmax_of(const Floats& x) {
  double sum = 0;
  std::vector<double> out;
  for (const float value : x) out.push_back(std::exp(double{value}));
  for (const double value : out) sum += value;
  for (double& value : out) value /= sum;
  return out;
}

// As graphs on the first usable device of a backend; null where there is none.
Kernels on(const std::string& name) {
  backends::Backend& backend = backends::get_backend(name);
  for (const backends::Device& device : backend.devices()) {
    if (!device.unusable) return make_graph_kernels(backend, device);
  }
  return nullptr;
}

struct Way {
  const char* name;
  std::function<Kernels()> make;
};

class KernelFace : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    kernels_ = GetParam().make();
    if (kernels_ == nullptr) GTEST_SKIP() << "this machine has no such device";
  }
  Kernels kernels_;
};

TEST_P(KernelFace, SaysWhatItIs) {
  EXPECT_FALSE(kernels_->name().empty());
  EXPECT_FALSE(kernels_->device().empty());
  EXPECT_TRUE(kernels_->is_available());
}

TEST_P(KernelFace, MultipliesAMatrixWithAVector) {
  for (const auto& [n, d] : {std::pair<std::size_t, std::size_t>{1, 1}, {3, 5}, {17, 64}, {200, 333}}) {
    const Floats w = random_floats(n * d, 1), x = random_floats(d, 2);
    const std::vector<double> wanted = product(w, x, n, d, 1);
    expect_near(kernels_->matmul_vec(matrix(w, n), x), wanted, 1e-4);
    Floats out(n, -7);
    kernels_->matmul_vec_into(matrix(w, n), x, out);
    expect_near(out, wanted, 1e-4);
  }
}

TEST_P(KernelFace, MultipliesMatrices) {
  const Floats a = random_floats(7 * 33, 3), b = random_floats(33 * 19, 4);
  expect_near(kernels_->matmul(matrix(a, 7), matrix(b, 33)), product(a, b, 7, 33, 19));
}

TEST_P(KernelFace, NormalizesByTheRootOfTheMeanSquare) {
  const Floats before = random_floats(100, 5), weight = random_floats(100, 6);
  double squares = 0;
  for (const float value : before) squares += double{value} * double{value};
  std::vector<double> wanted;
  for (std::size_t i = 0; i < before.size(); ++i)
    wanted.push_back(double{before[i]} * double{weight[i]} / std::sqrt(squares / 100 + 0.25));
  Floats x = before;
  kernels_->rmsnorm(x, weight, 0.25f);
  expect_near(x, wanted);
}

TEST_P(KernelFace, ScalesExponentialsToASumOfOne) {
  const Floats before = random_floats(77, 7);
  Floats x = before;
  kernels_->softmax(x);
  expect_near(x, softmax_of(before));
  Floats large = {1000, 1000, -1000};
  kernels_->softmax(large);
  expect_near(large, {0.5, 0.5, 0});
}

TEST_P(KernelFace, SoftmaxOfAViewLeavesWhatLiesBetween) {
  const Floats before = random_floats(4 * 9, 8);
  Floats x = before, column;
  for (std::size_t i = 2; i < x.size(); i += 4) column.push_back(x[i]);
  kernels_->softmax_view({.first = x.data() + 2, .size = 9, .stride = 4});
  const std::vector<double> wanted = softmax_of(column);
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(double{x[i]}, i % 4 == 2 ? wanted[i / 4] : double{before[i]}, 1e-6) << "value " << i;
}

TEST_P(KernelFace, ComputesSilu) {
  Floats x = random_floats(50, 9);
  x.push_back(-80);
  x.push_back(80);
  std::vector<double> wanted;
  for (const float value : x) wanted.push_back(double{value} / (1 + std::exp(-double{value})));
  expect_near(kernels_->silu(x), wanted);
}

TEST_P(KernelFace, TurnsTheHalvesOfEachHead) {
  const std::size_t heads = 3, half = 8;
  const Floats before = random_floats(heads * 2 * half, 10), angles = random_floats(half, 11);
  Floats cosines, sines, x = before;
  for (const float angle : angles) {
    cosines.push_back(std::cos(angle));
    sines.push_back(std::sin(angle));
  }
  std::vector<double> wanted(x.size());
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < half; ++i) {
      const double first = double{before[h * 2 * half + i]}, second = double{before[h * 2 * half + half + i]};
      wanted[h * 2 * half + i] = first * double{cosines[i]} - second * double{sines[i]};
      wanted[h * 2 * half + half + i] = first * double{sines[i]} + second * double{cosines[i]};
    }
  }
  kernels_->apply_rope({x, heads, 2 * half}, cosines, sines);
  expect_near(x, wanted);
}

TEST_P(KernelFace, ScoresKeysAndSumsValues) {
  const std::size_t n = 37, d = 70;
  const Floats query = random_floats(d, 12), keys = random_floats(n * d, 13), weights = random_floats(n, 14);
  std::vector<double> wanted = product(keys, query, n, d, 1);
  for (double& value : wanted) value *= 0.125;
  Floats scores(n), sums(d);
  kernels_->compute_attention_scores(query, matrix(keys, n), scores, 0.125f);
  expect_near(scores, wanted);
  kernels_->weighted_sum_rows(weights, matrix(keys, n), sums);
  expect_near(sums, product(weights, keys, 1, n, d));
}

TEST_P(KernelFace, TakesWhatIsEmpty) {
  EXPECT_TRUE(kernels_->matmul_vec({{}, 0, 5}, Floats(5)).empty());
  EXPECT_EQ(kernels_->matmul_vec({{}, 3, 0}, {}), Floats(3, 0));
  EXPECT_EQ(kernels_->matmul({{}, 2, 0}, {{}, 0, 2}), Floats(4, 0));
  EXPECT_TRUE(kernels_->silu({}).empty());
  kernels_->softmax({});
  kernels_->rmsnorm({}, {}, 1e-5f);
  Floats out(2, 1);
  kernels_->weighted_sum_rows({}, {{}, 0, 2}, out);
  EXPECT_EQ(out, Floats(2, 0));
}

TEST_P(KernelFace, ServesManyThreads) {
  const Floats w = random_floats(60 * 40, 15), x = random_floats(40, 16);
  const Floats first = kernels_->matmul_vec(matrix(w, 60), x);
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 10; ++i) {
        Floats other = random_floats(5 + (t + i) % 6, 17);
        kernels_->softmax(other);
        equal += kernels_->matmul_vec(matrix(w, 60), x) == first ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 40);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, KernelFace,
    ::testing::Values(Way{"cpu", [] { return make_cpu_kernels({}); }},
                      Way{"cpu_scalar", [] { return make_cpu_kernels({.use_simd = false}); }},
                      Way{"cpu_one_thread", [] { return make_cpu_kernels({.use_parallel = false}); }},
                      Way{"graphs_on_cpu", [] { return on("cpu"); }},
                      Way{"graphs_on_reference", [] { return on("reference"); }},
                      Way{"graphs_on_onnx", [] { return on("onnx"); }}, Way{"graphs_on_xla", [] { return on("xla"); }}),
    [](const auto& row) { return row.param.name; });

TEST(CpuKernels, GiveTheSameBitsOnOneThreadAndOnAll) {
  const Kernels one = make_cpu_kernels({.use_parallel = false}), all = make_cpu_kernels({});
  const std::size_t n = 600, d = 500;  // enough work for several threads
  const Floats w = random_floats(n * d, 1), x = random_floats(d, 2), weights = random_floats(n, 3);
  EXPECT_EQ(one->matmul_vec(matrix(w, n), x), all->matmul_vec(matrix(w, n), x));
  Floats sums(d), others(d);
  one->weighted_sum_rows(weights, matrix(w, n), sums);
  all->weighted_sum_rows(weights, matrix(w, n), others);
  EXPECT_EQ(sums, others);
  EXPECT_EQ(one->silu(w), all->silu(w));
}

// The message of the refusal.
std::string refusal(const std::function<void(const KernelBackend&)>& call) {
  try {
    call(*make_cpu_kernels({}));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    return error.message();
  }
  return "nothing was thrown";
}

TEST(KernelShapes, AreCheckedAndNamed) {
  const Floats six(6), three(3);
  Floats x(6), out(2);
  const auto says = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  says(refusal([&](const auto& k) {
         k.matmul_vec({six, 2, 4}, three);
       }),
       "matmul_vec: w is said to be [2, 4] but has 6 values");
  says(refusal([&](const auto& k) { k.matmul_vec({six, SIZE_MAX, 4}, three); }), "w is said to be");
  says(refusal([&](const auto& k) { k.matmul_vec({six, 3, 2}, three); }), "x has 3 values and must have 2");
  says(refusal([&](const auto& k) { k.matmul_vec_into({six, 3, 2}, out, out); }), "out has 2 values and must have 3");
  says(refusal([&](const auto& k) { k.matmul({six, 2, 3}, {six, 2, 3}); }), "b is [2, 3] and must have 3 rows");
  says(refusal([&](const auto& k) { k.rmsnorm(x, three, 0); }), "weight has 3 values and must have 6");
  says(refusal([&](const auto& k) { k.softmax_view({.first = x.data(), .size = 6, .stride = 0}); }), "a stride of 0");
  says(refusal([&](const auto& k) { k.softmax_view({.first = nullptr, .size = 6}); }), "no first one");
  says(refusal([&](const auto& k) { k.apply_rope({x, 2, 3}, three, three); }), "heads of 3 values");
  says(refusal([&](const auto& k) { k.apply_rope({x, 1, 6}, three, six); }), "sines has 6 values and must have 3");
  says(refusal([&](const auto& k) { k.compute_attention_scores(three, {six, 2, 3}, x, 1); }), "scores has 6 values");
  says(refusal([&](const auto& k) { k.weighted_sum_rows(three, {six, 2, 3}, out); }), "weights has 3 values");
  says(refusal([&](const auto& k) {
         k.matmul_vec_into({std::span<const float>(x), 1, 6}, six, std::span(x).first(1));
       }),
       "the result overlaps an argument");
}

// Counts, and computes nothing.
class NoExecutable final : public backends::Executable {
 public:
  std::span<const backends::Port> inputs() const override { return {}; }
  std::span<const backends::Port> outputs() const override { return {}; }
  backends::ExecutableFacts facts() const override { return {}; }

 private:
  void compute(std::span<const backends::Buffer>, std::span<backends::Buffer>, const backends::RunOptions&) override {}
};

TEST(ExecutableCache, KeepsTheLastUsedAndTriesAgainAfterAFailure) {
  ExecutableCache cache(2);
  int made = 0;
  const auto make = [&]() -> std::unique_ptr<backends::Executable> {
    ++made;
    return std::make_unique<NoExecutable>();
  };
  cache.get("a", make);
  cache.get("b", make);
  cache.get("a", make);
  EXPECT_EQ(made, 2);
  cache.get("c", make);  // in place of b
  EXPECT_EQ(cache.size(), 2U);
  cache.get("a", make);
  EXPECT_EQ(made, 3);
  cache.get("b", make);
  EXPECT_EQ(made, 4);
  const auto fail = []() -> std::unique_ptr<backends::Executable> { throw Error(ErrorCode::unavailable, "not now"); };
  EXPECT_THROW(cache.get("d", fail), Error);
  EXPECT_NE(cache.get("d", make), nullptr);
}

}  // namespace
}  // namespace alate::array
