// A download's progress in the lines that Ollama's clients read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/exchange/exchange.h"
#include "server/pulls/pulls.h"

namespace alate::server {

/// Writes what has changed since the last line of each file, so that nothing waits for a client that reads slowly but
/// the newest state. Belongs to one thread.
class PullLines {
 public:
  explicit PullLines(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}

  /// Begins the answer with the first state. False when the last line has been written or the client has gone.
  bool tell(const PullState& state);

 private:
  enum class Said { yes, later, gone };
  struct Shown {
    std::uint64_t bytes = 0;
    bool is_done = false;
  };

  Said say_state(const PullState& state);
  Said say_end(const PullState& state);
  Said say_status(std::string_view status);
  Said say(std::string line);
  void begin();

  const std::shared_ptr<Exchange> exchange_;
  AnswerWriter writer_;
  bool begun_ = false;
  std::size_t steps_ = 0;     // lines said that belong to no file
  std::vector<Shown> shown_;  // what the client has been told of each file
  std::string last_;
  std::chrono::steady_clock::time_point last_said_;
};

}  // namespace alate::server
