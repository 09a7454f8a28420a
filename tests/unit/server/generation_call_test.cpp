// Requests that a tiny language model answers, as a client of no particular API sees them.
#include "server/models/generation_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pipelines/generate/generator_state.h"
#include "pipelines/generate/text_batch.h"
#include "route_testing.h"
#include "tests/golden/tiny_generators.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::AnswerPiece;

// What a test does while an answer is written.
struct Script {
  std::function<void(const TextProgress&)> on_progress = {};
  std::string padding = {};  // of each token's line
};

// A line for each call: what a family would write of it.
class LineAnswer final : public GenerationAnswer {
 public:
  explicit LineAnswer(Script script) : script_(std::move(script)) {}

  void begin(const GenerationStart& start, std::string& out) override {
    out += "begin " + std::to_string(start.prompt_tokens) + "\n";
  }
  void add(const TextProgress& progress, std::string& out) override {
    if (script_.on_progress) script_.on_progress(progress);
    for (const AnswerPiece& piece : progress.pieces)
      out += std::to_string(progress.index) + ":" + piece.text + script_.padding + "\n";
    if (progress.done != nullptr)
      out += "done " + std::to_string(progress.index) + " " + std::to_string(progress.done->generation.tokens.size()) +
             " " + progress.done->generation.text + "\n";
  }
  void end(const GenerationTotals& totals, std::string& out) override {
    out += "end " + std::to_string(totals.prompt_tokens) + " " + std::to_string(totals.made_tokens) + "\n";
  }
  void fail(const Problem& problem, std::string& out) override { out += "fail " + problem.message + "\n"; }
  std::string_view keep_alive() const override { return "wait\n"; }
  std::string_view content_type() const override { return "text/plain"; }

  Response whole(std::vector<MadeText> texts, const GenerationTotals& totals) override {
    Response response;
    for (const MadeText& text : texts) {
      EXPECT_EQ(text.pieces.size(), text.generation.text.empty() ? 0U : 1U);
      for (const AnswerPiece& piece : text.pieces) EXPECT_EQ(piece.text, text.generation.text);
      response.body += text.generation.text + "\n";
      prompts.push_back(text.generation.prompt);
    }
    response.body += "end " + std::to_string(totals.prompt_tokens) + " " + std::to_string(totals.made_tokens) + "\n";
    return response;
  }

  std::vector<std::vector<GeneratedToken>> prompts;

 private:
  Script script_;
};

// What a test's request is; the route has no room for more than a function.
struct Asked {
  std::vector<std::string> prompts = {"w4 w5"};
  GenerationOptions options = {};
  TextCounts counts = {};
  bool streams = false, reads_prompts = false;
  Script script = {};
};
Asked next_request;  // NOLINT: set before each call, on the test's thread

void generate(Call& call) {
  Asked asked = std::exchange(next_request, Asked());
  GenerationRequest request;
  request.model = call.body.get_string("model", "");
  request.parameter = "prompt";
  request.streams = asked.streams;
  request.prepare = [asked](const TextGenerator& generator, base::Cancellation cancellation) {
    WantedTexts wanted{
        .prompts = {}, .options = asked.options, .counts = asked.counts, .reads_prompts = asked.reads_prompts};
    for (const std::string& prompt : asked.prompts)
      wanted.prompts.push_back({.ids = pipelines::prompt_tokens(generator.state(), prompt, true, cancellation)});
    return wanted;
  };
  run_generation(call, std::move(request), std::make_unique<LineAnswer>(std::move(asked.script)));
}

std::vector<Route> routes() {
  return {{.method = Method::post,
           .path = "/texts",
           .family = Family::openai,
           .id = "texts",
           .summary = "Texts",
           .handle = generate,
           .body = R"({"type": "object"})"}};
}

