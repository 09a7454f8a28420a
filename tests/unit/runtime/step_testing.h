// A tiny decoder, sequences for its steps, and what they become alone.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "runtime/decoding/step_loop.h"
#include "runtime/loading/loaded_model.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::runtime {

using TokenIds = std::vector<std::int32_t>;

/// What becomes of a sequence: its tokens, and the bits of all logits that it was shown.
struct Text {
  TokenIds tokens = {};
  std::vector<std::uint64_t> logits = {};  // a hash of each row
  std::size_t ended = 0;                   // calls of `done`
  StepResult result = {};

  ErrorCode error() const {
    return base::error_of([&] {
             if (result.error) std::rethrow_exception(result.error);
           })
        .code();
  }
};

inline std::uint64_t hash_of(std::span<const float> row) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const float value : row) hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001b3ULL;
  return hash;
}

/// A job for `count` tokens, chosen by the logits and `seed`. `text` gets what becomes of it.
inline StepJob job_of(TokenIds prompt, std::size_t count, std::uint64_t seed, const std::shared_ptr<Text>& text) {
  StepJob job;
  job.prompt = std::move(prompt);
  job.choose = [text, count, seed](std::span<const float> logits, std::size_t) -> std::optional<std::int32_t> {
    // Of the best two, by the seed: the text does not run into a circle.
    std::size_t best = 0, second = 1;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (logits[i] > logits[best]) {
        second = std::exchange(best, i);
      } else if (i != best && logits[i] > logits[second]) {
        second = i;
      }
    }
    const bool takes_second = std::mt19937_64(seed + text->tokens.size())() % 2 == 1;
    text->tokens.push_back(static_cast<std::int32_t>(takes_second ? second : best));
    text->logits.push_back(hash_of(logits));
    return text->tokens.size() < count ? std::optional(text->tokens.back()) : std::nullopt;
  };
  job.done = [text](const StepResult& result) {
    ++text->ended;
    text->result = result;
  };
  return job;
}

class StepTest : public testing::Test {
 protected:
  static constexpr std::size_t kPositions = 512;
  static constexpr auto kRows = static_cast<std::size_t>(kPageRows);

  static void step(StepLoop& loop) { loop.step({.cancellation = base::Cancellation::never()}); }
  static void run(StepLoop& loop) {
    while (!loop.empty()) step(loop);
  }
  static std::shared_ptr<LiveSequence> add(StepLoop& loop, StepJob job) {
    auto sequence = std::make_shared<LiveSequence>(std::move(job));
    loop.add(sequence);
    return sequence;
  }

  TokenIds random_ids(std::size_t count, std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    TokenIds ids(count);
    for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random() % vocabulary_);
    return ids;
  }

  /// The same text by itself: all of the prompt at once, in a cache of its own.
  const Text& alone(const TokenIds& prompt, std::size_t count, std::uint64_t seed) {
    Text& text = alone_[{prompt, count, seed}];
    if (!text.tokens.empty()) return text;
    StepLoop loop(program_, {.most_pages = 64, .max_tokens = kPositions});
    const auto made = std::make_shared<Text>();
    add(loop, job_of(prompt, count, seed, made));
    run(loop);
    return text = *made;
  }

  static void expect_same(const Text& text, const Text& wanted) {
    EXPECT_EQ(text.tokens, wanted.tokens);
    EXPECT_EQ(text.logits, wanted.logits);
    EXPECT_EQ(text.ended, 1U);
    EXPECT_EQ(text.result.error, nullptr);
  }

 private:
  // Once for all tests.
  static const Model& shared_model() {
    static const base::TemporaryFolder folder;
    static const Model model = load(folder.path() / "model");
    return model;
  }
  static Model load(const std::filesystem::path& folder) {
    tests::write_tiny_model(tests::golden_folder("architectures/llama_causal_lm"), folder);
    formats::Json::Object config =
        formats::parse_json(base::read_text_file(folder / "config.json"), "config.json").as_object("config.json");
    std::erase_if(config, [](const auto& member) { return member.first == "max_position_embeddings"; });
    config.emplace_back("max_position_embeddings", std::int64_t{kPositions});
    std::ofstream(folder / "config.json") << formats::to_json_text(config);
    return Model::load(folder, {.backend = {.places = {BackendPlace::cpu()}}});
  }

  std::map<std::tuple<TokenIds, std::size_t, std::uint64_t>, Text> alone_;

 protected:
  const Model& model_ = shared_model();
  const std::size_t vocabulary_ = static_cast<std::size_t>(model_.state().limits().vocabulary);
  const std::shared_ptr<const StepProgram> program_ = model_.state().step_program();
};

}  // namespace alate::runtime
