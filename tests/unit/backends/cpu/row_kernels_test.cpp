#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/rows/normalize.h"
#include "backends/cpu/kernels/rows/reduce.h"
#include "backends/cpu/kernels/rows/softmax.h"
#include "backends/cpu/kernels/windows/pooling.h"
#include "tests/unit/backends/cpu/kernel_testing.h"

namespace alate::cpu::kernel_testing {
namespace {

constexpr std::size_t kWidths[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 100, 384, 5000};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class RowKernels : public EveryInstructionSet {};

std::vector<double> normalized(NormKind kind, std::vector<double> v, const NormArguments& a) {
  double mean = 0;
  double squares = 0;
  for (const double value : v) mean += value / static_cast<double>(v.size());
  if (kind != NormKind::layer) mean = 0;
  for (double& value : v) {
    value -= mean;
    squares += value * value;
  }
  const double divisor = kind == NormKind::l2
                             ? std::max(std::sqrt(squares), static_cast<double>(a.epsilon))
                             : std::sqrt(squares / static_cast<double>(v.size()) + static_cast<double>(a.epsilon));
  for (std::size_t i = 0; i < v.size(); ++i) {
    v[i] = v[i] / divisor * (a.scale != nullptr ? a.scale[i] : 1.0f) + (a.shift != nullptr ? a.shift[i] : 0.0f);
  }
  return v;
}

TEST_P(RowKernels, NormalizeAsTheirFormulasSay) {
  for (const std::size_t width : kWidths) {
    constexpr std::size_t kRows = 6;  // some of which are measured together
    const auto x = random_floats(kRows * (width + 2), 1, 3);
    const auto residual = random_floats(kRows * width, 2, 3);
    const auto bias = random_floats(width, 3);
    const auto scale = random_floats(width, 4);
    const auto shift = random_floats(width, 5);
    for (const NormKind kind : {NormKind::layer, NormKind::rms, NormKind::l2}) {
      for (int options = 0; options < 32; ++options) {
        std::vector<float> out(kRows * (width + 1), 9.0f);
        std::vector<float> sum(kRows * width);
        NormArguments a;
        a.x = x.data();
        a.x_stride = width + 2;
        a.out = out.data();
        a.out_stride = width + 1;
        a.rows = kRows;
        a.width = width;
        a.epsilon = 1e-5f;
        if (options & 1) a.residual = residual.data(), a.residual_stride = width;
        if (options & 2) a.bias = bias.data();
        if ((options & 4) && kind != NormKind::l2) a.scale = scale.data();
        if ((options & 8) && kind != NormKind::l2) a.shift = shift.data();
        if (options & 16) a.sum = sum.data(), a.sum_stride = width;
        normalize_rows(kind, a, pool_, 1, set());
        for (std::size_t row = 0; row < kRows; ++row) {
          std::vector<double> v(width);
          for (std::size_t i = 0; i < width; ++i) {
            v[i] = x[row * (width + 2) + i];
            if (a.residual != nullptr) v[i] += residual[row * width + i];
            if (a.bias != nullptr) v[i] += bias[i];
            if (a.sum != nullptr) {
              ASSERT_NEAR(sum[row * width + i], v[i], 1e-6);
            }
          }
          const std::vector<double> want = normalized(kind, v, a);
          for (std::size_t i = 0; i < width; ++i) {
            // At width 2 two close values are told apart by their difference, of which rounding takes its share.
            ASSERT_NEAR(out[row * (width + 1) + i], want[i], width < 4 ? 1e-4 : 5e-6)
                << "width " << width << " options " << options << " element " << i;
          }
          ASSERT_EQ(out[row * (width + 1) + width], 9.0f);
        }
      }
    }
  }
}

TEST_P(RowKernels, NormalizeZerosWithoutDividingByZero) {
  const std::vector<float> x(20, 0.0f);
  std::vector<float> out(20, 5.0f);
  NormArguments a;
  a.x = x.data();
  a.out = out.data();
  a.x_stride = a.out_stride = a.width = 20;
  a.rows = 1;
  a.epsilon = 1e-12f;
  for (const NormKind kind : {NormKind::layer, NormKind::rms, NormKind::l2}) {
    normalize_rows(kind, a, pool_, 1, set());
    EXPECT_EQ(out, x);
  }
}

TEST_P(RowKernels, NormalizeInPlaceAndOnTwoThreadsToTheSameBits) {
  constexpr std::size_t kRows = 300, kWidth = 384;
  const auto x = random_floats(kRows * kWidth, 1);
  const auto residual = random_floats(kRows * kWidth, 2);
  std::vector<float> out(x.size());
  NormArguments a;
  a.x = x.data();
  a.residual = residual.data();
  a.out = out.data();
  a.x_stride = a.residual_stride = a.out_stride = a.width = kWidth;
  a.rows = kRows;
  a.epsilon = 1e-12f;
  normalize_rows(NormKind::layer, a, pool_, 1, set());
  std::vector<float> in_place = x;
  a.x = in_place.data();
  a.out = in_place.data();
  normalize_rows(NormKind::layer, a, pool_, 2, set());
  EXPECT_TRUE(same_bits(out, in_place));
}

TEST_P(RowKernels, SoftmaxAndItsLogarithmFollowTheFormula) {
  for (const std::size_t width : kWidths) {
    constexpr std::size_t kRows = 2;
    const auto x = random_floats(kRows * width, 7, 20);
    for (const bool logarithm : {false, true}) {
      std::vector<float> out(x.size());
      softmax_rows({x.data(), width, out.data(), width, kRows, width, logarithm}, pool_, 1, set());
      for (std::size_t row = 0; row < kRows; ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < width; ++i) sum += std::exp(static_cast<double>(x[row * width + i]));
        for (std::size_t i = 0; i < width; ++i) {
          const double value = x[row * width + i];
          const double want = logarithm ? value - std::log(sum) : std::exp(value) / sum;
          ASSERT_NEAR(out[row * width + i], want, logarithm ? 1e-5 : 1e-6) << "width " << width;
        }
      }
    }
  }
}

TEST_P(RowKernels, SoftmaxGivesTheSameBitsPastTheCaches) {
  for (const std::size_t width : {1, 5, 16, 512, 700, 4096, 4097}) {
    constexpr std::size_t kRows = 3;
    const auto x = random_floats(kRows * width, 5);
    std::vector<float> cached(x.size()), streamed(x.size());
    SoftmaxArguments arguments{x.data(), width, cached.data(), width, kRows, width, false};
    softmax_rows(arguments, pool_, 1, set());
    arguments.out = streamed.data();
    arguments.streams = true;
    softmax_rows(arguments, pool_, 1, set());
    EXPECT_TRUE(same_bits(cached, streamed)) << width;
  }
}

TEST_P(RowKernels, StreamsBytesToAnyPlace) {
  std::vector<unsigned char> from(1000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 7 + 1);
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 127, 500}) {
    for (const std::size_t at : {0, 1, 17, 63, 64, 100}) {
      std::vector<unsigned char> to(700, 0);
      set().simd.stream.copy(from.data() + at, to.data() + at, bytes);
      set().simd.stream.finish();
      for (std::size_t i = 0; i < to.size(); ++i)
        ASSERT_EQ(to[i], i >= at && i < at + bytes ? from[i] : 0) << bytes << " at " << at << ", " << i;
    }
  }
}

