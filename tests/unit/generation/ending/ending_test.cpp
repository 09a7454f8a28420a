#include "generation/ending/ending.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/base/expect_error.h"

namespace alate::generation {
namespace {

using Tokens = std::vector<std::int32_t>;

constexpr std::int32_t kEnd = 2;

struct Text {
  std::string text;
  std::optional<FinishReason> reason;
  std::int64_t tokens = 0;
  std::string stop_text;
};

// Adds tokens until one ends the text; token 0 is "a", 1 is "b", 2 is "</s>", the end of a sequence, 3 is "c".
Text generated(const StoppingOptions& options, const Tokens& tokens) {
  const std::string pieces[] = {"a", "b", "</s>", "c"};
  Ending ending(options, Tokens{kEnd});
  Text result;
  for (std::size_t i = 0; i < tokens.size() && !result.reason.has_value(); ++i)
    result.reason = ending.add(tokens[i], pieces[tokens[i]], result.text);
  if (!result.reason.has_value()) ending.finish(result.text);
  result.tokens = ending.tokens();
  result.stop_text = ending.stop_text();
  return result;
}

TEST(Ending, EndsAtTheModelsEnd) {
  const Text text = generated({}, {0, 1, kEnd, 0});
  EXPECT_EQ(text.text, "ab");
  EXPECT_EQ(text.reason, FinishReason::end_of_sequence);
  EXPECT_EQ(text.tokens, 3);
}

TEST(Ending, EndsAtAStopToken) {
  const Text text = generated({.stop_token_ids = {1}}, {0, 1, 0});
  EXPECT_EQ(text.text, "a");
  EXPECT_EQ(text.reason, FinishReason::stop_token);
}

TEST(Ending, EndsAtAStopTextAcrossTokens) {
  const Text text = generated({.stop = {"zz", "bc"}}, {0, 1, 3, 0});
  EXPECT_EQ(text.text, "a");
  EXPECT_EQ(text.reason, FinishReason::stop_text);
  EXPECT_EQ(text.stop_text, "bc");
  EXPECT_EQ(generated({.stop = {"bc"}, .include_stop = true}, {0, 1, 3, 0}).text, "abc");
}

TEST(Ending, EndsAtTheMostTokens) {
  const Text text = generated({.max_tokens = 2, .stop = {"bcc"}}, {0, 1, 3});
  EXPECT_EQ(text.text, "ab") << "what was held for a stop text is shown";
  EXPECT_EQ(text.reason, FinishReason::length);
  EXPECT_EQ(Ending({.max_tokens = 0}, {}).before_first(), FinishReason::length);
  EXPECT_EQ(Ending({}, {}).before_first(), std::nullopt);
}

TEST(Ending, LengthIsTheLastReason) {
  EXPECT_EQ(generated({.max_tokens = 2}, {0, kEnd}).reason, FinishReason::end_of_sequence);
  EXPECT_EQ(generated({.max_tokens = 2, .stop = {"b"}}, {0, 1}).reason, FinishReason::stop_text);
}

TEST(Ending, TheModelsEndMayBeIgnored) {
  const Text text = generated({.max_tokens = 3, .ignore_eos = true}, {0, kEnd, 1});
  EXPECT_EQ(text.text, "a</s>b");
  EXPECT_EQ(text.reason, FinishReason::length);
}

TEST(Ending, NothingButLengthEndsBeforeTheLeastNumberOfTokens) {
  EXPECT_EQ(generated({.min_tokens = 2, .stop_token_ids = {1}}, {1, 1, 0, 1, 0}).text, "bba");
  EXPECT_EQ(generated({.min_tokens = 2, .stop = {"a"}}, {0, 0, 1}).text, "a") << "the second token may end it";
  EXPECT_EQ(generated({.max_tokens = 1, .min_tokens = 2}, {0, 0}).reason, FinishReason::length);
}

TEST(Ending, TokensThatEndAreTheModelsAndTheOptions) {
  EXPECT_EQ(end_tokens({.stop_token_ids = {9, 2, 9}}, Tokens{5, 2}), (Tokens{2, 5, 9}));
  EXPECT_EQ(end_tokens({.stop_token_ids = {9}, .ignore_eos = true}, Tokens{5}), (Tokens{9}));
}

TEST(Ending, ChecksItsOptions) {
  EXPECT_EQ(base::error_of([] { Ending({.stop = {""}}, {}); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(to_string(FinishReason::stop_text), "stop_text");
}

}  // namespace
}  // namespace alate::generation
