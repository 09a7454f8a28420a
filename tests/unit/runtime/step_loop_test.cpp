// Steps of many sequences: each text is that of the sequence alone, to the bits of its logits.
#include "runtime/decoding/step_loop.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "step_testing.h"

namespace alate::runtime {
namespace {

class StepLoopTest : public StepTest {
 protected:
  struct Added {
    TokenIds prompt;
    std::size_t count;
    std::uint64_t seed;
    std::shared_ptr<Text> text;
    std::shared_ptr<LiveSequence> sequence;
  };
  Added add_text(StepLoop& loop, TokenIds prompt, std::size_t count, std::uint64_t seed, std::string client = {}) {
    Added added{.prompt = prompt, .count = count, .seed = seed, .text = std::make_shared<Text>(), .sequence = nullptr};
    StepJob job = job_of(std::move(prompt), count, seed, added.text);
    job.client = std::move(client);
    added.sequence = add(loop, std::move(job));
    return added;
  }
  void expect_as_alone(const Added& added) { expect_same(*added.text, alone(added.prompt, added.count, added.seed)); }
};

TEST_F(StepLoopTest, TextsThatComeAndGoAreThoseOfEachAlone) {
  StepLoop loop(program_,
                {.most_pages = 48, .kept_pages = 8, .max_sequences = 64, .max_tokens = 96, .tokens_beside = 40});
  std::mt19937_64 random(1);
  // Few different texts, so that many begin alike, and each is computed alone once.
  std::vector<std::tuple<TokenIds, std::size_t, std::uint64_t>> kinds;
  for (std::uint64_t i = 0; i < 12; ++i) {
    TokenIds prompt = random_ids(40, i % 3);
    prompt.resize(1 + random() % 40);
    const TokenIds rest = random_ids(random() % 60, 10 + i % 5);
    prompt.insert(prompt.end(), rest.begin(), rest.end());
    kinds.emplace_back(std::move(prompt), 1 + random() % 80, i);
  }
  std::vector<Added> under_way;
  std::size_t ended = 0, cancelled = 0;
  const char* const steps = std::getenv("ALATE_TEST_STEPS");
  const std::size_t count = steps == nullptr ? 300 : std::stoul(steps);
  for (std::size_t i = 0; i < count || !loop.empty(); ++i) {
    while (i < count && under_way.size() < 64) {
      const auto& [prompt, tokens, seed] = kinds[random() % kinds.size()];
      under_way.push_back(add_text(loop, prompt, tokens, seed, std::to_string(random() % 3)));
    }
    if (random() % 4 == 0) under_way[random() % under_way.size()].sequence->unwanted = true;
    step(loop);
    std::erase_if(under_way, [&](const Added& each) {
      if (each.sequence->unwanted) {
        EXPECT_EQ(each.text->ended, 0U);
        const Text& whole = alone(each.prompt, each.count, each.seed);
        EXPECT_TRUE(std::ranges::equal(each.text->logits, std::span(whole.logits).first(each.text->logits.size())));
        ++cancelled;
        return true;
      }
      if (each.text->ended == 0) return false;
      expect_as_alone(each);
      ++ended;
      return true;
    });
    ASSERT_FALSE(HasFailure()) << "step " << i;
  }
  const StepCounts counts = loop.counts();
  EXPECT_EQ(counts.running + counts.waiting, 0U);
  EXPECT_EQ(counts.pages_read, 0U);
  EXPECT_LE(counts.pages, 48U);
  EXPECT_GT(counts.preemptions, 0U);
  EXPECT_GT(counts.cached_tokens, 0U);
  EXPECT_GT(ended, 100U);
  EXPECT_GT(cancelled, 50U);
}

TEST_F(StepLoopTest, ASequenceThatGivesUpItsPagesIsComputedAgain) {
  StepLoop loop(program_, {.most_pages = 6});
  std::vector<Added> texts;
  for (std::uint64_t i = 0; i < 3; ++i) texts.push_back(add_text(loop, random_ids(40, i), 100, i));
  run(loop);
  EXPECT_GE(loop.counts().preemptions, 1U);
  for (const Added& each : texts) expect_as_alone(each);
}

TEST_F(StepLoopTest, TextsLargerThanTheCacheEndWithAnError) {
  StepLoop loop(program_, {.most_pages = 2});
  const Added grows = add_text(loop, random_ids(50, 1), 100, 1), small = add_text(loop, random_ids(5, 2), 9, 2);
  run(loop);
  EXPECT_EQ(grows.text->error(), ErrorCode::resource_exhausted);
  EXPECT_EQ(grows.text->tokens.size(), 15U);
  expect_as_alone(small);
  const Error error = base::error_of([&] { (void)add_text(loop, random_ids(65, 1), 1, 1); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_TRUE(loop.empty());
}

TEST_F(StepLoopTest, ContinuationsOfOnePromptComputeItOnce) {
  StepLoop loop(program_, {.most_pages = 64});
  const TokenIds prompt = random_ids(70, 1);
  std::vector<Added> texts;
  for (std::uint64_t seed = 0; seed < 4; ++seed) texts.push_back(add_text(loop, prompt, 10, seed));
  run(loop);
  for (const Added& each : texts) expect_as_alone(each);
  EXPECT_EQ(texts[3].text->result.cached_tokens, 69U);
  // The prompt, its last token for each further text, and all tokens of the texts but the last.
  EXPECT_EQ(loop.counts().computed_tokens, 70U + 3U + 4U * 9U);
}

TEST_F(StepLoopTest, TheNextTurnOfAConversationFindsTheOneBefore) {
  StepLoop loop(program_, {.most_pages = 64});
  const Added first = add_text(loop, random_ids(45, 1), 20, 1);
  run(loop);
  TokenIds prompt = first.prompt;
  prompt.insert(prompt.end(), first.text->tokens.begin(), first.text->tokens.end());
  const TokenIds question = random_ids(10, 2);
  prompt.insert(prompt.end(), question.begin(), question.end());
  const Added second = add_text(loop, prompt, 20, 2);
  run(loop);
  EXPECT_EQ(second.text->result.cached_tokens, 45U + 19U);
  expect_as_alone(second);
  // Whoever asked, and whatever came between.
  const Added again = add_text(loop, first.prompt, 20, 1, "another client");
  run(loop);
  EXPECT_EQ(again.text->result.cached_tokens, 44U);
  expect_as_alone(again);
}

TEST_F(StepLoopTest, LongPromptsDoNotStopOthers) {
  StepLoop loop(program_, {.most_pages = 64, .max_tokens = 256, .tokens_beside = 16});
  const Added answer = add_text(loop, random_ids(3, 1), 40, 1);
  step(loop);
  ASSERT_EQ(answer.text->tokens.size(), 1U);
  const Added prompt = add_text(loop, random_ids(300, 2), 1, 2);
  for (std::size_t i = 0; i < 18; ++i) step(loop);
  EXPECT_EQ(answer.text->tokens.size(), 19U);
  EXPECT_EQ(prompt.sequence->cached, 18U * 16U);
  run(loop);
  expect_as_alone(answer);
  expect_as_alone(prompt);
}

TEST_F(StepLoopTest, PromptsGetFewerTokensWhereOthersWaitForLong) {
  using std::chrono::milliseconds;
  EXPECT_EQ(tokens_beside(128, 128, milliseconds(20)), 128U);
  EXPECT_EQ(tokens_beside(128, 128, milliseconds(300)), 64U);
  EXPECT_EQ(tokens_beside(64, 128, milliseconds(100)), 64U);
  EXPECT_EQ(tokens_beside(64, 128, milliseconds(20)), 128U);
  EXPECT_EQ(tokens_beside(10, 128, milliseconds(300)), 8U);
  EXPECT_EQ(tokens_beside(4, 4, milliseconds(300)), 4U);
}

TEST_F(StepLoopTest, PlacesAreSharedBetweenClients) {
  StepLoop loop(program_, {.most_pages = 64, .max_sequences = 4});
  std::vector<Added> many;
  for (std::uint64_t i = 0; i < 20; ++i) many.push_back(add_text(loop, random_ids(4, i), 30, i, "many"));
  step(loop);
  const Added few = add_text(loop, random_ids(4, 50), 3, 50, "few");
  step(loop);
  EXPECT_EQ(few.text->tokens.size(), 1U);
  EXPECT_EQ(loop.counts().running, 4U);
  run(loop);
  for (const Added& each : many) expect_as_alone(each);
  expect_as_alone(few);
}

TEST_F(StepLoopTest, TokensOfPromptsAreSharedBetweenClients) {
  StepLoop loop(program_, {.most_pages = 64, .max_tokens = 128});
  const Added first = add_text(loop, random_ids(400, 1), 1, 1, "a"),
              second = add_text(loop, random_ids(400, 2), 1, 2, "a");
  step(loop);
  const Added third = add_text(loop, random_ids(120, 3), 1, 3, "b");
  step(loop);
  step(loop);
  EXPECT_EQ(third.text->tokens.size(), 1U);
  EXPECT_EQ(second.sequence->cached, 0U);
  run(loop);
  for (const Added* each : {&first, &second, &third}) expect_as_alone(*each);
}

TEST_F(StepLoopTest, BatchWorkGivesWayToAllOther) {
  StepLoop loop(program_, {.most_pages = 64, .max_sequences = 2, .max_tokens = 64});
  const auto add_batch = [&](std::uint64_t seed) {
    Added added{.prompt = random_ids(4, seed),
                .count = 12,
                .seed = seed,
                .text = std::make_shared<Text>(),
                .sequence = nullptr};
    StepJob job = job_of(added.prompt, added.count, seed, added.text);
    job.is_batch = true;
    added.sequence = add(loop, std::move(job));
    return added;
  };
  const std::vector<Added> batch = {add_batch(1), add_batch(2), add_batch(3)};
  step(loop);
  EXPECT_EQ(loop.counts().running, 2U);
  // Of the same client, which has two running: they take the places of its batch work all the same.
  const std::vector<Added> others = {add_text(loop, random_ids(4, 4), 5, 4), add_text(loop, random_ids(4, 5), 5, 5)};
  step(loop);
  for (const Added& each : others) EXPECT_EQ(each.text->tokens.size(), 1U);
  for (const Added& each : batch) EXPECT_FALSE(each.sequence->is_running);
  run(loop);
  for (const Added& each : batch) expect_as_alone(each);
  for (const Added& each : others) expect_as_alone(each);
}

TEST_F(StepLoopTest, PromptsOfBatchWorkAreReadLast) {
  StepLoop loop(program_, {.most_pages = 64, .max_tokens = 64});
  const auto text = std::make_shared<Text>();
  StepJob job = job_of(random_ids(400, 1), 1, 1, text);
  job.is_batch = true;
  const auto batch = add(loop, std::move(job));
  const Added other = add_text(loop, random_ids(128, 2), 1, 2);
  step(loop);
  step(loop);
  EXPECT_EQ(other.text->tokens.size(), 1U);
  EXPECT_EQ(batch->cached, 0U);
  run(loop);
  EXPECT_EQ(text->ended, 1U);
}

TEST_F(StepLoopTest, OnlyTheFirstTokenHasToComeInItsTime) {
  StepLoop loop(program_, {.most_pages = 64, .max_tokens = 16});
  const auto begun = std::make_shared<Text>(), late = std::make_shared<Text>();
  StepJob job = job_of(random_ids(5, 1), 10, 1, begun);
  job.first_token_by = StepJob::Clock::now() + std::chrono::hours(1);
  const auto sequence = add(loop, std::move(job));
  step(loop);
  sequence->job.first_token_by = StepJob::Clock::now();
  StepJob other = job_of(random_ids(5, 2), 10, 2, late);
  other.first_token_by = StepJob::Clock::now();
  add(loop, std::move(other));
  run(loop);
  EXPECT_EQ(begun->tokens.size(), 10U);
  EXPECT_EQ(begun->result.error, nullptr);
  EXPECT_EQ(late->error(), ErrorCode::deadline_exceeded);
  EXPECT_TRUE(late->tokens.empty());
}

TEST_F(StepLoopTest, CancelledSequencesGiveTheirPagesBack) {
  StepLoop loop(program_, {.most_pages = 64, .max_tokens = 64});
  const Added text = add_text(loop, random_ids(200, 1), 10, 1);
  step(loop);
  EXPECT_EQ(loop.counts().pages_read, 7U);
  text.sequence->unwanted = true;
  step(loop);
  EXPECT_TRUE(loop.empty());
  EXPECT_EQ(loop.counts().pages_read, 0U);
  EXPECT_EQ(text.text->ended, 0U);
  // What it computed is of use to others.
  const Added again = add_text(loop, text.prompt, 10, 1);
  run(loop);
  EXPECT_EQ(again.text->result.cached_tokens, 64U);
  expect_as_alone(again);
}

TEST_F(StepLoopTest, LateSequencesEnd) {
  StepLoop loop(program_, {.most_pages = 64, .max_tokens = 16});
  auto text = std::make_shared<Text>();
  StepJob job = job_of(random_ids(100, 1), 10, 1, text);
  job.deadline = StepJob::Clock::now();
  add(loop, std::move(job));
  const Added other = add_text(loop, random_ids(5, 2), 5, 2);
  run(loop);
  EXPECT_EQ(text->error(), ErrorCode::deadline_exceeded);
  expect_as_alone(other);
}

TEST_F(StepLoopTest, AnErrorEndsOnlyItsSequence) {
  StepLoop loop(program_, {.most_pages = 64});
  const Added good = add_text(loop, random_ids(40, 1), 20, 1);
  const Added unknown = add_text(loop, {1, static_cast<std::int32_t>(vocabulary_)}, 20, 2);
  auto text = std::make_shared<Text>();
  StepJob throws = job_of(random_ids(10, 3), 10, 3, text);
  throws.choose = [](std::span<const float>, std::size_t) -> std::optional<std::int32_t> {
    throw Error(ErrorCode::corrupt, "not a number");
  };
  add(loop, std::move(throws));
  run(loop);
  EXPECT_EQ(unknown.text->error(), ErrorCode::invalid_argument);
  EXPECT_EQ(text->error(), ErrorCode::corrupt);
  expect_as_alone(good);
  EXPECT_EQ(loop.counts().pages_read, 0U);
  EXPECT_EQ(base::error_of([&] { (void)add_text(loop, {}, 1, 1); }).code(), ErrorCode::invalid_argument);
}

TEST_F(StepLoopTest, AStepThatIsCancelledChangesNothing) {
  StepLoop loop(program_, {.most_pages = 64, .max_tokens = 50});
  const Added text = add_text(loop, random_ids(120, 1), 10, 1);
  step(loop);
  std::size_t asked = 0;
  const auto soon = [&] { return ++asked > 5; };  // in the middle of the run
  EXPECT_EQ(
      base::error_of([&] { loop.step({.cancellation = base::Cancellation::when(soon), .max_workers = 1}); }).code(),
      ErrorCode::cancelled);
  EXPECT_EQ(text.text->ended, 0U);
  run(loop);
  expect_as_alone(text);
}

TEST_F(StepLoopTest, PromptsAreReadTokenByToken) {
  const TokenIds prompt = random_ids(90, 1);
  std::vector<std::uint64_t> wanted;
  CachePages cache = program_->make_cache(3);
  const TokenIds pages = {0, 1, 2};
  for (std::size_t i = 0; i + 1 < prompt.size(); ++i) {
    const Tensor logits =
        program_->run(std::vector<StepSequence>{{.ids = std::span(prompt).subspan(i, 1), .cached = i, .pages = pages}},
                      cache, {.cancellation = base::Cancellation::never()});
    wanted.push_back(hash_of(logits.values<float>()));
  }
  StepLoop loop(program_, {.most_pages = 5, .max_tokens = 40});
  const Added before = add_text(loop, prompt, 30, 7);
  std::vector<std::uint64_t> found;
  auto text = std::make_shared<Text>();
  StepJob job = job_of(prompt, 30, 3, text);
  job.read_prompt = [&](std::size_t place, std::span<const float> logits) {
    EXPECT_EQ(place, found.size());
    found.push_back(hash_of(logits));
  };
  add(loop, std::move(job));
  run(loop);
  EXPECT_EQ(found, wanted);
  expect_same(*text, alone(prompt, 30, 3));
  expect_as_alone(before);
}

TEST_F(StepLoopTest, NoLogitsAreComputedInTheMiddleOfAPrompt) {
  const TokenIds prompt = random_ids(60, 1), pages = {1, 0};
  CachePages cache = program_->make_cache(2);
  const auto run_of = [&](std::size_t begin, std::size_t count, std::size_t asked) {
    return program_->run(
        std::vector<StepSequence>{
            {.ids = std::span(prompt).subspan(begin, count), .cached = begin, .pages = pages, .asked = asked}},
        cache, {.cancellation = base::Cancellation::never()});
  };
  EXPECT_EQ(run_of(0, 40, 0).extent(0), 0);
  const Tensor last = run_of(40, 20, 3);
  ASSERT_EQ(last.extent(0), 3);
  const std::span<const float> rows = last.values<float>();
  EXPECT_EQ(hash_of(rows.last(vocabulary_)), alone(prompt, 1, 0).logits[0]);
  EXPECT_EQ(base::error_of([&] { (void)run_of(0, 4, 5); }).message(),
            "sequence 0 has 4 tokens, and logits of 5 are asked for");
}

}  // namespace
}  // namespace alate::runtime
