// Texts on their way, in the steps that a generator's callers share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/generation.h"
#include "base/threads/cancellation.h"
#include "base/threads/controlled_call.h"
#include "base/threads/mutex.h"
#include "generation/constraint/constraint.h"
#include "generation/ending/ending.h"
#include "generation/sampling/candidates.h"
#include "generation/sampling/sampler.h"
#include "pipelines/generate/generator_state.h"
#include "runtime/decoding/step_job.h"
#include "runtime/decoding/step_scheduler.h"

namespace alate::pipelines {

/// One text on its way. Not thread-safe: it belongs to the scheduler of steps from `job` until that is done.
class GrowingText {
 public:
  /// `index` is the text's number in the request. `model` must outlive it. Throws invalid_argument for options out of
  /// their ranges, for a prompt that is empty or fills the context, and for formats as compile_format.
  GrowingText(const TextGenerator::State& model, std::vector<std::int32_t> prompt, const GenerationOptions& options,
              std::uint64_t index);

  /// These special tokens are shown too: a parser of the text needs them. Before its first token.
  void show_special_tokens(std::span<const std::int32_t> tokens);

  /// Whether there is nothing to compute.
  bool is_done() const { return is_done_ && !reads_prompt(); }
  /// Gets each token, with what has become final of the text, on a thread of the scheduler.
  using Shown = std::function<void(GeneratedToken token, std::string piece)>;
  /// Its part in steps. `text` is this.
  static runtime::StepJob job(const std::shared_ptr<GrowingText>& text, Shown shown);

  /// The text as far as it is, and in `rest` its last piece. `cached` tokens of the prompt were not computed.
  Generation finish(std::size_t cached, std::string& rest);

 private:
  // The mask of the tokens that may be chosen, in the worker's memory; empty if all may.
  std::span<const std::uint32_t> allowed_tokens(generation::SamplerWorkspace& workspace);
  std::optional<std::int32_t> choose(std::span<const float> logits, std::size_t worker, const Shown& shown);
  void read_prompt(std::size_t place, std::span<const float> logits);
  bool reads_prompt() const { return result_.prompt.size() > 1; }

  const TextGenerator::State& model_;
  DecodeStream decoder_;
  const StoppingOptions stopping_;
  generation::Sampler sampler_;
  generation::Ending ending_;
  const std::vector<std::int32_t> end_tokens_;
  std::optional<generation::ConstrainedText> constrained_;
  std::vector<std::int32_t> prompt_;
  const std::size_t top_;  // most probable tokens for each of the prompt
  bool is_done_ = false;
  Generation result_;
  std::vector<float> weights_;           // scratch of `read_prompt`
  std::vector<generation::Rank> ranks_;  // the same
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), first_token_{};
};

/// What the texts of a call have in common, as StepJob has it.
struct TextTerms {
  using Clock = runtime::StepJob::Clock;
  std::string client = {};
  bool is_batch = false;
  Clock::time_point first_token_by = Clock::time_point::max(), deadline = Clock::time_point::max();
};

/// What steps say of a text.
struct TextNews {
  std::size_t index = 0;                         // as it was sent
  std::optional<GeneratedToken> token = {};      // new
  std::string piece = {};                        // of the text, final now
  std::optional<runtime::StepResult> done = {};  // GrowingText::finish may be called
};

/// Texts that were sent to the steps; those that are not done end within one step when it goes. Thread-safe.
class SentTexts {
 public:
  /// Called on threads of the scheduler, for several texts at the same time; it must be short, and not throw.
  using Told = std::function<void(TextNews)>;

  explicit SentTexts(runtime::StepScheduler& steps) : steps_(steps) {}
  ~SentTexts() { cancel(); }
  SentTexts(const SentTexts&) = delete;
  SentTexts& operator=(const SentTexts&) = delete;

  /// Waits for nothing. Of a text with nothing to compute, `told` is called here. Nothing is sent once it is cancelled.
  void send(std::size_t index, const std::shared_ptr<GrowingText>& text, const TextTerms& terms, Told told);
  /// Waits for nothing: `told` may still be running, but is not called with `done` any more. Idempotent.
  void cancel();

 private:
  runtime::StepScheduler& steps_;
  base::Mutex mutex_;
  bool is_cancelled_ = false;
  std::vector<std::uint64_t> ids_;
};

/// Called on the caller's thread, `shown` with each piece of a text and `done` with each text that is whole.
struct TextListener {
  std::function<void(std::size_t index, std::string_view piece)> shown = {};
  std::function<void(std::size_t index)> done = {};
};

/// The texts, once all are done. Throws the first error, and what the listener throws; nothing of the call is computed
/// any more then.
std::vector<Generation> grow_texts(const TextGenerator::State& model,
                                   std::span<const std::shared_ptr<GrowingText>> texts, const TextListener& listener,
                                   const base::ControlledCall& call);
/// One of them.
Generation grow_text(const TextGenerator::State& model, std::vector<std::int32_t> prompt,
                     const GenerationOptions& options, const std::function<void(std::string_view)>& shown,
                     const base::ControlledCall& call);

/// Tokens of a prompt. Throws as Tokenizer::encode.
std::vector<std::int32_t> prompt_tokens(const TextGenerator::State& model, std::string_view prompt, bool with_special,
                                        base::Cancellation cancellation);

}  // namespace alate::pipelines
