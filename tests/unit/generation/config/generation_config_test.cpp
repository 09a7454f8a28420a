#include "generation/config/generation_config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::generation {
namespace {

using Tokens = std::vector<std::int32_t>;

GenerationConfig parsed(const std::string& text) { return parse_generation_config(text, "generation_config.json"); }

void expect_refused(const std::string& text, const std::string& named) {
  const Error error = base::error_of([&] { (void)parsed(text); });
  EXPECT_EQ(error.code(), ErrorCode::corrupt) << text;
  EXPECT_NE(error.message().find("generation_config.json"), std::string::npos) << error.message();
  EXPECT_NE(error.message().find(named), std::string::npos) << error.message();
}

// The file of a published model for chats.
TEST(GenerationConfig, ReadsWhatAModelStates) {
  const GenerationConfig config = parsed(R"({
    "_from_model_config": true, "bos_token_id": 128000, "do_sample": true, "eos_token_id": [128001, 128008, 128009],
    "temperature": 0.6, "top_p": 0.9, "top_k": 20, "min_p": 0.05, "typical_p": 0.95, "repetition_penalty": 1.05,
    "pad_token_id": null, "max_length": 4096, "max_new_tokens": 512, "min_new_tokens": 2, "stop_strings": ["a", "b"],
    "suppress_tokens": [1, 2], "begin_suppress_tokens": [220, 50256], "transformers_version": "4.45.0"})");
  EXPECT_EQ(config.sampling.temperature, 0.6);
  EXPECT_EQ(config.sampling.top_p, 0.9);
  EXPECT_EQ(config.sampling.top_k, 20);
  EXPECT_EQ(config.sampling.min_p, 0.05);
  EXPECT_EQ(config.sampling.typical_p, 0.95);
  EXPECT_EQ(config.sampling.repetition_penalty, 1.05);
  EXPECT_EQ(config.sampling.suppressed_tokens, (Tokens{1, 2}));
  EXPECT_EQ(config.sampling.first_suppressed_tokens, (Tokens{220, 50256}));
  EXPECT_EQ(config.end_tokens, (Tokens{128001, 128008, 128009}));
  EXPECT_EQ(config.bos_token, 128000);
  EXPECT_EQ(config.pad_token, std::nullopt);
  EXPECT_TRUE(config.states_sampling);
  EXPECT_EQ(config.max_length, 4096);
  EXPECT_EQ(config.stopping.max_tokens, 512);
  EXPECT_EQ(config.stopping.min_tokens, 2);
  EXPECT_EQ(config.stopping.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(config.without_effect.empty());
}

TEST(GenerationConfig, LeavesDefaultsForWhatIsAbsentOrNull) {
  const GenerationConfig config =
      parsed(R"({"temperature": null, "top_k": null, "eos_token_id": null, "do_sample": null})");
  EXPECT_EQ(config.sampling.temperature, 1);
  EXPECT_EQ(config.sampling.top_k, 0);
  EXPECT_TRUE(config.end_tokens.empty());
  EXPECT_EQ(config.stopping.max_tokens, std::nullopt);
  EXPECT_FALSE(parsed("{}").states_sampling);
}

TEST(GenerationConfig, WithoutSamplingTheChoiceIsGreedy) {
  EXPECT_EQ(parsed(R"({"do_sample": false, "temperature": 0.7})").sampling.temperature, 0);
  EXPECT_EQ(parsed(R"({"temperature": 0.7})").sampling.temperature, 0.7);
  EXPECT_TRUE(parsed(R"({"temperature": 1.0})").states_sampling);
}

TEST(GenerationConfig, OneEndTokenMayBeANumber) { EXPECT_EQ(parsed(R"({"eos_token_id": 2})").end_tokens, Tokens{2}); }

TEST(GenerationConfig, BadWordsAreSequencesButNotTheEnd) {
  const GenerationConfig config = parsed(R"({"eos_token_id": 2, "bad_words_ids": [[5], [2], [6, 7]]})");
  EXPECT_EQ(config.sampling.bad_words, (std::vector<Tokens>{{5}, {6, 7}}));
}

TEST(GenerationConfig, LengthsCountThePrompt) {
  const GenerationConfig config = parsed(R"({"max_length": 100, "min_length": 30})");
  EXPECT_EQ(config.within_lengths(config.stopping, 20).max_tokens, 80);
  EXPECT_EQ(config.within_lengths(config.stopping, 20).min_tokens, 10);
  EXPECT_EQ(config.within_lengths(config.stopping, 200).max_tokens, 0);
  EXPECT_EQ(config.within_lengths(config.stopping, 200).min_tokens, 0);
  EXPECT_EQ(config.within_lengths({.max_tokens = 7}, 20).max_tokens, 7);
}

TEST(GenerationConfig, ListsKeysThatHaveNoEffect) {
  const GenerationConfig config =
      parsed(R"({"num_beams": 4, "no_repeat_ngram_size": 0, "encoder_repetition_penalty": 1.0,
                                             "guidance_scale": 1.5, "sequence_bias": [[[1], 2.0]], "unknown": {}})");
  EXPECT_EQ(config.without_effect, (std::vector<std::string>{"num_beams", "guidance_scale", "sequence_bias"}));
}

