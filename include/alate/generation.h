// Language models: texts that are continued.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/model.h"
#include "alate/output_format.h"
#include "alate/run_control.h"
#include "alate/sampling.h"
#include "alate/tokenizer.h"

namespace alate {

namespace generation {
class Grammar;  // known to the library only
}

struct GenerationOptions {
  SamplingOptions sampling = {};
  StoppingOptions stopping = {};
  /// Whether the prompt gets the special tokens with which texts of the model begin. A rendered conversation has them.
  bool add_special_tokens = true;
  /// What the text must look like. It is compiled before the text begins, once for all texts of a format, within a
  /// second or it is refused.
  OutputFormat format = {};
  /// In place of `format`; made by the library, for calls of tools.
  std::shared_ptr<const generation::Grammar> grammar = {};
  /// Whether Generation::prompt is wanted, with SamplingOptions::logprobs. The whole prompt is computed then.
  bool prompt_logprobs = false;
};

/// A generated token as the model saw it.
struct GeneratedToken {
  std::int32_t id = 0;
  float logprob = 0;                   // with SamplingOptions::logprobs
  std::vector<TokenLogprob> top = {};  // with it, the likeliest first
};

/// How many texts a prompt gets.
struct TextCounts {
  std::size_t n = 1;        // at most 1,024
  std::size_t best_of = 0;  // if more than n: so many are made, and the n likeliest returned
};

/// What follows a prompt.
struct Generation {
  std::string text;                    // without special tokens and what ended it
  std::vector<GeneratedToken> tokens;  // those that ended it included
  FinishReason finish = FinishReason::length;
  std::string stop_text = {};               // the entry of StoppingOptions::stop that ended it
  std::vector<GeneratedToken> prompt = {};  // if asked for: its tokens, of which the first has no log probability
  std::size_t prompt_tokens = 0;            // special ones included
  std::size_t cached_tokens = 0;            // those of them that were not computed again
  std::uint64_t seed = 0;                   // makes the same text again
  std::chrono::nanoseconds prompt_time{}, token_time{};  // until the first token, and of all that follow
};

/// A decoder with its tokenizer. Immutable; thread-safe; copies share state. The text of a prompt depends on the model,
/// the options and the seed: not on how many others are generated at the same time.
class TextGenerator {
 public:
  /// A folder whose config.json names a …ForCausalLM, or a GGUF. Throws as Model::load, and unsupported for other
  /// models and for ONNX files.
  static TextGenerator load(const std::filesystem::path& folder, const LoadOptions& options = {},
                            const RunControl& control = {});

  /// Those of the folder's generation_config.json; where it says nothing of how tokens are chosen, temperature 0.8,
  /// top_k 40, top_p 0.95 and min_p 0.05.
  const GenerationOptions& defaults() const;
  /// Prompt and text together have at most so many tokens.
  std::size_t context() const;

  /// `shown` is called on this thread with each piece of the text as soon as it is final. Throws invalid_argument for
  /// options out of their ranges, a format that is malformed or not supported (docs/constrained-output.md), a prompt
  /// without tokens, and one that leaves no room in the context; cancelled, deadline_exceeded, resource_exhausted, and
  /// what `shown` throws.
  Generation generate(std::string_view prompt, const GenerationOptions& options,
                      const std::function<void(std::string_view)>& shown = {}, const RunControl& control = {}) const;
  Generation generate(std::string_view prompt) const { return generate(prompt, defaults()); }

  /// Several prompts at once, which takes less time than one after the other. Prompt i has the random numbers of text i
  /// of the seed. Throws as generate, naming the prompt.
  std::vector<Generation> generate(std::span<const std::string_view> prompts, const GenerationOptions& options,
                                   const RunControl& control = {}) const;

  /// Several texts of each prompt, with random numbers of their own; in order or, with best_of, the one with the
  /// greatest mean log probability of its tokens first. Throws as generate, and invalid_argument for counts out of
  /// range.
  std::vector<std::vector<Generation>> generate_several(std::span<const std::string_view> prompts,
                                                        const TextCounts& counts, const GenerationOptions& options,
                                                        const RunControl& control = {}) const;

  const Tokenizer& tokenizer() const;
  const Model& model() const;

  struct State;
  explicit TextGenerator(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace alate
