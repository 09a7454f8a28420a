// A bound on the work of compiling a grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "base/threads/cancellation.h"

namespace alate::generation {

/// Counts the steps of compiling one grammar: about 10 ns each.
class CompileBudget {
 public:
  static constexpr std::uint64_t kMostSteps = 30'000'000;

  explicit CompileBudget(base::Cancellation cancellation) : cancellation_(cancellation) {}

  /// What is being compiled, for errors.
  void set_what(std::string_view what) { what_ = what; }
  const std::string& what() const { return what_; }

  /// Throws invalid_argument when the grammar takes too many steps; cancelled.
  void spend(std::uint64_t steps) {
    spent_ += steps;
    if (spent_ < next_question_) return;
    cancellation_.check();
    if (spent_ > kMostSteps) refuse("takes too long to compile");
    next_question_ = spent_ + kStepsBetweenQuestions;
  }
  /// Throws invalid_argument: the grammar is too large because it `does`.
  [[noreturn]] void refuse(std::string_view does) const {
    throw make_error(ErrorCode::invalid_argument, what_, " ", does,
                     ": ask for fewer alternatives, smaller repetitions or less nesting");
  }

 private:
  static constexpr std::uint64_t kStepsBetweenQuestions = 100'000;

  base::Cancellation cancellation_;
  std::string what_ = "the grammar";
  std::uint64_t spent_ = 0, next_question_ = kStepsBetweenQuestions;
};

}  // namespace alate::generation
