// Texts and conversations of a tiny model with a vocabulary of words.
#include "alate/generation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <regex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "alate/chat.h"
#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_generators.h"
#include "tests/golden/tiny_weights.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

class Generate : public testing::Test {
 protected:
  Generate() { tests::write_tiny_generator(folder_.path() / "model"); }

  TextGenerator generator() const { return TextGenerator::load(folder_.path() / "model"); }
  static GenerationOptions greedy(std::int64_t tokens) {
    GenerationOptions options;
    options.sampling.temperature = 0;
    options.stopping.max_tokens = tokens;
    return options;
  }

  base::TemporaryFolder folder_;
};

TEST_F(Generate, ShowsTheTextPieceByPiece) {
  std::string shown;
  std::size_t pieces = 0;
  const Generation made = generator().generate("w1 w2 w3", greedy(8), [&](std::string_view piece) {
    shown += piece;
    ++pieces;
  });
  EXPECT_EQ(made.text, shown);
  EXPECT_GT(pieces, 4U);
  EXPECT_EQ(made.tokens.size(), 8U);
  EXPECT_EQ(made.prompt_tokens, 3U);
  EXPECT_EQ(made.finish, FinishReason::length);
}

TEST_F(Generate, TheSeedMakesTheSameTextWhoeverElseIsThere) {
  const TextGenerator model = generator();
  GenerationOptions options = greedy(12);
  options.sampling.temperature = 1;
  options.sampling.seed = 7;
  const std::string alone = model.generate("w4 w5", options).text;
  EXPECT_EQ(model.generate("w4 w5", options).text, alone);
  const std::vector<std::string_view> prompts = {"w4 w5", "w1 w2 w3 w4 w5 w6 w7", "w9"};
  EXPECT_EQ(model.generate(prompts, options)[0].text, alone);
  options.sampling.seed = 8;
  EXPECT_NE(model.generate("w4 w5", options).text, alone);
}

TEST_F(Generate, TheTokensOfAPromptHaveTheLogProbabilitiesThatTheyWouldBeChosenWith) {
  const TextGenerator model = generator();
  GenerationOptions options = greedy(2);
  options.sampling.logprobs = 128;
  options.prompt_logprobs = true;
  const Generation made = model.generate("w4 w5 w6", options);
  ASSERT_EQ(made.prompt.size(), 3U);
  EXPECT_TRUE(made.prompt[0].top.empty());
  for (const std::size_t place : {1, 2}) {
    options.stopping.max_tokens = 1;
    options.prompt_logprobs = false;
    const Generation before = model.generate(place == 1 ? "w4" : "w4 w5", options);
    EXPECT_TRUE(before.prompt.empty());
    EXPECT_EQ(made.prompt[place].top, before.tokens[0].top);
    const auto found = std::ranges::find(before.tokens[0].top, made.prompt[place].id, &TokenLogprob::token);
    ASSERT_NE(found, before.tokens[0].top.end());
    EXPECT_EQ(made.prompt[place].logprob, found->logprob);
  }
  // Of a text without tokens too.
  options.stopping.max_tokens = 0;
  options.prompt_logprobs = true;
  const Generation none = model.generate("w4 w5 w6", options);
  EXPECT_TRUE(none.tokens.empty());
  ASSERT_EQ(none.prompt.size(), 3U);
  EXPECT_EQ(none.prompt[2].logprob, made.prompt[2].logprob);
}

TEST_F(Generate, EndsBeforeAStopText) {
  const TextGenerator model = generator();
  const std::string whole = model.generate("w4 w5", greedy(8)).text;
  GenerationOptions options = greedy(8);
  const std::size_t end = whole.find(' ', whole.size() / 2);
  options.stopping.stop = {whole.substr(end + 1, 3)};
  const Generation made = model.generate("w4 w5", options);
  EXPECT_EQ(made.finish, FinishReason::stop_text);
  EXPECT_EQ(made.stop_text, options.stopping.stop[0]);
  EXPECT_EQ(made.text, whole.substr(0, whole.find(options.stopping.stop[0])));
}

