// Running a StepLoop's step, and choosing the tokens that follow.
#include <algorithm>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "base/error_copy.h"
#include "base/threads/thread_pool.h"
#include "runtime/batching/current_error.h"
#include "runtime/decoding/step_loop.h"

namespace alate::runtime {
namespace {

constexpr auto kRows = static_cast<std::size_t>(kPageRows);

// What a sequence makes of its rows of logits.
struct Outcome {
  bool is_over = false;
  std::exception_ptr error;
};

std::size_t asked_of(const LiveSequence& sequence, std::size_t end) {
  if (sequence.reads_prompt()) return end - sequence.cached;
  return end == sequence.ids.size() ? 1 : 0;
}

// The token that follows is added to the sequence.
Outcome read_logits(LiveSequence& sequence, std::size_t end, std::span<const float> logits, std::size_t width,
                    std::size_t worker) {
  Outcome outcome;
  try {
    if (sequence.unwanted) return outcome;
    const std::size_t begin = end - logits.size() / width;
    for (std::size_t place = std::max(begin, sequence.read); sequence.reads_prompt() && place < end; ++place) {
      sequence.job.read_prompt(place, logits.subspan((place - begin) * width, width));
      sequence.read = place + 1;
    }
    if (end < sequence.ids.size()) return outcome;
    const std::optional<std::int32_t> token = sequence.job.choose(logits.last(width), worker);
    if (token) sequence.ids.push_back(*token);
    outcome.is_over = !token;
  } catch (...) {
    outcome.error = current_error();
    outcome.is_over = true;
  }
  return outcome;
}

}  // namespace

void StepLoop::run(const backends::RunOptions& options) {
  const auto is_unwanted = [&] {
    return options.cancellation.is_requested() ||
           std::ranges::all_of(planned_, [](const Planned& each) { return each.sequence->unwanted.load(); });
  };
  backends::RunOptions run = options;
  run.cancellation = base::Cancellation::when(is_unwanted);
  std::exception_ptr error;
  try {
    return compute(planned_, run);
  } catch (...) {
    error = current_error();
  }
  for (Planned& each : planned_) forget_written(each);
  options.cancellation.check();
  if (planned_.size() == 1) return end(*planned_.front().sequence, std::move(error));
  // Only those that fail by themselves end.
  for (const Planned each : std::vector(planned_)) {
    if (each.sequence->unwanted) continue;
    const auto alone = [&] { return options.cancellation.is_requested() || each.sequence->unwanted; };
    run.cancellation = base::Cancellation::when(alone);
    planned_ = {each};
    try {
      compute(planned_, run);
    } catch (...) {
      error = current_error();
      forget_written(planned_.front());
      options.cancellation.check();
      end(*each.sequence, std::move(error));
    }
  }
}

// After an error the pages that were written to are undefined: the last one is computed again.
void StepLoop::forget_written(Planned& planned) {
  LiveSequence& sequence = *planned.sequence;
  const std::size_t full = sequence.cached / kRows;
  if (sequence.cached > full * kRows) tree_.forget(sequence.pages[full]);
  sequence.cached = full * kRows;
  sequence.kept = std::min(sequence.kept, sequence.cached);
}

void StepLoop::compute(std::span<const Planned> planned, const backends::RunOptions& options) {
  std::vector<StepSequence> sequences;
  std::vector<std::size_t> first_row;
  std::vector<bool> ends_prompt, gets_token;
  std::size_t rows = 0;
  for (const Planned& each : planned) {
    const LiveSequence& sequence = *each.sequence;
    const std::span<const std::int32_t> ids(sequence.ids);
    sequences.push_back({.ids = ids.subspan(sequence.cached, each.end - sequence.cached),
                         .cached = sequence.cached,
                         .pages = std::span(sequence.pages).first(StepProgram::pages_of(each.end)),
                         .text = ids.size(),
                         .asked = asked_of(sequence, each.end)});
    gets_token.push_back(each.end == ids.size());
    ends_prompt.push_back(each.end == ids.size() && (ids.size() == sequence.prompt || sequences.back().ids.size() > 1));
    first_row.push_back(rows);
    rows += sequences.back().asked;
  }
  const Tensor logits = program_->run(sequences, store_.cache(), options);
  const auto width = static_cast<std::size_t>(logits.extent(1));
  std::vector<Outcome> outcomes(planned.size());
  base::ThreadPool::shared().parallel_for(planned.size(), options.max_workers, [&](std::size_t i, std::size_t worker) {
    if (sequences[i].asked == 0) return;
    outcomes[i] =
        read_logits(*planned[i].sequence, planned[i].end,
                    logits.values<float>().subspan(first_row[i] * width, sequences[i].asked * width), width, worker);
  });
  for (std::size_t i = 0; i < planned.size(); ++i) {
    LiveSequence& sequence = *planned[i].sequence;
    counts_.computed_tokens += planned[i].end - sequence.cached;
    sequence.cached = planned[i].end;
    if (ends_prompt[i] || sequence.cached / kRows > sequence.kept / kRows) publish(sequence);
    if (outcomes[i].is_over)
      end(sequence, std::move(outcomes[i].error));
    else if (gets_token[i] && !keeps_keys(sequence))
      preempt(sequence);
  }
}

}  // namespace alate::runtime
