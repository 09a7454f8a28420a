// A sequence that a caller wants to be continued, and what becomes of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace alate::runtime {

struct StepResult {
  std::exception_ptr error;          // an alate::Error; null if the sequence ended by itself
  std::size_t cached_tokens = 0;     // of the prompt, which others had computed
  std::chrono::nanoseconds queue{};  // until it first had a place in a step
};

/// Its functions are called by the thread that computes, or by threads of the pool on its behalf; one at a time for a
/// sequence. They must be short.
struct StepJob {
  using Clock = std::chrono::steady_clock;

  std::vector<std::int32_t> prompt;  // at least one token
  /// The next token, by the logits of all; nothing if the sequence is at its end. `worker` is below the size of the
  /// shared pool and not used by two calls at the same time, of all sequences: it may index memory for scratch. What it
  /// throws ends the sequence.
  std::function<std::optional<std::int32_t>(std::span<const float> logits, std::size_t worker)> choose;
  /// If set, the logits of the tokens that follow prompt[0], prompt[1] and so on but the last, in order and once each,
  /// before the first `choose`. None of the prompt is taken from others then.
  std::function<void(std::size_t place, std::span<const float> logits)> read_prompt = {};
  std::string client = {};  // each client gets the same share of the places and tokens of steps
  bool is_batch = false;    // gives way to all that are not
  /// From then on the sequence ends with deadline_exceeded: if it has no token yet, and in any case.
  Clock::time_point first_token_by = Clock::time_point::max(), deadline = Clock::time_point::max();
  /// Called once, unless the job is cancelled; must not throw.
  std::function<void(const StepResult&)> done = {};
};

}  // namespace alate::runtime
