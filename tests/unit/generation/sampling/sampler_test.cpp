#include "generation/sampling/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "generation/sampling/random_draws.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/generation/sampling/rows.h"

namespace alate::generation {
namespace {

using Tokens = std::vector<std::int32_t>;
using Row = std::vector<float>;

Sampler sampler_of(const SamplingOptions& options, std::size_t size) { return {options, {.vocabulary_size = size}}; }

std::int32_t chosen(const SamplingOptions& options, const Row& row, std::span<const std::uint32_t> allowed = {}) {
  SamplerWorkspace workspace;
  return sampler_of(options, row.size()).choose(row, workspace, allowed).token;
}

Tokens text(Sampler sampler, const Row& row, int count) {
  SamplerWorkspace workspace;
  Tokens tokens;
  for (int i = 0; i < count; ++i) {
    tokens.push_back(sampler.choose(row, workspace).token);
    sampler.accept(tokens.back());
  }
  return tokens;
}

Error error_of(const SamplingOptions& options, const Row& row, std::span<const std::uint32_t> allowed = {}) {
  return base::error_of([&] { (void)chosen(options, row, allowed); });
}

// Pearson's statistic of counts against probabilities.
double chi_square(const Tokens& tokens, const std::vector<double>& probabilities) {
  std::vector<double> counts(probabilities.size());
  for (const std::int32_t token : tokens) ++counts[static_cast<std::size_t>(token)];
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = probabilities[i] * static_cast<double>(tokens.size());
    if (expected == 0) {
      EXPECT_EQ(counts[i], 0) << i;
    } else {
      sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
  }
  return sum;
}

// With 7 degrees of freedom, one sample in ten thousand exceeds 29.9; with 2, 18.4.
constexpr double kUnlikely7 = 29.9, kUnlikely2 = 18.4;

TEST(Sampler, DrawsByTheModelsDistribution) {
  const std::vector<double> probabilities = {0.3, 0.01, 0.2, 0.15, 0.04, 0.1, 0.12, 0.08};
  for (const std::uint64_t seed : {1U, 2U, 3U})
    EXPECT_LT(chi_square(text(sampler_of({.seed = seed}, 8), row_of(probabilities), 20'000), probabilities),
              kUnlikely7);
}

TEST(Sampler, DrawsByTheDistributionThatTheStepsLeave) {
  const Row row = row_of({0.4, 0.05, 0.2, 0.05, 0.1, 0.1, 0.05, 0.05});
  // top_k 4 leaves tokens 0, 2, 4, 5; min_p 0.3 those of 0.12 and more of 1: 0 and 2; a temperature of 0.5 squares.
  const std::vector<double> expected = {0.8, 0, 0.2, 0, 0, 0, 0, 0};
  EXPECT_LT(
      chi_square(text(sampler_of({.temperature = 0.5, .top_k = 4, .min_p = 0.3, .seed = 1}, 8), row, 5000), expected),
      kUnlikely2);
}

TEST(Sampler, XtcAppliesWithItsProbability) {
  const Row row = row_of({0.5, 0.3, 0.2});
  // Applied (a quarter of the time): 0 is removed, 1 is kept as the least likely above 0.25.
  const std::vector<double> expected = {0.75 * 0.5, 0.75 * 0.3 + 0.25 * 0.6, 0.75 * 0.2 + 0.25 * 0.4};
  const SamplingOptions options = {.xtc_probability = 0.25, .xtc_threshold = 0.25, .seed = 8};
  EXPECT_LT(chi_square(text(sampler_of(options, 3), row, 20'000), expected), kUnlikely2);
}

TEST(Sampler, TokensAreThoseOfTheSpecifiedGenerator) {
  const std::vector<double> probabilities = {0.1, 0.2, 0.3, 0.4};
  const Tokens tokens = text(sampler_of({.seed = 42}, 4), row_of(probabilities), 200);
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto words = base::philox(42, i, 0);
    const double draw = std::ldexp(static_cast<double>((words[0] | std::uint64_t{words[1]} << 32) >> 11), -53);
    const std::int32_t expected = draw < 0.1 ? 0 : draw < 0.3 ? 1 : draw < 0.6 ? 2 : 3;
    EXPECT_EQ(tokens[i], expected) << i;
  }
}

TEST(Sampler, TheSameSeedGivesTheSameTextWhateverTheWorkspaceDidBefore) {
  const Row row = random_row(1000, 5, 1), other = random_row(50, 5, 2);
  const SamplingOptions options = {
      .top_k = 50, .top_p = 0.9, .repetition_penalty = 1.1, .dry_multiplier = 1, .seed = 7};
  const Tokens alone = text(sampler_of(options, 1000), row, 50);
  Sampler one = sampler_of(options, 1000), two = sampler_of({.seed = 9}, 50);
  SamplerWorkspace shared;
  for (const std::int32_t token : alone) {
    const TokenChoice choice = one.choose(row, shared);
    EXPECT_EQ(choice.token, token);
    EXPECT_EQ(one.choose(row, shared).token, token) << "choosing changes nothing";
    one.accept(choice);
    two.accept(two.choose(other, shared));
  }
  EXPECT_NE(alone, text(Sampler(options, {.vocabulary_size = 1000, .text = 1}), row, 50))
      << "texts of one request differ";
}

TEST(Sampler, ReportsTheRandomSeedThatItTook) {
  const Row row = random_row(100, 3, 1);
  const Sampler sampler = sampler_of({}, 100);
  EXPECT_EQ(text(sampler, row, 30), text(sampler_of({.seed = sampler.seed()}, 100), row, 30));
  EXPECT_NE(sampler.seed(), sampler_of({}, 100).seed());
}

TEST(Sampler, GreedyTakesTheGreatestOfEqualOnesTheFirst) {
  EXPECT_EQ(chosen({.temperature = 0}, {1, 5, 3, 5}), 1);
  // Steps that remove the likeliest token are not for greedy choices.
  EXPECT_EQ(chosen({.temperature = 0, .typical_p = 0.1, .xtc_probability = 1, .mirostat = Mirostat::version_2},
                   row_of({0.4, 0.3, 0.1, 0.1, 0.1})),
            0);
}

TEST(Sampler, DynamicTemperatureFollowsTheEntropy) {
  // Entropy H of 3 tokens; the temperature is 0.5 + 1 * (H / log 3)^2.
  const std::vector<double> probabilities = {0.7, 0.2, 0.1};
  double share = 0;
  for (const double p : probabilities) share -= p * std::log(p) / std::log(3);
  const double temperature = 0.5 + share * share;
  std::vector<double> expected;
  double sum = 0;
  for (const double p : probabilities) sum += expected.emplace_back(std::pow(p, 1 / temperature));
  for (double& p : expected) p /= sum;
  const SamplingOptions options = {.dynamic_temperature_range = 0.5, .dynamic_temperature_exponent = 2, .seed = 3};
  EXPECT_LT(chi_square(text(sampler_of(options, 3), row_of(probabilities), 20'000), expected), kUnlikely2);
  // No entropy: temperature 0, though the range reaches from 0 to 2.
  EXPECT_EQ(chosen({.dynamic_temperature_range = 1, .seed = 1}, {0, 200, 0}), 1);
}

TEST(Sampler, VeryLowTemperaturesAreGreedyAndVeryHighOnesFlat) {
  EXPECT_EQ(chosen({.temperature = 1e-300, .seed = 1}, {1, 2, 1.999F}), 1);
  EXPECT_LT(chi_square(text(sampler_of({.temperature = 100, .seed = 1}, 3), {0, 0.01F, 0.02F}, 3000),
                       {1 / 3.0, 1 / 3.0, 1 / 3.0}),
            kUnlikely2);
}

TEST(Sampler, AllowsTheTokensOfTheMaskOnly) {
  Row row(70);
  row[3] = 9;
  std::vector<std::uint32_t> allowed(3);
  allowed[2] = 1U << 5;  // token 69
  EXPECT_EQ(chosen({.temperature = 0}, row, allowed), 69);
  EXPECT_EQ(chosen({.top_k = 5, .seed = 4}, row, allowed), 69);
  EXPECT_EQ(error_of({}, row, std::span(allowed).first(2)).message(),
            "the mask of allowed tokens has 2 words of 32 bits; 70 tokens need 3");
}

TEST(Sampler, BiasAddsUpAndForbids) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(chosen({.temperature = 0, .logit_bias = {{0, 0.5}, {0, 0.75}}}, {0, 1}), 0);
  EXPECT_EQ(chosen({.temperature = 0, .logit_bias = {{1, kNever}, {1, 100}}}, {0, 1}), 0);
  const Row row = {kForbidden, 1};
  EXPECT_EQ(chosen({.temperature = 0, .logit_bias = {{0, 100}}}, row), 1) << "the model excludes token 0";
}

TEST(Sampler, SuppressesTokensAlwaysOrFirst) {
  const Row row = {3, 2, 1};
  EXPECT_EQ(text(sampler_of({.temperature = 0, .suppressed_tokens = {0, 99}}, 3), row, 2), (Tokens{1, 1}));
  EXPECT_EQ(text(sampler_of({.temperature = 0, .first_suppressed_tokens = {0}}, 3), row, 2), (Tokens{1, 0}));
}

TEST(Sampler, NeverCompletesABadWord) {
  const Row row = {3, 2, 1};
  EXPECT_EQ(text(sampler_of({.temperature = 0, .bad_words = {{0, 0}, {1}}}, 3), row, 4), (Tokens{0, 2, 0, 2}));
  Sampler sampler = sampler_of({.temperature = 0, .bad_words = {{7, 0}}}, 3);
  sampler.add_prompt(Tokens{5, 7});
  EXPECT_EQ(text(sampler, row, 2), (Tokens{1, 0}));
}

TEST(Sampler, ForbidsEndsBeforeTheLeastNumberOfTokens) {
  const Sampler sampler({.temperature = 0}, {.vocabulary_size = 3, .end_tokens = {0}, .min_tokens = 2});
  EXPECT_EQ(text(sampler, {3, 2, 1}, 4), (Tokens{1, 1, 0, 0}));
}

TEST(Sampler, PenaltiesAndDryComeBeforeTheFilters) {
  Sampler sampler = sampler_of({.top_k = 1, .repetition_penalty = 4, .seed = 1}, 2);
  sampler.add_prompt(Tokens{0});
  SamplerWorkspace workspace;
  EXPECT_EQ(sampler.choose(Row{3, 1}, workspace).token, 1);
  Sampler dry = sampler_of({.temperature = 0, .dry_multiplier = 5, .dry_allowed_length = 1}, 2);
  dry.add_prompt(Tokens{0, 1, 0});
  EXPECT_EQ(dry.choose(Row{0, 1}, workspace).token, 0);
}

TEST(Sampler, LogprobsAreOfTheModelsOwnDistribution) {
  const Row row = row_of({0.1, 0.5, 0.15, 0.25});
  SamplerWorkspace workspace;
  const SamplingOptions options = {.temperature = 0, .logit_bias = {{0, 50}}, .logprobs = 2};
  const TokenChoice choice = sampler_of(options, 4).choose(row, workspace);
  EXPECT_EQ(choice.token, 0);
  EXPECT_NEAR(choice.logprob, std::log(0.1), 1e-6);
  ASSERT_EQ(choice.top.size(), 2U);
  EXPECT_EQ(choice.top[0].token, 1);
  EXPECT_NEAR(choice.top[0].logprob, std::log(0.5), 1e-6);
  EXPECT_EQ(choice.top[1].token, 3);
  EXPECT_NEAR(choice.top[1].logprob, std::log(0.25), 1e-6);

  const TokenChoice more = sampler_of({.temperature = 0, .logprobs = 128}, 4).choose(row, workspace);
  EXPECT_EQ(more.top.size(), 4U);
  EXPECT_TRUE(sampler_of({.temperature = 0, .logprobs = 0}, 4).choose(row, workspace).top.empty());
}

TEST(Sampler, LogprobsOfFarLogitsAreExact) {
  SamplerWorkspace workspace;
  const TokenChoice choice =
      sampler_of({.temperature = 0, .logprobs = 3}, 3).choose(Row{-500, 500, kForbidden}, workspace);
  EXPECT_EQ(choice.top[0], (TokenLogprob{1, 0}));
  EXPECT_EQ(choice.top[1], (TokenLogprob{0, -1000}));
  EXPECT_EQ(choice.top[2], (TokenLogprob{2, kForbidden}));
}

TEST(Sampler, NamesTheModelsOutputThatIsNotANumber) {
  const Error nan = error_of({}, {1, 2, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_EQ(nan.code(), ErrorCode::corrupt);
  EXPECT_EQ(nan.message(),
            "the model's output logits is NaN for token 2: its weights are damaged, or too large for the type that it "
            "computes in; try dtype float32");
  const Error infinite = error_of({.temperature = 0}, {1, std::numeric_limits<float>::infinity()});
  EXPECT_NE(infinite.message().find("infinity for token 1"), std::string::npos) << infinite.message();
  EXPECT_EQ(error_of({}, {kForbidden, kForbidden}).code(), ErrorCode::corrupt);
}

TEST(Sampler, SaysThatNothingIsLeftToChoose) {
  const Error error = error_of({.suppressed_tokens = {0, 1}}, {1, 2, kForbidden});
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("no token is left to choose"), std::string::npos);
  EXPECT_EQ(error_of({}, {1, 2}, std::vector<std::uint32_t>{4}).code(), ErrorCode::invalid_argument);
}

TEST(Sampler, RefusesARowOfAnotherSize) {
  SamplerWorkspace workspace;
  const Error error = base::error_of([&] { (void)sampler_of({}, 3).choose(Row{1, 2}, workspace); });
  EXPECT_EQ(error.message(), "a row has 2 logits; the sampler was made for 3");
}

TEST(Sampler, HugeLogitsStayFinite) {
  constexpr float kHuge = std::numeric_limits<float>::max();
  const SamplingOptions options = {.temperature = 0.01,
                                   .top_n_sigma = 1,
                                   .typical_p = 0.9,
                                   .top_p = 0.9,
                                   .min_p = 0.1,
                                   .repetition_penalty = 0.01,
                                   .frequency_penalty = -100,
                                   .logit_bias = {{0, 100}},
                                   .seed = 1};
  Sampler sampler = sampler_of(options, 3);
  sampler.add_prompt(Tokens{0, 1, 2});
  SamplerWorkspace workspace;
  EXPECT_EQ(sampler.choose(Row{kHuge, -kHuge, 0}, workspace).token, 0);
}

TEST(Sampler, ChoosingAllocatesNothingOnceTheWorkspaceIsUsed) {
  const SamplingOptions options = {.temperature = 0.8,
                                   .top_n_sigma = 3,
                                   .top_k = 500,
                                   .typical_p = 0.9,
                                   .top_p = 0.9,
                                   .min_p = 0.01,
                                   .repetition_penalty = 1.1,
                                   .presence_penalty = 0.1,
                                   .dry_multiplier = 1,
                                   .seed = 1,
                                   .logprobs = 5};
  Sampler sampler = sampler_of(options, 3000);
  sampler.reserve(200);
  SamplerWorkspace workspace;
  const auto places = [&] {
    return std::vector<const void*>{workspace.row.data(),
                                    workspace.weights.data(),
                                    workspace.counts.data(),
                                    workspace.top.data(),
                                    workspace.candidates.ranks().data(),
                                    workspace.candidates.logits().data()};
  };
  sampler.accept(sampler.choose(random_row(3000, 5, 0), workspace));
  const std::vector<const void*> before = places();
  for (std::uint64_t i = 1; i < 100; ++i) {
    sampler.accept(sampler.choose(random_row(3000, 5, i), workspace));
    ASSERT_EQ(places(), before) << i;
  }
}

}  // namespace
}  // namespace alate::generation
