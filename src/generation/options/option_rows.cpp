#include "generation/options/option_rows.h"

#include <array>

namespace alate::generation {
namespace {

constexpr double kMostTokens = 2147483647;

constexpr std::array kSampling = std::to_array<OptionRow<SamplingOptions>>({
    {"temperature", &SamplingOptions::temperature, 0, 100},
    {"dynamic_temperature_range", &SamplingOptions::dynamic_temperature_range, 0, 100},
    {"dynamic_temperature_exponent", &SamplingOptions::dynamic_temperature_exponent, 0, 100},
    {"top_n_sigma", &SamplingOptions::top_n_sigma, -1, 1000},
    {"top_k", &SamplingOptions::top_k, -1, kMostTokens},
    {"typical_p", &SamplingOptions::typical_p, 0, 1},
    {"top_p", &SamplingOptions::top_p, 0, 1},
    {"min_p", &SamplingOptions::min_p, 0, 1},
    {"min_keep", &SamplingOptions::min_keep, 1, kMostTokens},
    {"repetition_penalty", &SamplingOptions::repetition_penalty, 0.01, 100},
    {"presence_penalty", &SamplingOptions::presence_penalty, -100, 100},
    {"frequency_penalty", &SamplingOptions::frequency_penalty, -100, 100},
    {"penalty_window", &SamplingOptions::penalty_window, -1, kMostTokens},
    {"penalize_prompt", &SamplingOptions::penalize_prompt},
    {"dry_multiplier", &SamplingOptions::dry_multiplier, 0, 1000},
    {"dry_base", &SamplingOptions::dry_base, 1, 100},
    {"dry_allowed_length", &SamplingOptions::dry_allowed_length, 1, kMostTokens},
    {"dry_window", &SamplingOptions::dry_window, -1, kMostTokens},
    {"xtc_probability", &SamplingOptions::xtc_probability, 0, 1},
    {"xtc_threshold", &SamplingOptions::xtc_threshold, 0, 1},
    {"mirostat", &SamplingOptions::mirostat, 0, 2},
    {"mirostat_tau", &SamplingOptions::mirostat_tau, 0, 100},
    {"mirostat_eta", &SamplingOptions::mirostat_eta, 0, 10},
    {"seed", &SamplingOptions::seed},
    {"logprobs", &SamplingOptions::logprobs, 0, 128},
});

constexpr std::array kStopping = std::to_array<OptionRow<StoppingOptions>>({
    {"max_tokens", &StoppingOptions::max_tokens, 0, kMostTokens},
    {"min_tokens", &StoppingOptions::min_tokens, 0, kMostTokens},
    {"include_stop", &StoppingOptions::include_stop},
    {"ignore_eos", &StoppingOptions::ignore_eos},
});

}  // namespace

std::span<const OptionRow<SamplingOptions>> sampling_rows() { return kSampling; }
std::span<const OptionRow<StoppingOptions>> stopping_rows() { return kStopping; }

}  // namespace alate::generation
