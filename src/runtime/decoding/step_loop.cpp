#include "runtime/decoding/step_loop.h"

#include <algorithm>
#include <new>
#include <utility>

#include "alate/error.h"
#include "base/error_copy.h"

namespace alate::runtime {

namespace {

// A conversation's, say.
constexpr std::size_t kKeptTokens = 8192;

}  // namespace

StepLoopOptions loop_options(const StepProgram& program) {
  StepLoopOptions options;
  options.most_pages = program.bound().pages;
  options.kept_pages = StepProgram::pages_of(std::min(program.bound().context, kKeptTokens));
  options.max_tokens = std::min(options.max_tokens, std::max<std::size_t>(program.batch_hint().rows, 1));
  return options;
}

StepLoop::StepLoop(std::shared_ptr<const StepProgram> program, const StepLoopOptions& options)
    : program_(std::move(program)),
      options_(options),
      store_(program_, options.most_pages),
      tokens_beside_(std::min(options.tokens_beside, options.max_tokens)) {}

void StepLoop::add(std::shared_ptr<LiveSequence> sequence) {
  LiveSequence& added = *sequence;
  if (added.ids.empty()) throw Error(ErrorCode::invalid_argument, "a sequence has no tokens");
  if (StepProgram::pages_of(added.ids.size()) > store_.most())
    throw make_error(ErrorCode::resource_exhausted, "a text of ", added.ids.size(),
                     " tokens does not fit in the cache of ", store_.most(), " pages of ", kPageRows,
                     " tokens: shorten it");
  auto client = std::ranges::find_if(clients_, [&](const StepClient& each) {
    return each.name == added.job.client && each.is_batch == added.job.is_batch;
  });
  if (client == clients_.end()) {
    const auto laziest = std::ranges::min_element(clients_, {}, &StepClient::work);
    const std::uint64_t least = laziest == clients_.end() ? 0 : laziest->work;
    client = clients_.insert(clients_.end(),
                             StepClient{.name = added.job.client, .is_batch = added.job.is_batch, .work = least});
  }
  client->waiting.push_back(&added);
  added.client = &*client;
  added.place = all_.insert(all_.end(), std::move(sequence));
}

void StepLoop::step(const backends::RunOptions& options) {
  options.cancellation.check();
  end_unwanted();
  admit();
  plan();
  if (planned_.empty()) return;
  ++counts_.steps;
  const StepJob::Clock::time_point begin = StepJob::Clock::now();
  run(options);
  if (prompts_delay_others_)
    tokens_beside_ = tokens_beside(tokens_beside_, std::min(options_.tokens_beside, options_.max_tokens),
                                   StepJob::Clock::now() - begin);
}

void StepLoop::end_all(const std::exception_ptr& error) {
  while (!all_.empty()) end(*all_.front(), base::copy_of(error));
}

StepCounts StepLoop::counts() const {
  StepCounts counts = counts_;
  counts.running = running_.size();
  counts.waiting = all_.size() - running_.size();
  counts.pages = store_.allocated();
  counts.pages_idle = store_.idle();
  counts.pages_read = store_.allocated() - store_.unused() - store_.idle();
  return counts;
}

void StepLoop::end_unwanted() {
  const StepJob::Clock::time_point now = StepJob::Clock::now();
  for (auto place = all_.begin(); place != all_.end();) {
    LiveSequence& sequence = **place++;
    if (sequence.unwanted) {
      end(sequence, nullptr);
    } else if (sequence.is_late(now)) {
      end(sequence, std::make_exception_ptr(
                        Error(ErrorCode::deadline_exceeded,
                              "the time for this request was over before it was computed; try again when less is "
                              "going on, or allow it more time")));
    }
  }
}

void StepLoop::end(LiveSequence& sequence, std::exception_ptr error) {
  if (sequence.is_running) stop_running(sequence);
  leave(sequence);
  const std::shared_ptr<LiveSequence> ended = std::move(*sequence.place);
  all_.erase(ended->place);
  ended->result.error = std::move(error);
  if (!ended->has_begun) ended->result.queue = StepJob::Clock::now() - ended->submitted;
  if (!ended->unwanted && ended->job.done) ended->job.done(ended->result);
}

// Its pages stay in the tree as long as there is room.
void StepLoop::stop_running(LiveSequence& sequence) {
  publish(sequence);
  for (const std::int32_t page : sequence.pages) store_.remove_reader(page);
  sequence.pages.clear();
  sequence.cached = sequence.kept = 0;
  std::erase(running_, &sequence);
  sequence.is_running = false;
  --sequence.client->running;
}

// Whether those of the text without its last token are of use with it.
bool StepLoop::keeps_keys(const LiveSequence& sequence) const {
  const auto now = static_cast<std::int64_t>(sequence.ids.size());
  return program_->limits().keeps_keys(now - 1, now);
}

// The tree has keys of short texts only: whether the sequence's are like them.
bool StepLoop::shares_keys(const LiveSequence& sequence) const {
  return program_->limits().keeps_keys(1, static_cast<std::int64_t>(sequence.ids.size()));
}

void StepLoop::publish(LiveSequence& sequence) {
  if (sequence.cached == sequence.kept || !shares_keys(sequence)) return;
  try {
    tree_.keep(std::span(sequence.ids).first(sequence.cached), sequence.pages);
    sequence.kept = sequence.cached;
  } catch (const std::bad_alloc&) {
    // Others compute it again, then.
  }
}

// Removes it from its client.
void StepLoop::leave(LiveSequence& sequence) {
  StepClient& client = *sequence.client;
  client.waiting.remove(&sequence);
  if (client.running > 0 || !client.waiting.empty()) return;
  clients_.remove_if([&](const StepClient& each) { return &each == &client; });
}

// Idle pages go before the cache grows, except those that are kept for sequences to come.
std::int32_t StepLoop::take_page() {
  const bool is_full = store_.allocated() >= store_.most();
  if (store_.unused() == 0 && (is_full || store_.idle() > options_.kept_pages)) tree_.evict();
  try {
    return store_.take();
  } catch (...) {
    if (!tree_.evict()) throw;
    return store_.take();
  }
}

}  // namespace alate::runtime