TEST_P(RowKernels, SoftmaxGivesZeroToMinusInfinity) {
  std::vector<float> x = {1, -kInfinity, 1, -kInfinity};
  softmax_rows({x.data(), 4, x.data(), 4, 1, 4, false}, pool_, 1, set());
  EXPECT_EQ(x, (std::vector<float>{0.5f, 0, 0.5f, 0}));
}

constexpr TileOp kReductions[] = {TileOp::add, TileOp::multiply, TileOp::maximum, TileOp::minimum};

double fold(TileOp op, const std::vector<double>& values) {
  double result = op == TileOp::add ? 0 : op == TileOp::multiply ? 1 : op == TileOp::maximum ? -kInfinity : kInfinity;
  for (const double value : values) {
    switch (op) {
      case TileOp::add: result += value; break;
      case TileOp::multiply: result *= value; break;
      case TileOp::maximum: result = std::max(result, value); break;
      default: result = std::min(result, value);
    }
  }
  return result;
}

TEST_P(RowKernels, ReduceOverTheMiddleOrLastAxis) {
  for (const std::size_t length : {0, 1, 5, 64, 129, 4097, 20000, 300001}) {
    for (const std::size_t inner : {1, 2, 17, 40, 150}) {
      if (length * inner > 700000) continue;
      constexpr std::size_t kOuter = 2;
      auto x = random_floats(kOuter * length * inner, 3);
      for (const TileOp op : kReductions) {
        if (op == TileOp::multiply) {
          for (float& value : x) value = 1 + value / 1000;
        }
        std::vector<float> out(kOuter * inner);
        reduce(op, DType::f32, {x.data(), out.data(), kOuter, length, inner}, pool_, 2, set());
        for (std::size_t o = 0; o < kOuter; ++o) {
          for (std::size_t i = 0; i < inner; ++i) {
            std::vector<double> values;
            double magnitudes = 0;
            for (std::size_t l = 0; l < length; ++l) {
              values.push_back(x[(o * length + l) * inner + i]);
              magnitudes += std::abs(values.back());
            }
            const double want = fold(op, values), found = out[o * inner + i];
            // Sums gather roundings of what they add, products one of each factor; extremes are exact.
            const double bound = op == TileOp::add        ? 1e-7 * magnitudes
                                 : op == TileOp::multiply ? 6e-8 * static_cast<double>(length) * std::abs(want)
                                                          : 0;
            if (std::isinf(want)) {
              ASSERT_EQ(found, want);
            } else {
              ASSERT_NEAR(found, want, bound)
                  << "length " << length << " inner " << inner << " op " << static_cast<int>(op);
            }
          }
        }
      }
    }
  }
}

