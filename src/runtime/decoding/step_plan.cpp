// The tokens of a StepLoop's next step.
#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "runtime/batching/batch_work.h"
#include "runtime/batching/current_error.h"
#include "runtime/decoding/step_loop.h"

namespace alate::runtime {
namespace {

// Of a prompt, before another client's turn.
constexpr std::size_t kTurn = 64;
// Of a prompt whose logits are read, in a step: each is a row as long as the vocabulary.
constexpr std::size_t kMostRead = 64;

}  // namespace

std::size_t tokens_beside(std::size_t now, std::size_t most, std::chrono::nanoseconds took) {
  constexpr std::chrono::milliseconds kLongest(200);
  constexpr std::size_t kFewest = 8;
  if (took > kLongest) return std::min(most, std::max(now / 2, kFewest));
  return took < kLongest / 4 ? std::min(most, 2 * now) : now;
}

void StepLoop::plan() {
  planned_.clear();
  // Those that end meanwhile end themselves only; those that are preempted stay.
  for (LiveSequence* sequence : std::vector(running_)) {
    if (sequence->is_running) hold(*sequence);
  }
  for (LiveSequence* sequence : running_) {
    planned_.push_back({.sequence = sequence, .end = sequence->cached});
    if (sequence->rest() != 1) continue;
    charge(*sequence, sequence->cached, sequence->ids.size());
    planned_.back().end = sequence->ids.size();
  }
  const bool others_wait = std::ranges::any_of(running_, [](const LiveSequence* each) { return each->rest() == 1; });
  prompts_delay_others_ =
      others_wait && std::ranges::any_of(running_, [](const LiveSequence* each) { return each->rest() > 1; });
  add_prompts(others_wait ? tokens_beside_ : options_.max_tokens);
  std::erase_if(planned_, [](const Planned& each) { return each.end == each.sequence->cached; });
}

// Takes pages for all tokens of a running sequence, if need be from others or at the cost of its place.
void StepLoop::hold(LiveSequence& sequence) {
  const std::size_t wanted = StepProgram::pages_of(sequence.ids.size());
  while (sequence.pages.size() < wanted) {
    std::exception_ptr error;
    if (store_.available() > 0) {
      try {
        sequence.pages.push_back(take_page());
        continue;
      } catch (...) {
        error = current_error();
      }
    }
    if (running_.size() == 1) {
      if (error == nullptr)
        error = std::make_exception_ptr(make_error(ErrorCode::resource_exhausted, "a text of ", sequence.ids.size(),
                                                   " tokens fills the cache of ", store_.most(), " pages of ",
                                                   kPageRows, " tokens"));
      return end(sequence, error);
    }
    LiveSequence& victim = least_entitled();
    preempt(victim);
    if (&victim == &sequence) return;
  }
}

// Of prompts, in turns: the client that was given least is next, with its oldest sequence; batch work comes last.
void StepLoop::add_prompts(std::size_t tokens) {
  const auto room = [](const Planned& each) {
    const LiveSequence& sequence = *each.sequence;
    const std::size_t end =
        sequence.reads_prompt() ? std::min(sequence.ids.size(), sequence.cached + kMostRead) : sequence.ids.size();
    return end - each.end;
  };
  while (tokens > 0) {
    Planned* next = nullptr;
    for (Planned& each : planned_) {
      if (room(each) == 0) continue;
      const auto order = [](const Planned& one) {
        return std::pair(one.sequence->client->is_batch, one.sequence->client->work);
      };
      if (next == nullptr || order(each) < order(*next)) next = &each;
    }
    if (next == nullptr) return;
    const std::size_t count = std::min({room(*next), tokens, kTurn});
    charge(*next->sequence, next->end, next->end + count);
    next->end += count;
    tokens -= count;
  }
}

void StepLoop::charge(LiveSequence& sequence, std::size_t begin, std::size_t end) const {
  const auto hidden = static_cast<std::size_t>(program_->limits().hidden_size);
  sequence.client->work += batch_work(end - begin, end, even_row_length(hidden));
}

}  // namespace alate::runtime
