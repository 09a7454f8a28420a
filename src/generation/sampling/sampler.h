// Chooses the tokens of one text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "alate/sampling.h"
#include "generation/sampling/candidates.h"
#include "generation/sampling/dry_breakers.h"
#include "generation/sampling/token_history.h"

namespace alate::generation {

/// What a sampler needs to know besides the options.
struct SamplerSetup {
  std::size_t vocabulary_size = 0;  // the number of logits of a row
  /// Tokens that would end the text (end_tokens of generation/ending/ending.h), forbidden until so many were generated.
  std::vector<std::int32_t> end_tokens = {};
  std::int64_t min_tokens = 0;
  /// Of the options' dry_sequence_breakers, made once for a model; null: repetitions go back over everything.
  std::shared_ptr<const DryBreakers> dry_breakers = nullptr;
  /// The number of the text among those of a request; each has random numbers of its own.
  std::uint64_t text = 0;
};

struct TokenChoice {
  std::int32_t token = 0;
  /// With SamplingOptions::logprobs, else 0 and empty. `top` is in the workspace, until its next use.
  float logprob = 0;
  std::span<const TokenLogprob> top = {};
  double surprise = 0;  // -log2 of the token's probability in the draw; with Mirostat only
};

/// Memory for choosing a token, about 32 bytes for each token of the vocabulary: one for all samplers that a thread
/// asks in turn. After its first use with a vocabulary, choosing allocates nothing.
struct SamplerWorkspace {
  std::vector<float> row, weights;
  std::vector<std::uint32_t> allowed;  // a mask for `choose`
  std::vector<std::uint32_t> counts;   // by token; all 0 between calls
  std::vector<std::uint32_t> lengths;  // by token of a window
  std::vector<TokenLogprob> top;
  Candidates candidates;
};

/// The options of a text and its tokens so far. A value: a copy goes on as the original would. Not thread-safe.
class Sampler {
 public:
  /// Throws invalid_argument for options out of their ranges. Without a seed, a random one is taken.
  Sampler(const SamplingOptions& options, SamplerSetup setup);

  /// The seed that is used: with it, the same text can be made again.
  std::uint64_t seed() const { return seed_; }

  /// Makes room for so many tokens in all, prompt and generated, if options look back at them.
  void reserve(std::size_t tokens) { history_.reserve(tokens); }
  /// Tokens before those that are generated. Ids that the row of logits lacks are allowed.
  void add_prompt(std::span<const std::int32_t> tokens) { history_.add_prompt(tokens); }

  /// The next token, by a row of `vocabulary_size` logits and, if not empty, a bit mask of the allowed tokens
  /// (apply_mask of generation/sampling/logit_row.h). Changes nothing in the sampler: asked again with the same row, it
  /// answers the same. Throws corrupt for NaN and infinity among the logits, and invalid_argument when mask and options
  /// forbid all tokens.
  TokenChoice choose(std::span<const float> logits, SamplerWorkspace& workspace,
                     std::span<const std::uint32_t> allowed = {}) const;

  /// Adds a token that was chosen, or one that comes from elsewhere, to the text.
  void accept(const TokenChoice& choice);
  void accept(std::int32_t token) { history_.add_generated(token); }

 private:
  void change_logits(SamplerWorkspace& workspace, std::span<const std::uint32_t> allowed) const;
  void forbid_tokens(std::span<float> row, std::span<const std::uint32_t> allowed) const;
  void truncate(Candidates& candidates, double xtc_draw) const;
  void draw(Candidates& candidates, TokenChoice& choice) const;
  bool is_greedy() const;

  SamplingOptions options_;
  SamplerSetup setup_;
  std::uint64_t seed_;
  TokenHistory history_;
  double surprise_limit_;  // Mirostat's mu, in bits
};

}  // namespace alate::generation