TEST_F(Generate, EndsWithTheModelsEndToken) {
  const std::int32_t first = generator().generate("w4 w5", greedy(1)).tokens[0].id;
  folder_.write("model/generation_config.json", "{\"eos_token_id\": " + std::to_string(first) + "}");
  const TextGenerator model = generator();
  const Generation made = model.generate("w4 w5", greedy(8));
  EXPECT_EQ(made.finish, FinishReason::end_of_sequence);
  EXPECT_EQ(made.text, "");
  GenerationOptions options = greedy(8);
  options.stopping.ignore_eos = true;
  EXPECT_EQ(model.generate("w4 w5", options).tokens.size(), 8U);
}

TEST_F(Generate, EndsWithTheContext) {
  GenerationOptions options = greedy(0);
  options.stopping.max_tokens.reset();
  const Generation made = generator().generate("w4 w5", options);
  EXPECT_EQ(made.finish, FinishReason::length);
  EXPECT_EQ(made.prompt_tokens + made.tokens.size(), 100U);
}

TEST_F(Generate, GivesLogProbabilities) {
  GenerationOptions options = greedy(3);
  options.sampling.logprobs = 2;
  for (const GeneratedToken& token : generator().generate("w4 w5", options).tokens) {
    ASSERT_EQ(token.top.size(), 2U);
    EXPECT_EQ(token.top[0].token, token.id);
    EXPECT_EQ(token.top[0].logprob, token.logprob);
    EXPECT_LT(token.logprob, 0);
  }
}

TEST_F(Generate, RefusesPromptsThatDoNotFit) {
  const TextGenerator model = generator();
  std::string many;
  for (int i = 0; i < 100; ++i) many += "w1 ";
  EXPECT_NE(base::error_of([&] { (void)model.generate(many, greedy(1)); }).message().find("leaves no room"),
            std::string::npos);
  EXPECT_NE(base::error_of([&] { (void)model.generate("", greedy(1)); }).message().find("has no tokens"),
            std::string::npos);
  const std::vector<std::string_view> prompts = {"w1", ""};
  EXPECT_NE(base::error_of([&] { (void)model.generate(prompts, greedy(1)); }).message().find("prompt 1: "),
            std::string::npos);
}

TEST_F(Generate, EndsWhenNobodyWaits) {
  std::stop_source source;
  std::size_t pieces = 0;
  const Error error = base::error_of([&] {
    (void)generator().generate("w4 w5", greedy(80),
                               [&](std::string_view) {
                                 if (++pieces == 5) source.request_stop();
                               },
                               {.stop = source.get_token()});
  });
  EXPECT_EQ(error.code(), ErrorCode::cancelled);
  EXPECT_LT(pieces, 8U);
}