TEST(GenerationConfig, RefusesForcedTokens) {
  const Error error = base::error_of([] { (void)parsed(R"({"forced_eos_token_id": 2})"); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_TRUE(error.message().ends_with("forced_eos_token_id")) << error.message();
  (void)parsed(R"({"forced_bos_token_id": null})");
}

TEST(GenerationConfig, RefusesWrongTypesAndRanges) {
  expect_refused("[]", "object");
  expect_refused("{", "");
  expect_refused(R"({"temperature": "hot"})", "temperature");
  expect_refused(R"({"temperature": -1})", "temperature is -1; it must be a number from 0 to 100");
  expect_refused(R"({"top_k": 1.5})", "top_k");
  expect_refused(R"({"do_sample": 1})", "do_sample");
  expect_refused(R"({"eos_token_id": "</s>"})", "eos_token_id");
  expect_refused(R"({"eos_token_id": [1, -2]})", "eos_token_id has the token -2");
  expect_refused(R"({"pad_token_id": 3000000000})", "pad_token_id");
  expect_refused(R"({"max_new_tokens": -1})", "max_new_tokens");
  expect_refused(R"({"max_length": 1e300})", "max_length");
  expect_refused(R"({"min_length": 2147483648})",
                 "min_length is 2147483648; it must be a whole number from 0 to 2147483647");
  expect_refused(R"({"suppress_tokens": {}})", "suppress_tokens");
  expect_refused(R"({"bad_words_ids": [3]})", "bad_words_ids");
  expect_refused(R"({"bad_words_ids": [[]]})", "bad_words");
  expect_refused(R"({"stop_strings": [1]})", "stop_strings");
  expect_refused(R"({"stop_strings": ""})", "stop[0]");
}

TEST(GenerationConfig, RefusesListsBeyondTheirBounds) {
  std::string many = "[0";
  for (int i = 0; i < 256; ++i) many += ",0";
  expect_refused("{\"eos_token_id\": " + many + "]}", "eos_token_id has 257 entries; it may have 256");
  for (int i = 0; i < 16'384; ++i) many += ",0";
  expect_refused("{\"suppress_tokens\": " + many + "]}", "it may have 16384");
}

TEST(GenerationConfig, AFolderWithoutTheFileHasDefaults) {
  const base::TemporaryFolder folder;
  EXPECT_EQ(read_generation_config(folder.path()).sampling.temperature, 1);
  folder.write("generation_config.json", R"({"top_k": 3})");
  EXPECT_EQ(read_generation_config(folder.path()).sampling.top_k, 3);
}

}  // namespace
}  // namespace alate::generation
