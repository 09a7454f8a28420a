// One rendering of a template, as values, methods and filters see it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "tokenizers/chat_templates/values/budget.h"
#include "tokenizers/chat_templates/values/object.h"
#include "tokenizers/chat_templates/values/value.h"

namespace alate::tokenizers::chat_templates {

/// Not thread-safe. Errors are invalid_argument with the template's line; resource_exhausted for a template that does
/// too much.
class Rendering {
 public:
  class Nesting;
  using Clock = std::chrono::system_clock;

  /// `what` names the template in errors and must outlive it. `budget` must outlive all values. `now` is what
  /// strftime_now sees.
  Rendering(std::string_view what, Budget& budget, Clock::time_point now) : what_(what), budget_(budget), now_(now) {}
  ~Rendering();
  Rendering(const Rendering&) = delete;
  Rendering& operator=(const Rendering&) = delete;

  Budget& budget() { return budget_; }
  Clock::time_point now() const { return now_; }
  /// The line that is being rendered, for errors.
  void set_line(std::uint32_t line) { line_ = line; }

  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw make_error(ErrorCode::invalid_argument, what_, ", line ", line_, ": ", parts...);
  }
  [[noreturn]] void fail_limit(std::string_view message) const {
    throw make_error(ErrorCode::resource_exhausted, what_, ", line ", line_, ": ", message);
  }

  Value call(const Value& callee, Arguments arguments);

  /// Keeps an object that may refer to others in a circle until the rendering ends.
  template <typename T>
  std::shared_ptr<T> keep(std::shared_ptr<T> object) {
    budget_.work(4);
    kept_.push_back(object);
    return object;
  }
  /// Lets go of an object that only its maker and the rendering have, if it was kept last.
  template <typename T>
  void let_go(const std::shared_ptr<T>& object) {
    if (kept_.empty() || kept_.back() != object || object.use_count() != 2) return;
    object->release();
    kept_.pop_back();
  }

 private:
  std::string_view what_;
  Budget& budget_;
  Clock::time_point now_;
  std::uint32_t line_ = 1;
  int depth_ = 0;
  std::vector<std::shared_ptr<Object>> kept_;
};

/// Bounds the recursion of evaluation.
class Rendering::Nesting {
 public:
  explicit Nesting(Rendering& run) : run_(run) {
    if (++run_.depth_ > kMaxDepth) run_.fail_limit("calls and expressions nest too deeply");
  }
  ~Nesting() { --run_.depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  static constexpr int kMaxDepth = 2000;
  Rendering& run_;
};

}  // namespace alate::tokenizers::chat_templates
