#include "generation/sampling/penalties.h"

#include <cstddef>

#include "generation/sampling/logit_row.h"

namespace alate::generation {
namespace {

// Calls `penalize` with each distinct token and how often it is there.
template <typename Penalize>
void for_each_count(std::span<const std::int32_t> tokens, std::size_t vocabulary_size,
                    std::vector<std::uint32_t>& counts, const Penalize& penalize) {
  for (const std::int32_t token : tokens) {
    if (const auto i = static_cast<std::size_t>(token); i < vocabulary_size) ++counts[i];
  }
  for (const std::int32_t token : tokens) {
    const auto i = static_cast<std::size_t>(token);
    if (i >= vocabulary_size || counts[i] == 0) continue;
    penalize(i, counts[i]);
    counts[i] = 0;
  }
}

}  // namespace

bool has_penalties(const SamplingOptions& options) {
  return options.penalty_window != 0 &&
         (options.repetition_penalty != 1 || options.presence_penalty != 0 || options.frequency_penalty != 0);
}

void apply_penalties(const SamplingOptions& options, const TokenHistory& history, std::span<float> row,
                     std::vector<std::uint32_t>& counts) {
  const std::size_t window = window_of(options.penalty_window);
  if (const double penalty = options.repetition_penalty; penalty != 1) {
    for_each_count(history.last(window), row.size(), counts, [&](std::size_t i, std::uint32_t) {
      if (row[i] == kForbidden) return;
      const double logit = static_cast<double>(row[i]);
      row[i] = finite(logit > 0 ? logit / penalty : logit * penalty);
    });
  }
  if (options.presence_penalty == 0 && options.frequency_penalty == 0) return;
  const auto counted = options.penalize_prompt ? history.last(window) : history.last_generated(window);
  for_each_count(counted, row.size(), counts, [&](std::size_t i, std::uint32_t count) {
    if (row[i] == kForbidden) return;
    row[i] = finite(static_cast<double>(row[i]) - options.presence_penalty - count * options.frequency_penalty);
  });
}

}  // namespace alate::generation
