// A stop token that follows a question.
#pragma once

#include <functional>
#include <stop_token>
#include <thread>

namespace alate::app {

/// Asks the question every few milliseconds, on a thread of its own, and requests a stop once it is true.
class StopWhen {
 public:
  explicit StopWhen(std::function<bool()> question);
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::function<bool()> question_;
  std::stop_source source_;
  std::jthread watcher_;  // ends first
};

}  // namespace alate::app
