#include "base/threads/controlled_call.h"

#include <chrono>

namespace alate::base {

bool ControlledCall::Question::operator()() const {
  if (control->stop.stop_requested()) return true;
  return control->deadline && std::chrono::steady_clock::now() >= *control->deadline;
}

void ControlledCall::report(const Progress& progress) const {
  if (!control_.progress) return;
  try {
    control_.progress(progress);
  } catch (...) {
    throw ThrownByCaller{std::current_exception()};
  }
}

std::function<void(std::size_t)> ControlledCall::computed_of(std::size_t total) const {
  if (!is_watched()) return {};
  report({.stage = Progress::Stage::computing, .done = 0, .total = total});
  return [this, total, done = std::size_t{0}](std::size_t more) mutable {
    done += more;
    report({.stage = Progress::Stage::computing, .done = done, .total = total});
  };
}

bool ControlledCall::is_late() const {
  return !control_.stop.stop_requested() && control_.deadline && std::chrono::steady_clock::now() >= *control_.deadline;
}

}  // namespace alate::base
