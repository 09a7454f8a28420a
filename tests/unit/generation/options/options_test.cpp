#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "generation/options/check_options.h"
#include "generation/options/option_rows.h"
#include "generation/options/set_option.h"
#include "tests/unit/base/expect_error.h"

namespace alate::generation {
namespace {

using formats::Json;

std::string refusal(const SamplingOptions& options) {
  const Error error = base::error_of([&] { check_options(options, 100); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  return error.message();
}

std::string refusal(const StoppingOptions& options) {
  const Error error = base::error_of([&] { check_options(options); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  return error.message();
}

TEST(SamplingOptions, DefaultsAreInTheirRanges) {
  check_options(SamplingOptions{}, 1);
  check_options(StoppingOptions{});
}

TEST(SamplingOptions, ErrorsNameOptionValueAndRange) {
  EXPECT_EQ(refusal(SamplingOptions{.temperature = -0.5}), "temperature is -0.5; it must be a number from 0 to 100");
  EXPECT_EQ(refusal(SamplingOptions{.top_k = -2}), "top_k is -2; it must be a whole number from -1 to 2147483647");
  EXPECT_EQ(refusal(SamplingOptions{.top_p = std::nan("")}), "top_p is nan; it must be a number from 0 to 1");
  EXPECT_EQ(refusal(SamplingOptions{.repetition_penalty = 0}),
            "repetition_penalty is 0; it must be a number from 0.01 to 100");
  EXPECT_EQ(refusal(SamplingOptions{.mirostat = static_cast<Mirostat>(3)}),
            "mirostat is 3; it must be a whole number from 0 to 2");
  EXPECT_EQ(refusal(SamplingOptions{.logprobs = 129}), "logprobs is 129; it must be a whole number from 0 to 128");
  EXPECT_EQ(refusal(StoppingOptions{.max_tokens = -1}),
            "max_tokens is -1; it must be a whole number from 0 to 2147483647");
}

// Every number's limits are allowed, and what lies beyond them is not.
TEST(SamplingOptions, RangesHoldForEachRow) {
  for (const OptionRow<SamplingOptions>& row : sampling_rows()) {
    if (row.most == 0) continue;
    for (const auto& [value, is_allowed] :
         {std::pair{row.least, true}, {row.most, true}, {row.least - 1, false}, {row.most + 1, false}}) {
      SamplingOptions options;
      if (row.name == "mirostat" && !is_allowed) continue;
      ASSERT_TRUE(set_option(options, row.name, Json(value)));
      if (is_allowed) {
        check_options(options, 100);
      } else {
        EXPECT_TRUE(refusal(options).starts_with(std::string(row.name) + " is ")) << row.name;
      }
    }
  }
}

TEST(SamplingOptions, ListsHaveBounds) {
  EXPECT_EQ(refusal(SamplingOptions{.logit_bias = {{100, 1}}}),
            "logit_bias has the token 100; tokens are from 0 to 99");
  EXPECT_EQ(refusal(SamplingOptions{.logit_bias = {{5, 101}}}),
            "logit_bias is 101; it must be a number from -100 to 100");
  EXPECT_EQ(refusal(SamplingOptions{.logit_bias = {16'385, {1, 1}}}),
            "logit_bias has 16385 entries; it may have 16384");
  check_options(SamplingOptions{.logit_bias = {{5, -std::numeric_limits<double>::infinity()}}}, 100);
  EXPECT_EQ(refusal(SamplingOptions{.suppressed_tokens = {-1}}),
            "suppressed_tokens has the token -1; tokens are from 0 to 2147483647");
  EXPECT_EQ(refusal(SamplingOptions{.bad_words = {{}}}), "bad_words has a sequence without tokens");
  EXPECT_EQ(refusal(SamplingOptions{.dry_sequence_breakers = {"a", ""}}),
            "dry_sequence_breakers[1] has 0 bytes; each text must have from 1 to 40");
  EXPECT_EQ(refusal(StoppingOptions{.stop = {65, "a"}}), "stop has 65 entries; it may have 64");
  EXPECT_EQ(refusal(StoppingOptions{.stop = {std::string(1025, 'a')}}),
            "stop[0] has 1025 bytes; each text must have from 1 to 1024");
  EXPECT_EQ(refusal(StoppingOptions{.stop = {"\xFF"}}), "stop[0] is not valid UTF-8");
  EXPECT_EQ(refusal(StoppingOptions{.stop_token_ids = std::vector<std::int32_t>(257)}),
            "stop_token_ids has 257 entries; it may have 256");
}

TEST(SetOption, SetsByNameWhatJsonSays) {
  SamplingOptions options;
  EXPECT_TRUE(set_option(options, "temperature", Json(2)));
  EXPECT_TRUE(set_option(options, "top_k", Json(5.0)));
  EXPECT_TRUE(set_option(options, "penalize_prompt", Json(true)));
  EXPECT_TRUE(set_option(options, "mirostat", Json(2)));
  EXPECT_TRUE(set_option(options, "seed", Json(-1)));
  EXPECT_TRUE(set_option(options, "top_p", Json()));
  EXPECT_FALSE(set_option(options, "Temperature", Json(1)));
  EXPECT_EQ(options.temperature, 2);
  EXPECT_EQ(options.top_k, 5);
  EXPECT_TRUE(options.penalize_prompt);
  EXPECT_EQ(options.mirostat, Mirostat::version_2);
  EXPECT_EQ(options.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(options.top_p, 1);
  EXPECT_TRUE(set_option(options, "seed", Json(std::numeric_limits<std::uint64_t>::max() - 1)));
  EXPECT_EQ(options.seed, std::numeric_limits<std::uint64_t>::max() - 1);
  StoppingOptions stopping;
  EXPECT_TRUE(set_option(stopping, "max_tokens", Json(7)));
  EXPECT_EQ(stopping.max_tokens, 7);
}

TEST(SetOption, RefusesOtherTypes) {
  SamplingOptions options;
  for (const auto& [name, value] : {std::pair<const char*, Json>{"top_k", Json(1.5)},
                                    {"temperature", Json("1")},
                                    {"penalize_prompt", Json(1)},
                                    {"mirostat", Json(300)},
                                    {"seed", Json(1.5)}}) {
    const Error error = base::error_of([&] { set_option(options, name, value); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.message().find(name), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace alate::generation
