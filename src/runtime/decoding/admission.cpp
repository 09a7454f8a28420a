// Which sequences of a StepLoop run, and which give up their pages.
#include <algorithm>
#include <tuple>
#include <utility>

#include "alate/error.h"
#include "runtime/batching/current_error.h"
#include "runtime/decoding/step_loop.h"

namespace alate::runtime {
namespace {

using Ids = std::span<const std::int32_t>;

// A sequence waits for another to compute so many tokens more than the tree has.
constexpr std::size_t kLeastShared = 16;
// Sequences that are passed over before a step, so that it begins in time with thousands waiting.
constexpr std::size_t kMostRefusals = 256;

}  // namespace

void StepLoop::admit() {
  std::size_t refusals = 0;
  for (bool moved = true, is_full = false; moved && !is_full;) {
    moved = false;
    std::vector<StepClient*> order;
    for (StepClient& client : clients_) {
      if (!client.waiting.empty()) order.push_back(&client);
    }
    std::ranges::stable_sort(order, [](const StepClient* a, const StepClient* b) {
      return std::tuple(a->is_batch, a->running, a->work) < std::tuple(b->is_batch, b->running, b->work);
    });
    for (StepClient* client : order) {
      moved = admit_of(*client, refusals, is_full);
      if (moved || is_full) break;
    }
  }
}

// Admits one of the client's. A client may be gone afterwards.
bool StepLoop::admit_of(StepClient& client, std::size_t& refusals, bool& is_full) {
  for (LiveSequence* sequence : client.waiting) {
    if (refusals >= kMostRefusals) return false;
    switch (try_admit(*sequence)) {
      case Admission::done: return true;
      case Admission::later: ++refusals; break;
      case Admission::no_room: is_full = true; return false;
    }
  }
  return false;
}

StepLoop::Admission StepLoop::try_admit(LiveSequence& sequence) {
  // The last token is computed, since its logits are asked for.
  const std::size_t known = sequence.reads_prompt() ? sequence.read : sequence.ids.size() - 1;
  const Ids ids = Ids(sequence.ids).first(shares_keys(sequence) ? known : 0);
  if (is_being_computed(ids, tree_.find(ids).tokens())) return Admission::later;
  if (running_.size() >= options_.max_sequences && !make_room(*sequence.client)) return Admission::no_room;
  return give_pages(sequence, tree_.find(ids));
}

// Whether a running sequence is about to compute pages that this one can use.
bool StepLoop::is_being_computed(Ids ids, std::size_t found) const {
  return std::ranges::any_of(running_, [&](const LiveSequence* other) {
    if (other->rest() <= 1 || !shares_keys(*other)) return false;
    auto shared = static_cast<std::size_t>(std::ranges::mismatch(ids, other->ids).in1 - ids.begin());
    // A page that goes on differently is only seen when it is full, or at the prompt's end.
    const auto rows = static_cast<std::size_t>(kPageRows);
    if (shared < other->ids.size()) shared = shared / rows * rows;
    return shared >= found + kLeastShared;
  });
}

StepLoop::Admission StepLoop::give_pages(LiveSequence& sequence, const PrefixTree::Match& match) {
  std::vector<std::int32_t> pages = match.pages;
  for (const std::int32_t page : pages) store_.add_reader(page);
  std::int32_t partial = match.partial;
  if (partial >= 0) store_.add_reader(partial);
  const auto drop_partial = [&] {
    if (partial >= 0) store_.remove_reader(std::exchange(partial, -1));
  };
  const auto give_up = [&] {
    drop_partial();
    for (const std::int32_t page : pages) store_.remove_reader(page);
  };
  const std::size_t wanted = StepProgram::pages_of(sequence.ids.size());
  // A page for each of the others, which grow.
  const auto has_room = [&] { return wanted - pages.size() + running_.size() <= store_.available(); };
  if (!has_room()) drop_partial();
  while (!has_room()) {
    if (make_room(*sequence.client)) continue;
    give_up();
    return Admission::no_room;
  }
  try {
    while (pages.size() < wanted) pages.push_back(take_page());
  } catch (...) {
    give_up();
    if (!running_.empty()) return Admission::no_room;
    end(sequence, current_error());
    return Admission::done;
  }
  if (partial >= 0) store_.copy(partial, pages[match.pages.size()], match.rows);
  sequence.cached = sequence.kept =
      match.pages.size() * static_cast<std::size_t>(kPageRows) + (partial >= 0 ? match.rows : 0);
  drop_partial();
  sequence.pages = std::move(pages);
  sequence.is_running = true;
  sequence.client->waiting.remove(&sequence);
  ++sequence.client->running;
  running_.push_back(&sequence);
  counts_.cached_tokens += sequence.cached;
  if (!std::exchange(sequence.has_begun, true)) {
    sequence.result.cached_tokens = sequence.cached;
    sequence.result.queue = StepJob::Clock::now() - sequence.submitted;
  }
  return Admission::done;
}

// Takes the place of another client's youngest sequence, where that client has two more running than this one; of batch
// work in any case, unless this is batch work too.
bool StepLoop::make_room(const StepClient& client) {
  if (running_.empty()) return false;
  LiveSequence& victim = least_entitled();
  if (client.is_batch && !victim.client->is_batch) return false;
  const bool is_below = victim.client->is_batch && !client.is_batch;
  if (!is_below && victim.client->running < client.running + 2) return false;
  preempt(victim);
  return true;
}

// The youngest of the client that has the most; of batch work, where there is any.
LiveSequence& StepLoop::least_entitled() const {
  LiveSequence* victim = running_.back();
  for (LiveSequence* each : running_) {
    const auto order = [](const StepClient& one) { return std::pair(one.is_batch, one.running); };
    if (order(*each->client) >= order(*victim->client)) victim = each;
  }
  return *victim;
}

void StepLoop::preempt(LiveSequence& sequence) {
  ++counts_.preemptions;
  stop_running(sequence);
  sequence.client->waiting.push_front(&sequence);
}

}  // namespace alate::runtime
