#include "generation/sampling/penalties.h"

#include <gtest/gtest.h>

#include <vector>

#include "generation/sampling/logit_row.h"

namespace alate::generation {
namespace {

using Row = std::vector<float>;

TokenHistory history_of(const std::vector<std::int32_t>& prompt, const std::vector<std::int32_t>& generated) {
  TokenHistory history(TokenHistory::kAll);
  history.add_prompt(prompt);
  for (const std::int32_t token : generated) history.add_generated(token);
  return history;
}

Row penalized(const SamplingOptions& options, const TokenHistory& history, Row row) {
  std::vector<std::uint32_t> counts(row.size());
  apply_penalties(options, history, row, counts);
  EXPECT_EQ(counts, std::vector<std::uint32_t>(row.size())) << "counts are given back as they came";
  return row;
}

TEST(Penalties, RepetitionDividesPositiveAndMultipliesNegativeLogitsOnce) {
  const Row row = {4, -4, 0, 4, kForbidden};
  EXPECT_EQ(penalized({.repetition_penalty = 2}, history_of({0, 0, 1}, {2, 4, 0}), row),
            (Row{2, -8, 0, 4, kForbidden}));
}

TEST(Penalties, PresenceAndFrequencyCountGeneratedTokensOnly) {
  const SamplingOptions options = {.presence_penalty = 1, .frequency_penalty = 0.25};
  const TokenHistory history = history_of({0, 1, 1}, {1, 2, 2});
  EXPECT_EQ(penalized(options, history, {0, 0, 0, 0}), (Row{0, -1.25, -1.5, 0}));
}

TEST(Penalties, CountThePromptWhereAsked) {
  const SamplingOptions options = {.presence_penalty = 1, .frequency_penalty = 0.25, .penalize_prompt = true};
  EXPECT_EQ(penalized(options, history_of({0, 1, 1}, {1, 2}), {0, 0, 0, 0}), (Row{-1.25, -1.75, -1.25, 0}));
}

TEST(Penalties, LookAtTheWindowOnly) {
  const TokenHistory history = history_of({0, 1}, {2, 3});
  EXPECT_EQ(penalized({.repetition_penalty = 2, .penalty_window = 3}, history, {8, 8, 8, 8}), (Row{8, 4, 4, 4}));
  EXPECT_EQ(penalized({.presence_penalty = 1, .penalty_window = 1}, history, {8, 8, 8, 8}), (Row{8, 8, 8, 7}));
  EXPECT_FALSE(has_penalties({.repetition_penalty = 2, .penalty_window = 0}));
}

TEST(Penalties, DivideBeforeTheySubtract) {
  const SamplingOptions options = {.repetition_penalty = 2, .presence_penalty = 1};
  EXPECT_EQ(penalized(options, history_of({}, {0}), {8}), (Row{3}));
}

TEST(Penalties, PassOverTokensThatTheRowLacksAndStayFinite) {
  EXPECT_EQ(penalized({.repetition_penalty = 0.01}, history_of({9, -1, 0}, {}), {3e38F, 1}),
            (Row{std::numeric_limits<float>::max(), 1}));
}

TEST(TokenHistory, RemembersAtLeastItsWindowAndNotMuchMore) {
  TokenHistory history(3);
  for (std::int32_t i = 0; i < 100; ++i) {
    history.add_generated(i);
    ASSERT_LE(history.last(TokenHistory::kAll).size(), 6U);
  }
  const auto last = history.last(3);
  EXPECT_EQ(std::vector<std::int32_t>(last.begin(), last.end()), (std::vector<std::int32_t>{97, 98, 99}));
  EXPECT_EQ(history.generated(), 100U);
}

}  // namespace
}  // namespace alate::generation
