// A sequence of a StepLoop, and the clients that sequences belong to.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/decoding/step_job.h"

namespace alate::runtime {

struct StepClient;

/// It waits, without pages, or runs: then it has pages for all its tokens.
struct LiveSequence {
  explicit LiveSequence(StepJob of) : job(std::move(of)), ids(std::move(job.prompt)), prompt(ids.size()) {}

  StepJob job;
  std::atomic<bool> unwanted = false;  // set by any thread

  std::vector<std::int32_t> ids, pages;
  std::size_t prompt;      // its tokens
  std::size_t cached = 0;  // tokens whose keys and values are in the pages
  std::size_t kept = 0;    // of these, those that the tree has
  std::size_t read = 0;    // tokens of the prompt that `read_prompt` has seen
  bool is_running = false;
  StepClient* client = nullptr;
  std::list<std::shared_ptr<LiveSequence>>::iterator place;

  StepResult result;
  StepJob::Clock::time_point submitted = StepJob::Clock::now();
  bool has_begun = false;

  /// Tokens to compute before the next one can be chosen.
  std::size_t rest() const { return ids.size() - cached; }
  bool reads_prompt() const { return job.read_prompt && read + 1 < prompt; }
  bool is_late(StepJob::Clock::time_point now) const {
    return job.deadline <= now || (ids.size() == prompt && job.first_token_by <= now);
  }
};

/// The sequences of one client that are batch work, or those that are not.
struct StepClient {
  std::string name;
  bool is_batch = false;
  std::list<LiveSequence*> waiting = {};  // the next one first
  std::size_t running = 0;
  std::uint64_t work = 0;  // that its sequences were given, since it came (batch_work.h)
};

}  // namespace alate::runtime