TEST_F(Generate, CallersOfSeveralThreadsGetTheirOwnTexts) {
  const TextGenerator model = generator();
  constexpr std::size_t kThreads = 4;
  std::vector<std::string> prompts, wanted(kThreads), shown(kThreads);
  for (std::size_t i = 0; i < kThreads; ++i) {
    prompts.push_back("w" + std::to_string(i) + " w5 w6");
    wanted[i] = generator().generate(prompts[i], greedy(40)).text;
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const std::thread::id caller = std::this_thread::get_id();
      const Generation made = model.generate(prompts[i], greedy(40), [&, caller](std::string_view piece) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        shown[i] += piece;
      });
      EXPECT_EQ(made.text, shown[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shown, wanted);
}

TEST_F(Generate, ACallThatEndsEarlyLeavesOthersAsTheyAre) {
  const TextGenerator model = generator();
  const std::string wanted = generator().generate("w4 w5", greedy(60)).text;
  std::string text;
  std::thread other([&] { text = model.generate("w4 w5", greedy(60)).text; });
  struct Mine {};
  EXPECT_THROW((void)model.generate("w4 w5", greedy(60), [](std::string_view) { throw Mine(); }), Mine);
  RunControl late;
  late.deadline = std::chrono::steady_clock::now();
  EXPECT_EQ(base::error_of([&] { (void)model.generate("w4 w5", greedy(60), {}, late); }).code(),
            ErrorCode::deadline_exceeded);
  std::stop_source source;
  EXPECT_EQ(base::error_of([&] {
              (void)model.generate("w7", greedy(60), [&](std::string_view) { source.request_stop(); },
                                   {.stop = source.get_token()});
            }).code(),
            ErrorCode::cancelled);
  other.join();
  EXPECT_EQ(text, wanted);
}

TEST_F(Generate, ReportsEachTextOfSeveral) {
  const std::vector<std::string_view> prompts = {"w4 w5", "w1", "w9 w8"};
  std::vector<std::uint64_t> done;
  RunControl control;
  control.progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.total, 3U);
    done.push_back(progress.done);
  };
  (void)generator().generate(prompts, greedy(5), control);
  EXPECT_EQ(done, (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST_F(Generate, APromptThatWasThereBeforeIsNotComputedAgain) {
  const TextGenerator model = generator();
  const Generation first = model.generate("w1 w2 w3 w4", greedy(8)), again = model.generate("w1 w2 w3 w4", greedy(8));
  EXPECT_EQ(first.cached_tokens, 0U);
  EXPECT_EQ(again.cached_tokens, 3U);
  EXPECT_EQ(again.text, first.text);
}

TEST_F(Generate, RefusesModelsWithoutANextToken) {
  tests::write_tiny_model(tests::golden_folder("architectures/bert_pre_training"), folder_.path() / "encoder");
  folder_.write("encoder/tokenizer.json", base::read_text_file(folder_.path() / "model/tokenizer.json"));
  const Error error = base::error_of([&] { (void)TextGenerator::load(folder_.path() / "encoder"); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
}

TEST_F(Generate, ConversationsComputeOnlyWhatIsNew) {
  Chat chat(generator());
  const Generation first = chat.ask("w4 w5 w6", greedy(6)), second = chat.ask("w7", greedy(6));
  EXPECT_EQ(first.cached_tokens, 0U);
  EXPECT_GT(second.cached_tokens, first.prompt_tokens - 1);
  EXPECT_EQ(chat.messages().size(), 4U);
  // As a conversation that computes everything.
  Chat again(generator());
  EXPECT_EQ(again.ask("w4 w5 w6", greedy(6)).text, first.text);
  EXPECT_EQ(again.ask("w7", greedy(6)).text, second.text);
  std::string rendered = "w1 w4 w5 w6 w3 w2 " + first.text + " w3 w1 w7 w3 ";
  EXPECT_EQ(generator().generate(rendered, greedy(6)).text, second.text);
}

TEST_F(Generate, ConversationsAreAsBeforeAfterAnError) {
  Chat chat(generator());
  (void)chat.ask("w4", greedy(2));
  std::string many;
  for (int i = 0; i < 100; ++i) many += "w1 ";
  EXPECT_EQ(base::error_of([&] { (void)chat.ask(many, greedy(2)); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(chat.messages().size(), 2U);
  EXPECT_FALSE(chat.drop_oldest());
  (void)chat.ask("w5", greedy(2));
  EXPECT_TRUE(chat.drop_oldest());
  EXPECT_EQ(chat.messages().size(), 2U);
  EXPECT_EQ(chat.messages()[0].content, "w5");
}

TEST_F(Generate, SeveralTextsOfAPromptAndTheLikeliestOfMore) {
  const TextGenerator model = generator();
  GenerationOptions options = greedy(6);
  options.sampling.temperature = 1;
  options.sampling.seed = 5;
  const std::vector<std::string_view> prompts = {"w4 w5", "w9"};
  const auto all = model.generate_several(prompts, {.n = 4}, options);
  ASSERT_EQ(all.size(), 2U);
  ASSERT_EQ(all[0].size(), 4U);
  EXPECT_EQ(all[0][0].text, model.generate("w4 w5", options).text);
  EXPECT_NE(all[0][0].text, all[0][1].text);
  const auto best = model.generate_several(prompts, {.n = 2, .best_of = 4}, options);
  ASSERT_EQ(best[0].size(), 2U);
  const auto mean = [](const Generation& text) {
    double sum = 0;
    for (const GeneratedToken& token : text.tokens) sum += double{token.logprob};
    return sum / static_cast<double>(text.tokens.size());
  };
  EXPECT_GE(mean(best[0][0]), mean(best[0][1]));
  options.sampling.logprobs = 0;
  std::vector<double> means;
  const auto with_logprobs = model.generate_several(prompts, {.n = 4}, options);
  for (const Generation& each : with_logprobs[0]) means.push_back(mean(each));
  EXPECT_EQ(mean(best[0][0]), *std::ranges::max_element(means));
  for (const TextCounts& wrong : {TextCounts{.n = 0}, TextCounts{.n = 3, .best_of = 2}, TextCounts{.n = 2000}})
    EXPECT_EQ(base::error_of([&] { (void)model.generate_several(prompts, wrong, options); }).code(),
              ErrorCode::invalid_argument);
}

TEST_F(Generate, AConversationForgetsItsLatestTurnAndKnowsItsLength) {
  Chat chat(generator());
  EXPECT_FALSE(chat.drop_latest());
  const std::size_t alone = chat.prompt_tokens("w4");
  const ChatAnswer first = chat.ask("w4", greedy(2));
  EXPECT_EQ(first.prompt_tokens, alone);
  EXPECT_GT(chat.prompt_tokens("w4"), alone);
  EXPECT_TRUE(chat.drop_latest());
  EXPECT_TRUE(chat.messages().empty());
  EXPECT_EQ(chat.ask("w4", greedy(2)).text, first.text);
}

TEST_F(Generate, ATextIsHeldToAFormatAndEndsWithIt) {
  const TextGenerator model = generator();
  GenerationOptions options = greedy(20);
  options.format = {OutputFormat::Kind::regex, "w1( w[23]){2}"};
  const Generation made = model.generate("w4 w5", options);
  EXPECT_TRUE(std::regex_match(made.text, std::regex("w1( w[23]){2}"))) << made.text;
  EXPECT_EQ(made.finish, FinishReason::end_of_sequence);
  EXPECT_EQ(made.tokens.size(), 3U);
  options.sampling.temperature = 1;
  options.sampling.seed = 3;
  const std::vector<std::string_view> prompts = {"w4", "w5 w6"};
  for (const auto& texts : model.generate_several(prompts, {.n = 5}, options)) {
    for (const Generation& text : texts)
      EXPECT_TRUE(std::regex_match(text.text, std::regex("w1( w[23]){2}"))) << text.text;
  }
  options.format = {OutputFormat::Kind::regex, "w1( w[23])*"};
  options.stopping.max_tokens = 4;
  EXPECT_EQ(model.generate("w4", options).finish, FinishReason::length);
}

TEST_F(Generate, EndTokensAreAllowedWhereTheFormatIsWhole) {
  const TextGenerator model = generator();
  GenerationOptions options = greedy(30);
  options.format = {OutputFormat::Kind::grammar, "root ::= \"w1\" (\" w2 w3\")*"};
  options.stopping.stop_token_ids = {7};  // "w7", which the grammar lacks
  options.sampling.logit_bias = {{7, 100}};
  const Generation made = model.generate("w4 w5", options);
  EXPECT_EQ(made.text, "w1");
  EXPECT_EQ(made.finish, FinishReason::stop_token);
  options.stopping.min_tokens = 2;
  EXPECT_EQ(model.generate("w4 w5", options).text, "w1 w2 w3");
}

TEST_F(Generate, RefusesFormatsThatItCannotHoldTo) {
  const TextGenerator model = generator();
  GenerationOptions options = greedy(4);
  options.format = {OutputFormat::Kind::json_schema, R"({"not": {}})"};
  const Error schema = base::error_of([&] { (void)model.generate("w4", options); });
  EXPECT_EQ(schema.code(), ErrorCode::invalid_argument);
  EXPECT_NE(schema.message().find("\"not\""), std::string::npos) << schema.message();
  options.format = {OutputFormat::Kind::json, ""};
  const Error stuck = base::error_of([&] { (void)model.generate("w4", options); });
  EXPECT_NE(stuck.message().find("its vocabulary lacks"), std::string::npos) << stuck.message();
}

TEST_F(Generate, ThinkingIsAVariableOfTheTemplate) {
  const std::string text =
      "{% for m in messages %}{{ m.content }} {% endfor %}"
      "{% if enable_thinking is defined %}{{ 'w1' if enable_thinking else 'w2 w3' }}{% endif %}";
  Chat chat(generator(), ChatTemplate(text));
  EXPECT_EQ(chat.prompt_tokens("w4"), 1U);
  chat.set_thinking(true);
  EXPECT_EQ(chat.prompt_tokens("w4"), 2U);
  chat.set_thinking(false);
  EXPECT_EQ(chat.prompt_tokens("w4"), 3U);
  chat.set_thinking(std::nullopt);
  EXPECT_EQ(chat.prompt_tokens("w4"), 1U);
}

}  // namespace
}  // namespace alate
