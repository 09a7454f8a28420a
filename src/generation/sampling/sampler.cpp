#include "generation/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "alate/error.h"
#include "generation/options/check_options.h"
#include "generation/sampling/dry.h"
#include "generation/sampling/logit_row.h"
#include "generation/sampling/logprobs.h"
#include "generation/sampling/mirostat.h"
#include "generation/sampling/penalties.h"
#include "generation/sampling/random_draws.h"
#include "generation/sampling/truncation.h"

namespace alate::generation {
namespace {

std::uint64_t random_seed() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

// How many tokens the options look back at.
std::size_t longest_window(const SamplingOptions& options) {
  std::size_t longest = 0;
  if (has_penalties(options)) longest = window_of(options.penalty_window);
  if (has_dry(options)) longest = std::max(longest, window_of(options.dry_window));
  for (const std::vector<std::int32_t>& word : options.bad_words) longest = std::max(longest, word.size() - 1);
  return longest;
}

// A number of tokens of which 0 and -1 are none.
std::size_t count_of(std::int64_t option) { return option <= 0 ? 0 : static_cast<std::size_t>(option); }

const SamplingOptions& checked(const SamplingOptions& options, std::size_t vocabulary_size) {
  check_options(options, vocabulary_size);
  return options;
}

double temperature_of(const SamplingOptions& options, Candidates& candidates) {
  const double range = options.dynamic_temperature_range;
  if (range == 0 || candidates.size() < 2) return options.temperature;
  const double least = std::max(0.0, options.temperature - range), most = options.temperature + range;
  const double share = entropy(candidates) / std::log(static_cast<double>(candidates.size()));
  return least + (most - least) * std::pow(share, options.dynamic_temperature_exponent);
}

}  // namespace

Sampler::Sampler(const SamplingOptions& options, SamplerSetup setup)
    : options_(checked(options, setup.vocabulary_size)),
      setup_(std::move(setup)),
      seed_(options.seed.has_value() ? *options.seed : random_seed()),
      history_(longest_window(options)),
      surprise_limit_(2 * options.mirostat_tau) {}

bool Sampler::is_greedy() const { return options_.temperature == 0 && options_.dynamic_temperature_range == 0; }

void Sampler::forbid_tokens(std::span<float> row, std::span<const std::uint32_t> allowed) const {
  if (!allowed.empty()) apply_mask(allowed, row);
  forbid(options_.suppressed_tokens, row);
  if (history_.generated() == 0) forbid(options_.first_suppressed_tokens, row);
  for (const std::vector<std::int32_t>& word : options_.bad_words) {
    const auto begin = std::span(word).first(word.size() - 1);
    if (std::ranges::equal(history_.last(begin.size()), begin)) forbid(std::span(word).last(1), row);
  }
  if (history_.generated() < static_cast<std::uint64_t>(setup_.min_tokens)) forbid(setup_.end_tokens, row);
}

void Sampler::change_logits(SamplerWorkspace& workspace, std::span<const std::uint32_t> allowed) const {
  std::vector<float>& row = workspace.row;
  forbid_tokens(row, allowed);
  for (const auto& [token, bias] : options_.logit_bias) {
    float& logit = row[static_cast<std::size_t>(token)];
    if (logit == kForbidden) continue;
    logit = bias == static_cast<double>(kForbidden) ? kForbidden : finite(static_cast<double>(logit) + bias);
  }
  if (workspace.counts.size() < row.size()) workspace.counts.resize(row.size());
  if (has_penalties(options_)) apply_penalties(options_, history_, row, workspace.counts);
  if (has_dry(options_)) {
    static const DryBreakers kNone;
    const DryBreakers& breakers = setup_.dry_breakers == nullptr ? kNone : *setup_.dry_breakers;
    apply_dry(options_, history_.last(window_of(options_.dry_window)), breakers, row, workspace.counts,
              workspace.lengths);
  }
}

void Sampler::truncate(Candidates& candidates, double xtc_draw) const {
  const auto min_keep = static_cast<std::size_t>(options_.min_keep);
  if (options_.top_n_sigma > 0) keep_top_n_sigma(candidates, options_.top_n_sigma);
  if (const std::size_t count = count_of(options_.top_k); count > 0) keep_top_k(candidates, count);
  if (options_.typical_p < 1) keep_typical(candidates, options_.typical_p, min_keep);
  if (options_.top_p < 1) keep_top_p(candidates, options_.top_p, min_keep);
  if (options_.min_p > 0) keep_min_p(candidates, options_.min_p, min_keep);
  if (xtc_draw < options_.xtc_probability && options_.xtc_threshold <= 0.5)
    exclude_top_choices(candidates, options_.xtc_threshold, min_keep);
}

void Sampler::draw(Candidates& candidates, TokenChoice& choice) const {
  const RandomDraws draws = random_draws(seed_, setup_.text, history_.generated());
  if (options_.mirostat == Mirostat::off) truncate(candidates, draws.xtc);
  if (const double temperature = temperature_of(options_, candidates); temperature != 1) candidates.divide(temperature);
  if (options_.mirostat == Mirostat::version_1) keep_by_slope(candidates, surprise_limit_, setup_.vocabulary_size);
  if (options_.mirostat == Mirostat::version_2) keep_by_surprise(candidates, surprise_limit_);

  const double total = candidates.total(), target = draws.token * total;
  const float* const weights = candidates.weights().data();
  std::size_t drawn = 0;
  double sum = 0;
  for (std::size_t i = 0; i < candidates.size() && sum <= target; ++i) {
    if (weights[i] == 0) continue;
    sum += static_cast<double>(weights[i]);
    drawn = i;  // the last one, should rounding leave the sum below the target
  }
  choice.token = candidates.id(drawn);
  if (options_.mirostat != Mirostat::off) choice.surprise = std::log2(total / static_cast<double>(weights[drawn]));
}

TokenChoice Sampler::choose(std::span<const float> logits, SamplerWorkspace& workspace,
                            std::span<const std::uint32_t> allowed) const {
  if (logits.size() != setup_.vocabulary_size)
    throw make_error(ErrorCode::invalid_argument, "a row has ", logits.size(), " logits; the sampler was made for ",
                     setup_.vocabulary_size);
  copy_logits(logits, workspace.row);
  change_logits(workspace, allowed);
  TokenChoice choice;
  choice.token = greatest_of(workspace.row);
  if (choice.token < 0)
    throw Error(ErrorCode::invalid_argument,
                "no token is left to choose: the mask of allowed tokens, logit_bias, suppressed_tokens, bad_words and "
                "min_tokens forbid all that the model allows");
  if (!is_greedy()) {
    workspace.candidates.fill(workspace.row);
    draw(workspace.candidates, choice);
  }
  if (options_.logprobs.has_value()) {
    const double sum = log_sum(logits, workspace.weights);
    choice.logprob = static_cast<float>(static_cast<double>(logits[static_cast<std::size_t>(choice.token)]) - sum);
    top_logprobs(logits, sum, static_cast<std::size_t>(*options_.logprobs), workspace.candidates.ranks(),
                 workspace.top);
    choice.top = workspace.top;
  }
  return choice;
}

void Sampler::accept(const TokenChoice& choice) {
  if (options_.mirostat != Mirostat::off && !is_greedy())
    surprise_limit_ -= options_.mirostat_eta * (choice.surprise - options_.mirostat_tau);
  accept(choice.token);
}

}  // namespace alate::generation
