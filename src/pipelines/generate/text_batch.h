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
#include "generation/constraint/constraint.h"
#include "generation/ending/ending.h"
#include "generation/sampling/sampler.h"
#include "pipelines/generate/generator_state.h"
#include "runtime/decoding/step_job.h"

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
  bool is_done() const { return is_done_; }
  /// Its part in steps; `shown` gets each piece of the text that is final, on the scheduler's thread. `text` is this.
  static runtime::StepJob job(const std::shared_ptr<GrowingText>& text, std::function<void(std::string)> shown);

  /// The text as far as it is, and in `rest` its last piece. `cached` tokens of the prompt were not computed.
  Generation finish(std::size_t cached, std::string& rest);

 private:
  std::optional<std::int32_t> choose(std::span<const float> logits, std::size_t worker, std::string& shown);
  // The mask of the tokens that may be chosen, in the worker's memory; empty if all may.
  std::span<const std::uint32_t> allowed_tokens(generation::SamplerWorkspace& workspace);

  const TextGenerator::State& model_;
  DecodeStream decoder_;
  const StoppingOptions stopping_;
  generation::Sampler sampler_;
  generation::Ending ending_;
  const std::vector<std::int32_t> end_tokens_;
  std::optional<generation::ConstrainedText> constrained_;
  std::vector<std::int32_t> prompt_;
  bool is_done_ = false;
  Generation result_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), first_token_{};
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
