// Texts that are generated together, step by step.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "alate/generation.h"
#include "base/threads/cancellation.h"
#include "generation/ending/ending.h"
#include "generation/sampling/sampler.h"
#include "pipelines/generate/generator_state.h"
#include "runtime/decoding/page_store.h"

namespace alate::pipelines {

/// The tokens of a sequence whose keys and values are in pages.
struct CachedTokens {
  std::vector<std::int32_t> ids, pages;
  std::size_t text = 0;  // tokens of the text when they were computed
};

/// One text on its way. Not thread-safe.
class GrowingText {
 public:
  /// `model` must outlive it. Of the prompt's tokens, those that `cached` begins with are not computed again; its pages
  /// become the text's. `index` is the text's number in the request. Throws invalid_argument for options out of their
  /// ranges and for a prompt that is empty or fills the context.
  GrowingText(const TextGenerator::State& model, std::vector<std::int32_t> prompt, CachedTokens cached,
              const GenerationOptions& options, std::uint64_t index, std::function<void(std::string_view)> shown);

  bool is_done() const { return is_done_; }
  /// Tokens that the next step computes: one, or a part of the prompt of at most so many.
  std::size_t next_tokens(std::size_t most) const { return std::min(most, ids_.size() - cached_); }
  /// The next so many, with pages for them.
  runtime::StepSequence step(std::size_t tokens, runtime::PageStore& store);
  /// After the step: chooses a token by the logits, if all tokens were computed.
  void take(std::size_t tokens, std::span<const float> logits, generation::SamplerWorkspace& workspace);

  /// The text as far as it is.
  Generation finish();
  /// What is in the cache; the text must not be used afterwards.
  CachedTokens release();

 private:
  void show(std::string_view text);

  const TextGenerator::State& model_;
  DecodeStream decoder_;
  const StoppingOptions stopping_;
  generation::Sampler sampler_;
  generation::Ending ending_;
  std::function<void(std::string_view)> shown_;
  std::vector<std::int32_t> ids_, pages_;
  std::size_t cached_ = 0, context_;
  bool is_done_ = false;
  Generation result_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), first_token_{};
};

/// Runs steps until all texts are done. Throws as StepProgram::run and GrowingText::take.
void grow_texts(const TextGenerator::State& model, std::span<GrowingText* const> texts, runtime::PageStore& store,
                base::Cancellation cancellation);

/// Tokens of a prompt. Throws as Tokenizer::encode.
std::vector<std::int32_t> prompt_tokens(const TextGenerator::State& model, std::string_view prompt, bool with_special,
                                        base::Cancellation cancellation);

}  // namespace alate::pipelines
