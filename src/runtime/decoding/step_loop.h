// Steps of many sequences: which are in the next one, with how many tokens, and in which pages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "runtime/decoding/live_sequence.h"
#include "runtime/decoding/page_store.h"
#include "runtime/decoding/prefix_tree.h"
#include "runtime/decoding/step_job.h"
#include "runtime/loading/step_program.h"

namespace alate::runtime {

struct StepLoopOptions {
  std::size_t most_pages = 1;       // of the cache
  std::size_t kept_pages = 0;       // idle ones that are kept, rather than that the cache grows less
  std::size_t max_sequences = 64;   // that run at the same time
  std::size_t max_tokens = 512;     // of prompts, in a step
  std::size_t tokens_beside = 128;  // the same, where other sequences get a token in the step: fewer if it takes long
};

/// As the program's bound allows. As many pages are kept as a long conversation has.
StepLoopOptions loop_options(const StepProgram& program);

/// The tokens of prompts in the next step that others wait for, after one of `now` tokens took so long: fewer above 0.2
/// seconds, more again below a quarter of it. Texts do not depend on it.
std::size_t tokens_beside(std::size_t now, std::size_t most, std::chrono::nanoseconds took);

struct StepCounts {
  std::size_t waiting = 0, running = 0;  // sequences
  std::size_t pages = 0, pages_read = 0,
              pages_idle = 0;  // that take memory; of these, of sequences and kept for others
  std::uint64_t steps = 0, computed_tokens = 0, cached_tokens = 0, preemptions = 0;  // so far
};

/// Runs sequences to their ends, some tokens of each at a time. Not thread-safe, but for LiveSequence::unwanted.
///
/// Fairness: places are shared evenly between clients. One that has fewer running sequences comes first, and takes the
/// place of another's youngest if that has two more. The tokens of prompts in a step go to the client that was given
/// the least work so far. Batch work comes after all other: it gets places and tokens that nobody else wants, and gives
/// them up first.
///
/// Pages: a sequence runs once there are pages for all its tokens. If there is none for a sequence that grows, the
/// youngest of the client with the most running ones gives up its own, and is computed again later, except what the
/// tree still has. A sequence whose prompt begins as one that is being computed waits for those pages.
class StepLoop {
 public:
  StepLoop(std::shared_ptr<const StepProgram> program, const StepLoopOptions& options);

  /// Throws invalid_argument for a prompt without tokens, and resource_exhausted for one that the cache cannot hold.
  void add(std::shared_ptr<LiveSequence> sequence);
  bool empty() const { return all_.empty(); }
  /// Ends sequences that nobody wants any more or that are late, then runs one step. An error ends only sequences that
  /// fail by themselves too. Throws cancelled if the options say so; the sequences are as before then.
  void step(const backends::RunOptions& options);
  /// Ends all with this error.
  void end_all(const std::exception_ptr& error);

  StepCounts counts() const;

 private:
  struct Planned {
    LiveSequence* sequence;
    std::size_t end;  // tokens up to it are computed
  };
  enum class Admission { done, later, no_room };

  // step_loop.cpp
  void end_unwanted();
  void end(LiveSequence& sequence, std::exception_ptr error);
  void stop_running(LiveSequence& sequence);
  void publish(LiveSequence& sequence);
  bool keeps_keys(const LiveSequence& sequence) const;
  bool shares_keys(const LiveSequence& sequence) const;
  void leave(LiveSequence& sequence);
  std::int32_t take_page();

  // admission.cpp
  void admit();
  bool admit_of(StepClient& client, std::size_t& refusals, bool& is_full);
  Admission try_admit(LiveSequence& sequence);
  Admission give_pages(LiveSequence& sequence, const PrefixTree::Match& match);
  bool make_room(const StepClient& client);
  bool is_being_computed(std::span<const std::int32_t> known, std::size_t found) const;
  void preempt(LiveSequence& sequence);
  LiveSequence& least_entitled() const;

  // step_plan.cpp
  void plan();
  void hold(LiveSequence& sequence);
  void add_prompts(std::size_t tokens);
  void charge(LiveSequence& sequence, std::size_t begin, std::size_t end) const;

  // step_run.cpp
  void run(const backends::RunOptions& options);
  void compute(std::span<const Planned> planned, const backends::RunOptions& options);
  void forget_written(Planned& planned);

  const std::shared_ptr<const StepProgram> program_;
  const StepLoopOptions options_;
  PageStore store_;
  PrefixTree tree_{store_};
  std::list<std::shared_ptr<LiveSequence>> all_;
  std::list<StepClient> clients_;
  std::vector<LiveSequence*> running_;  // the oldest first
  std::vector<Planned> planned_;
  bool prompts_delay_others_ = false;  // in the planned step
  std::size_t tokens_beside_;
  StepCounts counts_;
};

}  // namespace alate::runtime