// All that a stream brings, until it ends.
std::string read_all(AnswerReader& stream) {
  std::string all, piece;
  for (;;) {
    const AnswerReader::State state = stream.take(piece);
    all += piece;
    if (state == AnswerReader::State::broken) return all + "broken";
    if (state == AnswerReader::State::ended) return all;
    if (piece.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// The pieces of a text in a stream, joined.
std::string text_in(const std::string& stream, std::size_t index) {
  std::string text;
  const std::string start = std::to_string(index) + ":";
  for (const std::string& line : lines_of(stream)) {
    if (line.starts_with(start)) text += line.substr(start.size());
  }
  return text;
}

class RunGeneration : public RouteTest {
 protected:
  RunGeneration() { tests::write_tiny_generator(settings.models_dir / "tiny/writer"); }
  ~RunGeneration() override {
    host().stop();
    next_request = {};
  }

  static GenerationOptions sampled(std::int64_t tokens, std::uint64_t seed) {
    GenerationOptions options;
    options.stopping.max_tokens = tokens;
    options.sampling.seed = seed;
    return options;
  }
  Begun* ask(Asked asked, std::string_view body = "{}") {
    next_request = std::move(asked);
    return keep(begin(routes(), Method::post, "/texts", std::string(body)));
  }
  std::shared_ptr<HostedModel> model() { return acquire("tiny/writer").model(); }
  static const TextGenerator::State& state(const HostedModel& hosted) { return hosted.generator().state(); }
  static void wait_until_idle(const HostedModel& hosted) {
    while (hosted.is_busy() || hosted.running().count() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

// Keeps the thread of the model's steps until it is let go.
class HeldSteps {
 public:
  explicit HeldSteps(const HostedModel& model) {
    runtime::StepJob job;
    job.prompt = {1};
    job.choose = [begun = begun_, end = end_.get_future().share()](std::span<const float>, std::size_t) {
      begun->set_value();
      end.wait();
      return std::optional<std::int32_t>();
    };
    model.generator().state().steps->submit(std::move(job));
    begun_->get_future().wait();
  }
  ~HeldSteps() { end_.set_value(); }
  HeldSteps(const HeldSteps&) = delete;
  HeldSteps& operator=(const HeldSteps&) = delete;

 private:
  std::shared_ptr<std::promise<void>> begun_ = std::make_shared<std::promise<void>>();
  std::promise<void> end_;
};

TEST_F(RunGeneration, AnswersWithTheTextThatTheLibraryMakes) {
  const std::string text = model()->generator().generate("w4 w5", sampled(9, 3)).text;
  Begun* const begun = ask({.options = sampled(9, 3)});
  const Response response = begun->answer.get();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, text + "\nend 2 9\n");
  EXPECT_NE(header(response, "X-Model-Fingerprint"), "");
  EXPECT_NE(header(response, "Server-Timing"), "");
}

TEST_F(RunGeneration, StreamsTheSameText) {
  const std::string text = model()->generator().generate("w4 w5", sampled(9, 3)).text;
  Begun* const begun = ask({.options = sampled(9, 3), .streams = true});
  const Response response = begun->answer.get();
  EXPECT_EQ(response.content_type, "text/plain");
  EXPECT_NE(header(response, "X-Model-Fingerprint"), "");
  const std::string stream = read_all(*response.stream);
  const std::vector<std::string> lines = lines_of(stream);
  EXPECT_EQ(lines.front(), "begin 2");
  EXPECT_EQ(text_in(stream, 0), text);
  EXPECT_EQ(lines[lines.size() - 2], "done 0 9 " + text);
  EXPECT_EQ(lines.back(), "end 2 9");
}

TEST_F(RunGeneration, SeveralTextsOfSeveralPromptsAreThoseOfTheLibrary) {
  const std::vector<std::string_view> prompts = {"w4 w5", "w9"};
  const auto expected = model()->generator().generate_several(prompts, {.n = 2}, sampled(6, 5));
  const auto whole = ask({.prompts = {"w4 w5", "w9"}, .options = sampled(6, 5), .counts = {.n = 2}})->answer.get();
  std::string texts;
  for (const auto& of_prompt : expected) {
    for (const Generation& text : of_prompt) texts += text.text + "\n";
  }
  EXPECT_EQ(whole.body, texts + "end 3 24\n");
  Begun* const begun = ask({.prompts = {"w4 w5", "w9"}, .options = sampled(6, 5), .counts = {.n = 2}, .streams = true});
  const Response response = begun->answer.get();
  const std::string stream = read_all(*response.stream);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(text_in(stream, i), expected[i / 2][i % 2].text) << i;
}

TEST_F(RunGeneration, OfMoreTextsThanAreAskedForTheLikeliestIsTheAnswer) {
  const std::vector<std::string_view> prompts = {"w4 w5"};
  const auto expected = model()->generator().generate_several(prompts, {.n = 1, .best_of = 5}, sampled(6, 5));
  Begun* const begun = ask({.options = sampled(6, 5), .counts = {.n = 1, .best_of = 5}});
  EXPECT_EQ(begun->answer.get().body, expected[0][0].text + "\nend 2 30\n");
  const auto refused = ask({.counts = {.n = 1, .best_of = 5}, .streams = true})->answer.get();
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(text(*json(refused).find("error"), "param"), "\"best_of\"");
}

TEST_F(RunGeneration, APromptBeyondTheContextIsRefusedBeforeAnythingIsComputed) {
  std::string prompt;
  for (std::int64_t i = 0; i < tests::kTinyContext; ++i) prompt += "w7 ";
  const auto hosted = model();
  for (const bool streams : {false, true}) {
    const Response response = ask({.prompts = {prompt}, .streams = streams})->answer.get();
    EXPECT_EQ(response.status, 400);
    const Json error = *json(response).find("error");
    EXPECT_EQ(text(error, "code"), "\"context_length_exceeded\"");
    EXPECT_NE(text(error, "message").find("maximum context length is 100 tokens"), std::string::npos);
  }
  EXPECT_EQ(state(*hosted).steps->counts().computed_tokens, 0U);
}

TEST_F(RunGeneration, ALateRequestIsNeverComputed) {
  const auto hosted = model();
  deadline = Clock::now();
  for (const bool streams : {false, true}) {
    const Response response = ask({.options = sampled(9, 3), .streams = streams})->answer.get();
    EXPECT_EQ(response.status, 504);
  }
  wait_until_idle(*hosted);
  EXPECT_EQ(state(*hosted).steps->counts().computed_tokens, 0U);
}

TEST_F(RunGeneration, AClientThatLeavesEndsItsTextsWithinOneStep) {
  const auto hosted = model();
  Begun* begun = nullptr;
  std::promise<void> is_set;
  const auto leave = [&, set = is_set.get_future().share()](const TextProgress&) {
    set.wait();
    begun->exchange->abandon();
  };
  begun = ask({.options = sampled(90, 3), .streams = true, .script = {.on_progress = leave}});
  is_set.set_value();
  while (!begun->exchange->abandoned()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  host().stop();  // the steps use what is here
  // The prompt, the token during which the client left, and one that may have been under way.
  EXPECT_LE(state(*hosted).steps->counts().computed_tokens, 4U);
}

TEST_F(RunGeneration, AClientThatLeavesBeforeItsTurnIsNotComputed) {
  const auto hosted = model();
  {
    const HeldSteps held(*hosted);
    Begun* const begun = ask({.options = sampled(90, 3)});
    while (!hosted->is_busy() || state(*hosted).steps->counts().waiting < 2)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    begun->exchange->abandon();
  }
  wait_until_idle(*hosted);
  EXPECT_EQ(state(*hosted).steps->counts().computed_tokens, 1U);  // of the job that held the steps
}

TEST_F(RunGeneration, AnErrorInTheMiddleEndsTheStreamInItsShape) {
  const auto hosted = model();
  const auto stop = [&](const TextProgress&) { state(*hosted).steps->stop(); };
  Begun* const begun = ask({.options = sampled(90, 3), .streams = true, .script = {.on_progress = stop}});
  const Response response = begun->answer.get();
  EXPECT_EQ(response.status, 200);
  const std::vector<std::string> lines = lines_of(read_all(*response.stream));
  EXPECT_EQ(lines.back(), "fail the model is being unloaded");
}

TEST_F(RunGeneration, AnErrorBeforeTheFirstTokenIsAStatus) {
  state(*model()).steps->stop();
  EXPECT_EQ(ask({.options = sampled(90, 3), .streams = true})->answer.get().status, 503);
}

TEST_F(RunGeneration, AClientThatDoesNotReadHoldsUpNobodyAndMissesNothing) {
  const auto hosted = model();
  const std::vector<std::string_view> prompts = {"w4 w5"};
  const auto expected = hosted->generator().generate_several(prompts, {.n = 8}, sampled(90, 5));
  // Far more than a stream holds.
  Begun* const begun = ask(
      {.options = sampled(90, 5), .counts = {.n = 8}, .streams = true, .script = {.padding = std::string(4096, '.')}});
  const Response response = begun->answer.get();
  wait_until_idle(*hosted);
  std::string stream = read_all(*response.stream);
  for (std::size_t at = stream.find('.'); at != std::string::npos; at = stream.find('.', at))
    stream.erase(at, stream.find_first_not_of('.', at) - at);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(text_in(stream, i), expected[0][i].text) << i;
  EXPECT_EQ(lines_of(stream).back(), "end 2 720");
}

TEST_F(RunGeneration, ManyAtOnceAreWhatEachIsAlone) {
  const auto hosted = model();
  constexpr std::size_t kRequests = 32;
  std::vector<std::string> expected;
  std::vector<Begun*> begun;
  for (std::size_t i = 0; i < kRequests; ++i) {
    const std::string prompt = "w1 w2 w" + std::to_string(3 + i % 5);
    expected.push_back(hosted->generator().generate(prompt, sampled(40, i)).text);
    begun.push_back(ask({.prompts = {prompt}, .options = sampled(40, i), .streams = i % 2 == 0}));
    if (i % 4 == 3) begun.back()->exchange->abandon();
  }
  for (std::size_t i = 0; i < kRequests; ++i) {
    if (i % 4 == 3) continue;
    const Response response = begun[i]->answer.get();
    if (i % 2 == 0) {
      EXPECT_EQ(text_in(read_all(*response.stream), 0), expected[i]) << i;
    } else {
      EXPECT_EQ(lines_of(response.body).front(), expected[i]) << i;
    }
  }
  wait_until_idle(*hosted);
}

TEST_F(RunGeneration, AStreamThatWaitsSaysThatTheServerStillWorks) {
  const auto hosted = model();
  Begun* begun = nullptr;
  Response response;
  std::string seen, piece;
  {
    const HeldSteps held(*hosted);
    begun = ask({.options = sampled(3, 3), .streams = true});
    while (state(*hosted).steps->counts().waiting < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    begun->services.live_answers.tick(Clock::now() + std::chrono::seconds(5));
    EXPECT_EQ(begun->answer.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    begun->services.live_answers.tick(Clock::now() + std::chrono::seconds(11));
    response = begun->answer.get();
    begun->services.live_answers.tick(Clock::now() + std::chrono::seconds(30));
    response.stream->take(piece);
    EXPECT_EQ(piece, "begin 2\nwait\nwait\n");
  }
  const std::vector<std::string> lines = lines_of(read_all(*response.stream));
  EXPECT_EQ(lines.back(), "end 2 3");
}

TEST_F(RunGeneration, WhatARequestHoldsIsOnItsClientsAccount) {
  const auto total = std::make_shared<HeldBytes>(~std::size_t{0}, ~std::size_t{0},
                                                 HeldBytes::Limit{.client = 200'000, .all = 400'000});
  account = std::make_shared<ClientAccount>(ClientId(), total);
  EXPECT_EQ(ask({.options = sampled(9, 3)})->answer.get().status, 200);
  const Response refused = ask({.options = sampled(9, 3), .counts = {.n = 100}})->answer.get();
  EXPECT_EQ(refused.status, 429);
  while (total->rows > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_F(RunGeneration, AClientThatHasHadItsRequestsOfAMinuteIsToldWhenToComeBack) {
  settings.max_requests_per_minute = 6;
  next_request = {.options = sampled(2, 3)};
  Begun* const first = keep(begin(routes(), Method::post, "/texts", "{}"));
  const Response answered = first->answer.get();
  EXPECT_EQ(header(answered, "x-ratelimit-limit-requests"), "6");
  EXPECT_EQ(header(answered, "x-ratelimit-remaining-requests"), "5");
  for (int i = 0; i < 5; ++i) first->services.quota.count_request(ClientId(), Clock::now());
  Exchange* const exchange = first->exchange.get();
  std::promise<Response> promise;
  Call again{first->services,
             first->router.routes().front(),
             std::make_shared<Exchange>(Request(exchange->request()), "id", deadline,
                                        [&](Response response) { promise.set_value(std::move(response)); }),
             {},
             formats::parse_json("{}", "the body")};
  const Problem problem = [&] {
    try {
      generate(again);
    } catch (const RequestError& error) {
      return error.problem();
    }
    return Problem();
  }();
  EXPECT_EQ(problem.kind, Problem::Kind::overloaded);
  EXPECT_EQ(problem.retry_after, 10);
  EXPECT_NE(metrics.expose({}).find(R"(alate_rejected_requests_total{reason="requests_per_minute"} 1)"),
            std::string::npos);
}

TEST_F(RunGeneration, PromptsThatWaitHaveALimit) {
  settings.generation_max_queue_tokens = 4;
  settings.max_client_percent = 100;
  EXPECT_EQ(ask({.options = sampled(2, 3)})->answer.get().status, 200);
  EXPECT_EQ(ask({.prompts = {"w1 w2 w3 w4 w5"}, .options = sampled(2, 3)})->answer.get().status, 413);
}

TEST_F(RunGeneration, ATextHasNoMoreTokensThanTheServerAllows) {
  settings.generation_max_tokens = 5;
  EXPECT_TRUE(ask({.options = sampled(9, 3)})->answer.get().body.ends_with("end 2 5\n"));
  EXPECT_TRUE(ask({.options = sampled(3, 3)})->answer.get().body.ends_with("end 2 3\n"));
}

TEST_F(RunGeneration, TokensAreCounted) {
  EXPECT_EQ(ask({.options = sampled(3, 3)})->answer.get().status, 200);
  const std::string counted = metrics.expose({});
  EXPECT_NE(counted.find("\nalate_generated_tokens_total 3\n"), std::string::npos);
  EXPECT_NE(counted.find("\nalate_prompt_tokens_total 2\n"), std::string::npos);
  EXPECT_NE(counted.find("\nalate_time_to_first_token_seconds_count 1\n"), std::string::npos);
  EXPECT_NE(counted.find("\nalate_time_between_tokens_seconds_count 2\n"), std::string::npos);
}

TEST_F(RunGeneration, ATextMayBeginWithItsPrompt) {
  GenerationOptions options = sampled(4, 3);
  options.sampling.logprobs = 2;
  options.prompt_logprobs = true;
  const Generation expected = model()->generator().generate("w4 w5 w6", options);
  ASSERT_EQ(expected.prompt.size(), 3U);
  for (const bool streams : {false, true}) {
    Asked asked{.prompts = {"w4 w5 w6"}, .options = options, .streams = streams, .reads_prompts = true};
    Begun* const begun = ask(std::move(asked));
    const Response response = begun->answer.get();
    const std::string made = streams ? text_in(read_all(*response.stream), 0) : lines_of(response.body).front();
    EXPECT_TRUE(made.starts_with("w4 w5 w6")) << made;
    EXPECT_TRUE(made.ends_with(expected.text)) << made;
  }
}

TEST_F(RunGeneration, AModelOfAnotherTaskSaysWhatItIsFor) {
  add("tiny/embedder");
  const Response response = ask({}, R"({"model": "tiny/embedder"})")->answer.get();
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("turns texts into vectors"), std::string::npos) << response.body;
}

TEST_F(RunGeneration, TheOnlyLanguageModelAnswersWhoNamesNone) {
  add("tiny/embedder");
  EXPECT_EQ(ask({.options = sampled(2, 3)})->answer.get().status, 200);
}

}  // namespace
}  // namespace alate::server
