#include "generation/sampling/mirostat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "generation/sampling/sampler.h"
#include "tests/unit/generation/sampling/rows.h"

namespace alate::generation {
namespace {

// Algorithm 1 of the paper, over sorted probabilities.
std::size_t count_by_slope(std::vector<double> probabilities, double limit, double vocabulary_size) {
  std::ranges::sort(probabilities, std::greater<>());
  double products = 0, squares = 0;
  for (std::size_t i = 0; i + 1 < std::min<std::size_t>(100, probabilities.size()); ++i) {
    const double t = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
    products += t * std::log(probabilities[i] / probabilities[i + 1]);
    squares += t * t;
  }
  const double s = products / squares, epsilon = s - 1;
  const double k = std::pow(epsilon * std::pow(2, limit) / (1 - std::pow(vocabulary_size, -epsilon)), 1 / s);
  return static_cast<std::size_t>(std::max(k, 1.0));
}

TEST(Mirostat, KeepsAsManyAsTheSlopeSays) {
  const std::vector<float> row = random_row(2000, 6, 3);
  std::vector<double> probabilities;
  for (const float logit : row) probabilities.push_back(std::exp(static_cast<double>(logit)));
  for (const double limit : {1.0, 4.0, 6.0, 9.0}) {
    Candidates candidates = candidates_of(row);
    keep_by_slope(candidates, limit, 2000);
    EXPECT_EQ(candidates.size(), std::min<std::size_t>(2000, count_by_slope(probabilities, limit, 2000))) << limit;
  }
}

// Probabilities 1 / rank have the slope 1, at which the paper's formula is 0 / 0; its limit is 2^mu / log(size).
TEST(Mirostat, HasALimitAtSlopeOne) {
  std::vector<float> row;
  for (int rank = 1; rank <= 500; ++rank) row.push_back(static_cast<float>(-std::log(rank)));
  Candidates candidates = candidates_of(row);
  keep_by_slope(candidates, 8, 500);
  EXPECT_NEAR(static_cast<double>(candidates.size()), 256 / std::log(500), 1);
}

TEST(Mirostat, KeepsTokensUpToTheSurprise) {
  const std::vector<float> row = row_of({0.5, 0.25, 0.125, 0.0625, 0.0625});
  const std::vector<std::pair<double, std::vector<std::int32_t>>> cases = {
      {0.5, {0}}, {1.1, {0}}, {2.1, {0, 1}}, {3.1, {0, 1, 2}}, {4.1, {0, 1, 2, 3, 4}}};
  for (const auto& [limit, kept] : cases) {
    Candidates candidates = candidates_of(row);
    keep_by_surprise(candidates, limit);
    EXPECT_EQ(ids_of(candidates), kept) << limit;
  }
}

TEST(Mirostat, OneTokenIsKept) {
  Candidates candidates = candidates_of({3});
  keep_by_slope(candidates, 1, 1);
  keep_by_surprise(candidates, -5);
  EXPECT_EQ(candidates.size(), 1U);
}

// Over many tokens of one distribution, the mean surprise comes near the target: what Mirostat is for.
TEST(Mirostat, MeanSurpriseComesNearTheTarget) {
  std::vector<float> row;
  for (int rank = 1; rank <= 1000; ++rank) row.push_back(static_cast<float>(-1.1 * std::log(rank)));
  SamplerWorkspace workspace;
  for (const Mirostat version : {Mirostat::version_1, Mirostat::version_2}) {
    Sampler sampler({.mirostat = version, .mirostat_tau = 3, .mirostat_eta = 0.1, .seed = 5},
                    {.vocabulary_size = row.size()});
    double sum = 0;
    for (int i = 0; i < 1000; ++i) {
      const TokenChoice choice = sampler.choose(row, workspace);
      sampler.accept(choice);
      if (i >= 200) sum += choice.surprise;
    }
    EXPECT_NEAR(sum / 800, 3, 0.1);
  }
}

}  // namespace
}  // namespace alate::generation
