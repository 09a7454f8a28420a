#include "server/api/generation_options.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "server/exchange/family.h"

namespace alate::server {
namespace {

using formats::Json;

Json json(std::string_view text) { return formats::parse_json(text, "the body"); }

GenerationOptions read(std::string_view members, GenerationOptions options = {}) {
  read_generation_options(json(members), options);
  return options;
}

// The refusal's message, after its parameter.
template <typename Read>
std::string refusal_of(const Read& reads) {
  try {
    reads();
  } catch (const RequestError& error) {
    EXPECT_EQ(error.problem().kind, Problem::Kind::invalid);
    return error.problem().parameter + ": " + error.problem().message;
  }
  return "not refused";
}
std::string refusal_of_members(std::string_view members) {
  return refusal_of([&] { read(members); });
}

TEST(GenerationOptions, HaveTheNamesOfAllFamilies) {
  for (const char* name :
       {"max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "num_predict", "n_predict"})
    EXPECT_EQ(read("{\"" + std::string(name) + "\":7}").stopping.max_tokens, 7) << name;
  EXPECT_EQ(read(R"({"repeat_penalty":1.5})").sampling.repetition_penalty, 1.5);
  EXPECT_EQ(read(R"({"repetition_penalty":1.5})").sampling.repetition_penalty, 1.5);
  EXPECT_EQ(read(R"({"repeat_last_n":5})").sampling.penalty_window, 5);
  EXPECT_EQ(read(R"({"dry_penalty_last_n":5})").sampling.dry_window, 5);
  EXPECT_EQ(read(R"({"dynatemp_range":0.5,"dynatemp_exponent":2})").sampling.dynamic_temperature_exponent, 2);
  EXPECT_EQ(read(R"({"mirostat":2})").sampling.mirostat, Mirostat::version_2);
  const GenerationOptions all = read(
      R"({"temperature":0.5,"top_p":0.9,"top_k":40,"min_p":0.1,"typical_p":0.8,"presence_penalty":1,"seed":7,
          "frequency_penalty":-1,"min_tokens":2,"ignore_eos":true,"include_stop_str_in_output":true,
          "dry_sequence_breakers":["a"],"stop_token_ids":[5],"unknown":{}})");
  EXPECT_EQ(all.sampling.temperature, 0.5);
  EXPECT_EQ(all.sampling.top_p, 0.9);
  EXPECT_EQ(all.sampling.top_k, 40);
  EXPECT_EQ(all.sampling.min_p, 0.1);
  EXPECT_EQ(all.sampling.typical_p, 0.8);
  EXPECT_EQ(all.sampling.presence_penalty, 1);
  EXPECT_EQ(all.sampling.frequency_penalty, -1);
  EXPECT_EQ(all.sampling.seed, 7U);
  EXPECT_EQ(all.sampling.dry_sequence_breakers, std::vector<std::string>{"a"});
  EXPECT_EQ(all.stopping.min_tokens, 2);
  EXPECT_EQ(all.stopping.stop_token_ids, std::vector<std::int32_t>{5});
  EXPECT_TRUE(all.stopping.ignore_eos && all.stopping.include_stop);
}

TEST(GenerationOptions, NullLeavesTheModelsOwn) {
  GenerationOptions own;
  own.sampling.temperature = 0.3;
  own.stopping.stop = {"END"};
  own.stopping.max_tokens = 9;
  const GenerationOptions kept = read(R"({"temperature":null,"stop":null,"max_tokens":null,"logit_bias":null})", own);
  EXPECT_EQ(kept.sampling.temperature, 0.3);
  EXPECT_EQ(kept.stopping.max_tokens, 9);
  EXPECT_EQ(read(R"({"stop":["a","b"],"stop_sequences":["c"]})", own).stopping.stop,
            (std::vector<std::string>{"END", "a", "b", "c"}));
  EXPECT_EQ(read(R"({"stop":"a"})").stopping.stop, std::vector<std::string>{"a"});
}

TEST(GenerationOptions, NegativeLimitsOfOllamaAndSeedsOfMinusOneAreNone) {
  GenerationOptions own;
  own.stopping.max_tokens = 9;
  own.sampling.seed = 5;
  EXPECT_EQ(read(R"({"num_predict":-1})", own).stopping.max_tokens, std::nullopt);
  EXPECT_EQ(read(R"({"n_predict":-2})", own).stopping.max_tokens, std::nullopt);
  EXPECT_EQ(read(R"({"seed":-1})", own).sampling.seed, std::nullopt);
  EXPECT_EQ(read(R"({"seed":-2})").sampling.seed, std::numeric_limits<std::uint64_t>::max() - 1);
  EXPECT_EQ(read(R"({"seed":18446744073709551615})").sampling.seed, std::numeric_limits<std::uint64_t>::max());
}

TEST(GenerationOptions, NewerNamesCountBeforeOlderOnes) {
  EXPECT_EQ(read(R"({"max_completion_tokens":3,"max_tokens":7})").stopping.max_tokens, 3);
}

TEST(GenerationOptions, RefusalsNameTheMemberAsTheClientWroteIt) {
  EXPECT_EQ(refusal_of_members(R"({"temperature":-1})"),
            "temperature: temperature is -1; it must be a number from 0 to 100");
  EXPECT_EQ(refusal_of_members(R"({"max_completion_tokens":-1})"),
            "max_completion_tokens: max_completion_tokens is -1; it must be a whole number from 0 to 2147483647");
  EXPECT_EQ(refusal_of_members(R"({"repeat_penalty":0})"),
            "repeat_penalty: repeat_penalty is 0; it must be a number from 0.01 to 100");
  for (const char* members :
       {R"({"top_k":1.5})", R"({"top_p":"1"})", R"({"mirostat":3})", R"({"seed":1.5})", R"({"ignore_eos":1})",
        R"({"stop":5})", R"({"stop":[5]})", R"({"stop_token_ids":[-1]})", R"({"stop_token_ids":7})",
        R"({"max_tokens":1e300})", R"({"logit_bias":[1]})", R"({"logit_bias":[[1]]})", R"({"logit_bias":{"a":1}})",
        R"({"logit_bias":{"1":101}})", R"({"logit_bias":{"1":"1"}})", R"({"logit_bias":{"99999999999":1}})",
        R"({"logit_bias":{"":1}})", R"({"logit_bias":{"1x":1}})", R"({"dry_sequence_breakers":"a"})"})
    EXPECT_NE(refusal_of_members(members), "not refused") << members;
  EXPECT_EQ(refusal_of([] {
              GenerationOptions options;
              read_generation_options(json(R"({"top_p":2})"), options, "options");
            }),
            "options: options.top_p is 2; it must be a number from 0 to 1");
}

TEST(GenerationOptions, BiasesAreOfTokensAsText) {
  using Biases = std::vector<std::pair<std::int32_t, double>>;
  EXPECT_EQ(read(R"({"logit_bias":{"5":-100,"7":1.5}})").sampling.logit_bias, (Biases{{5, -100}, {7, 1.5}}));
  EXPECT_EQ(read(R"({"logit_bias":[[5,false],[7,1]]})").sampling.logit_bias,
            (Biases{{5, -std::numeric_limits<double>::infinity()}, {7, 1}}));
}

TEST(GenerationOptions, AreAllAmongTheMembersThatAreKeptForLater) {
  const Json kept = generation_members(json(
      R"({"messages":[],"temperature":1,"stop":"a","stop_token_ids":[1],"logit_bias":{},"metadata":{},"num_predict":5,
          "add_special_tokens":false,"stop_sequences":[],"dry_sequence_breakers":[],"logprobs":true})"));
  EXPECT_EQ(formats::to_json_text(kept),
            R"({"temperature":1,"stop":"a","stop_token_ids":[1],"logit_bias":{},"num_predict":5,)"
            R"("add_special_tokens":false,"stop_sequences":[],"dry_sequence_breakers":[]})");
}

TEST(ChatLogprobs, AreAFlagWithANumberBesideIt) {
  EXPECT_EQ(read_chat_logprobs(json("{}")), std::nullopt);
  EXPECT_EQ(read_chat_logprobs(json(R"({"logprobs":false,"top_logprobs":0})")), std::nullopt);
  EXPECT_EQ(read_chat_logprobs(json(R"({"logprobs":true})")), 0);
  EXPECT_EQ(read_chat_logprobs(json(R"({"logprobs":true,"top_logprobs":5})")), 5);
  for (const char* body :
       {R"({"top_logprobs":5})", R"({"logprobs":true,"top_logprobs":-1})", R"({"logprobs":true,"top_logprobs":21})"})
    EXPECT_NE(refusal_of([&] { read_chat_logprobs(json(body)); }), "not refused") << body;
}

TEST(TextCounts, OfARequest) {
  const TextCounts counts = read_text_counts(json(R"({"n":2,"best_of":3})"), false);
  EXPECT_EQ(counts.n, 2U);
  EXPECT_EQ(counts.best_of, 3U);
  EXPECT_EQ(read_text_counts(json("{}"), true).n, 1U);
  for (const char* body : {R"({"n":0})", R"({"n":-1})", R"({"n":1025})", R"({"n":1.5})", R"({"n":3,"best_of":2})"})
    EXPECT_NE(refusal_of([&] { read_text_counts(json(body), false); }), "not refused") << body;
  EXPECT_NE(refusal_of([] { read_text_counts(json(R"({"best_of":2})"), true); }), "not refused");
}

}  // namespace
}  // namespace alate::server
