#include "apps/alate/measuring/decoder_bench.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <span>

#include "alate/error.h"
#include "pipelines/generate/generator_state.h"
#include "runtime/loading/step_program.h"

namespace alate::app {
namespace {

using Ids = std::vector<std::int32_t>;

// Of a prompt, in one step: as many as a generator takes.
constexpr std::size_t kTokensAtATime = 512;

// Sequences of equal length with pages of their own.
class BenchedSequences {
 public:
  BenchedSequences(const TextGenerator& generator, std::size_t sequences, std::size_t tokens)
      : program_(generator.model().state().step_program()),
        vocabulary_(static_cast<std::int32_t>(generator.model().state().limits().vocabulary)),
        pages_(sequences) {
    const std::size_t each = runtime::StepProgram::pages_of(tokens);
    cache_ = program_->make_cache(sequences * each);
    for (std::size_t i = 0; i < sequences; ++i) {
      pages_[i].resize(each);
      std::iota(pages_[i].begin(), pages_[i].end(), static_cast<std::int32_t>(i * each));
    }
  }

  // Computes tokens [from, from + count) of all sequences.
  void step(std::size_t from, std::size_t count, const backends::RunOptions& options) {
    std::uniform_int_distribution<std::int32_t> any(0, vocabulary_ - 1);
    std::vector<Ids> ids(pages_.size(), Ids(count));
    std::vector<runtime::StepSequence> sequences;
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      std::ranges::generate(ids[i], [&] { return any(random_); });
      sequences.push_back({.ids = ids[i], .cached = from, .pages = pages_[i]});
    }
    (void)program_->run(sequences, cache_, options);
  }

 private:
  std::shared_ptr<const runtime::StepProgram> program_;
  const std::int32_t vocabulary_;
  std::vector<Ids> pages_;
  runtime::CachePages cache_;
  std::mt19937_64 random_{std::random_device{}()};
};

DecoderTest run_test(const TextGenerator& generator, std::size_t tokens, std::size_t at_a_time,
                     const DecoderBenchOptions& options, Profiler& profiler) {
  if (tokens == 0 || tokens > generator.context())
    throw make_error(ErrorCode::invalid_argument, "a test of ", tokens, " tokens: the model's context has ",
                     generator.context());
  BenchedSequences sequences(generator, options.sequences, tokens);
  const auto run = [&](const backends::RunOptions& run_options) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t done = 0; done < tokens;) {
      const std::size_t count = std::min(at_a_time, tokens - done);
      sequences.step(done, count, run_options);
      done += count;
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  (void)run({.cancellation = until_interrupted()});  // packs weights, touches memory
  DecoderTest test{.name = {}, .tokens = tokens * options.sequences, .seconds = {}};
  for (std::size_t i = 0; i < options.repeat; ++i) {
    test.seconds.push_back(run(profiler.options()));
    profiler.add(test.seconds.back());
  }
  return test;
}

}  // namespace

std::vector<DecoderTest> bench_decoder(const TextGenerator& generator, const DecoderBenchOptions& options,
                                       Profiler& profiler) {
  const std::string times = options.sequences > 1 ? "x" + std::to_string(options.sequences) : "";
  std::vector<DecoderTest> tests;
  const auto add = [&](std::string_view kind, std::size_t tokens, std::size_t at_a_time) {
    tests.push_back(run_test(generator, tokens, at_a_time, options, profiler));
    tests.back().name = std::string(kind) + std::to_string(tokens) + times;
  };
  for (const std::size_t tokens : options.prompts)
    add("pp", tokens, std::max<std::size_t>(kTokensAtATime / options.sequences, 1));
  for (const std::size_t tokens : options.texts) add("tg", tokens, 1);
  return tests;
}

}  // namespace alate::app
