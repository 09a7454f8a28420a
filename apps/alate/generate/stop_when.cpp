#include "apps/alate/generate/stop_when.h"

#include <chrono>
#include <utility>

namespace alate::app {

StopWhen::StopWhen(std::function<bool()> question)
    : question_(std::move(question)), watcher_([this](const std::stop_token& over) {
        while (!over.stop_requested()) {
          if (question_()) source_.request_stop();
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
      }) {}

}  // namespace alate::app
