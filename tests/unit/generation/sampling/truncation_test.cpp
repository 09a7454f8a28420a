#include "generation/sampling/truncation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tests/unit/generation/sampling/rows.h"

namespace alate::generation {
namespace {

using Ids = std::vector<std::int32_t>;

// All ids, the greatest logit first, of equal ones the smaller id.
Ids sorted_ids(const std::vector<float>& row) {
  Ids ids(row.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(ids, [&](std::int32_t a, std::int32_t b) {
    return row[static_cast<std::size_t>(a)] > row[static_cast<std::size_t>(b)];
  });
  return ids;
}

Ids first_in_order(const Ids& ids, std::size_t count) {
  Ids first(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count));
  std::ranges::sort(first);
  return first;
}

double exponential(const std::vector<float>& row, std::int32_t id) {
  return std::exp(static_cast<double>(row[static_cast<std::size_t>(id)]));
}

TEST(TopK, KeepsWhatSortingWouldInALargeVocabulary) {
  const std::vector<float> row = random_row(256'000, 12, 1);
  const Ids sorted = sorted_ids(row);
  for (const std::size_t count : {1U, 40U, 256U, 257U, 5000U, 255'999U}) {
    Candidates candidates = candidates_of(row);
    keep_top_k(candidates, count);
    EXPECT_EQ(ids_of(candidates), first_in_order(sorted, count));
  }
}

TEST(TopK, KeepsSmallerIdsOfEqualLogits) {
  Candidates candidates = candidates_of({1, 2, 1, 2, 1});
  keep_top_k(candidates, 3);
  EXPECT_EQ(ids_of(candidates), (Ids{0, 1, 3}));
}

TEST(TopK, TellsLogitsApartThatDifferByTheLeastFloat) {
  Candidates candidates = candidates_of({0, 1e-45F, 3e-45F, 0});
  keep_top_k(candidates, 2);
  EXPECT_EQ(ids_of(candidates), (Ids{1, 2}));
}

TEST(TopP, KeepsWhatSortingWouldInALargeVocabulary) {
  for (const float range : {0.01F, 2.0F, 20.0F, 90.0F}) {
    const std::vector<float> row = random_row(50'000, range, 2);
    const Ids sorted = sorted_ids(row);
    double total = 0;
    for (const std::int32_t id : sorted) total += exponential(row, id);
    for (const double mass : {0.1, 0.9, 0.9999}) {
      double sum = 0;
      std::size_t count = 0;
      while (sum < mass * total) sum += exponential(row, sorted[count++]);
      Candidates candidates = candidates_of(row);
      keep_top_p(candidates, mass, 1);
      EXPECT_NEAR(static_cast<double>(candidates.size()), static_cast<double>(count),
                  1 + 1e-4 * static_cast<double>(count));
      EXPECT_EQ(ids_of(candidates), first_in_order(sorted, candidates.size()));
    }
  }
}

TEST(TopP, KeepsTheFewestThatReachTheMass) {
  for (const auto& [mass, kept] : std::vector<std::pair<double, Ids>>{
           {0.0, {1}}, {0.49, {1}}, {0.51, {1, 3}}, {0.74, {1, 3}}, {0.76, {0, 1, 3}}, {0.99, {0, 1, 2, 3}}}) {
    Candidates candidates = candidates_of(row_of({0.125, 0.5, 0.125, 0.25}));
    keep_top_p(candidates, mass, 1);
    EXPECT_EQ(ids_of(candidates), kept) << mass;
  }
  Candidates uniform = candidates_of({0, 0, 0, 0});
  keep_top_p(uniform, 0, 1);
  EXPECT_EQ(ids_of(uniform), Ids{0});
}

TEST(TopP, MeasuresTheTokensThatEarlierStepsLeft) {
  Candidates candidates = candidates_of(row_of({0.3, 0.2, 0.2, 0.1, 0.1, 0.1}));
  keep_top_k(candidates, 2);
  keep_top_p(candidates, 0.55, 1);  // 0.3 of 0.5 is enough, 0.3 of 1 would not be
  EXPECT_EQ(ids_of(candidates), Ids{0});
}

TEST(MinP, KeepsTokensNearTheLikeliest) {
  const std::vector<float> row = row_of({0.5, 0.26, 0.24});
  Candidates candidates = candidates_of(row);
  keep_min_p(candidates, 0.5, 1);
  EXPECT_EQ(ids_of(candidates), (Ids{0, 1}));
  candidates = candidates_of(row);
  keep_min_p(candidates, 1, 1);
  EXPECT_EQ(ids_of(candidates), Ids{0});
}

// The likeliest of these is far from the entropy, so that it goes first.
TEST(Typical, RemovesATokenThatIsTooLikely) {
  const std::vector<double> probabilities = {0.4, 0.3, 0.1, 0.1, 0.1};
  double mean_surprise = 0;
  for (const double p : probabilities) mean_surprise -= p * std::log(p);
  EXPECT_LT(std::abs(-std::log(0.3) - mean_surprise), std::abs(-std::log(0.4) - mean_surprise));
  Candidates candidates = candidates_of(row_of(probabilities));
  EXPECT_NEAR(entropy(candidates), mean_surprise, 1e-6);
  keep_typical(candidates, 0.2, 1);
  EXPECT_EQ(ids_of(candidates), Ids{1});
  EXPECT_NEAR(candidates.total(), 1, 1e-6);  // weights are relative to the greatest that is left
}

TEST(Typical, LeavesProbabilitiesThatCanBeDrawnWhenTheLikeliestGoes) {
  // 90% on one token and the rest spread out: the others' weights relative to it would all be 0 in floats.
  std::vector<float> row(5000, -200.0F);
  row[0] = 0;
  row[1] = -199.0F;
  Candidates candidates = candidates_of(row);
  candidates.keep_if([](std::size_t i) { return i != 0; });
  EXPECT_GT(candidates.total(), 1.0);
  EXPECT_EQ(candidates.greatest(), -199.0F);
}

TEST(TopNSigma, KeepsLogitsWithinDeviationsOfTheGreatest) {
  // Of the five that are possible: mean 2, deviation sqrt((4 + 1 + 4 + 9 + 0) / 5) = 1.897.
  const std::vector<float> row = {0, 3, kForbidden, 0, 5, 2};
  Candidates candidates = candidates_of(row);
  keep_top_n_sigma(candidates, 1);  // at least 3.103
  EXPECT_EQ(ids_of(candidates), Ids{4});
  candidates = candidates_of(row);
  keep_top_n_sigma(candidates, 1.1);  // at least 2.913
  EXPECT_EQ(ids_of(candidates), (Ids{1, 4}));
  candidates = candidates_of({7, 7, 7});
  keep_top_n_sigma(candidates, 0.5);
  EXPECT_EQ(candidates.size(), 3U);
}

TEST(Xtc, RemovesAllTopChoicesButTheLeastLikely) {
  const std::vector<float> row = row_of({0.4, 0.05, 0.3, 0.25});
  Candidates candidates = candidates_of(row);
  exclude_top_choices(candidates, 0.1, 1);
  EXPECT_EQ(ids_of(candidates), (Ids{1, 3}));
  candidates = candidates_of(row);
  exclude_top_choices(candidates, 0.28, 1);
  EXPECT_EQ(ids_of(candidates), (Ids{1, 2, 3}));
  candidates = candidates_of(row);
  exclude_top_choices(candidates, 0.35, 1);  // one top choice only
  EXPECT_EQ(candidates.size(), 4U);
  exclude_top_choices(candidates, 0.1, 3);  // would leave two
  EXPECT_EQ(candidates.size(), 4U);
}

}  // namespace
}  // namespace alate::generation