TEST_P(RowKernels, ReduceToTheSameBitsOnAnyNumberOfThreads) {
  const auto x = random_floats(1 << 20, 3);
  for (const auto& [outer, inner] : {std::pair<std::size_t, std::size_t>{16, 1}, {1, 1}, {2, 3}, {1, 64}, {1, 4096}}) {
    const std::size_t length = x.size() / inner / outer;
    std::vector<float> one(outer * inner), two(outer * inner);
    reduce(TileOp::add, DType::f32, {x.data(), one.data(), outer, length, inner}, pool_, 1, set());
    reduce(TileOp::add, DType::f32, {x.data(), two.data(), outer, length, inner}, pool_, 2, set());
    EXPECT_TRUE(same_bits(one, two)) << outer << " " << inner;
  }
}

TEST_P(RowKernels, MaxAndMinLetNanThrough) {
  for (const std::size_t place : {0, 5, 40, 99}) {
    auto x = random_floats(100, 3);
    x[place] = std::numeric_limits<float>::quiet_NaN();
    for (const TileOp op : {TileOp::maximum, TileOp::minimum}) {
      float out = 0;
      reduce(op, DType::f32, {x.data(), &out, 1, 100, 1}, pool_, 1, set());
      EXPECT_TRUE(std::isnan(out)) << place;
    }
  }
}

TEST_P(RowKernels, PoolAsSentenceTransformersDoes) {
  for (const std::size_t width : {1, 5, 16, 50}) {
    const std::vector<std::int32_t> lengths = {3, 0, 1, 20};
    const std::vector<std::int32_t> starts = {2, 5, 5, 7};
    const auto x = random_floats(30 * (width + 1), 8);
    for (const Pooling pooling :
         {Pooling::mean, Pooling::cls, Pooling::max, Pooling::last, Pooling::mean_sqrt_len, Pooling::weighted_mean}) {
      std::vector<float> out(4 * width, 7.0f);
      pool_tokens(pooling, {x.data(), width + 1, starts.data(), lengths.data(), out.data(), width, 4, width}, pool_, 2,
                  set());
      for (std::size_t s = 0; s < 4; ++s) {
        for (std::size_t i = 0; i < width; ++i) {
          const auto length = static_cast<std::size_t>(lengths[s]);
          const auto at = [&](std::size_t token) {
            return static_cast<double>(x[(static_cast<std::size_t>(starts[s]) + token) * (width + 1) + i]);
          };
          double sum = 0, weighted = 0, weights = 0, greatest = -kInfinity;
          for (std::size_t token = 0; token < length; ++token) {
            sum += at(token);
            weighted += at(token) * static_cast<double>(token + 1);
            weights += static_cast<double>(token + 1);
            greatest = std::max(greatest, at(token));
          }
          double want = 0;
          if (length > 0) {
            switch (pooling) {
              case Pooling::mean: want = sum / static_cast<double>(length); break;
              case Pooling::cls: want = at(0); break;
              case Pooling::max: want = greatest; break;
              case Pooling::last: want = at(length - 1); break;
              case Pooling::mean_sqrt_len: want = sum / std::sqrt(static_cast<double>(length)); break;
              case Pooling::weighted_mean: want = weighted / weights; break;
            }
          }
          ASSERT_NEAR(out[s * width + i], want, 1e-6) << "way " << static_cast<int>(pooling) << " sequence " << s;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, RowKernels, ::testing::ValuesIn(base::runnable_instruction_sets()), set_name);

}  // namespace
}  // namespace alate::cpu::kernel_testing
