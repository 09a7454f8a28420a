// Cancellation of a computation before it finishes.
#pragma once

namespace alate::base {

/// A query for whether a computation should stop early. It has no default: code that starts a run states what cancels
/// it, or that nothing does. Cheap to copy and to ask. A non-owning view: the question (a callable) must outlive the
/// computation, be callable from several threads at once, and stay true once it has returned true.
class Cancellation {
 public:
  /// Never requested: the computation always runs to completion.
  static Cancellation never() noexcept { return {nullptr, nullptr}; }
  /// Requested once `question()` is true.
  template <typename Question>
  static Cancellation when(const Question& question) noexcept {
    return {[](const void* asked) { return static_cast<bool>((*static_cast<const Question*>(asked))()); }, &question};
  }
  template <typename Question>
  static Cancellation when(const Question&& question) = delete;  // a temporary would be gone before it is asked

  bool is_possible() const noexcept { return ask_ != nullptr; }
  bool is_requested() const { return ask_ != nullptr && ask_(question_); }
  /// Throws cancelled if requested.
  void check() const {
    if (is_requested()) throw_cancelled();
  }
  [[noreturn]] static void throw_cancelled();

 private:
  using Ask = bool (*)(const void*);
  Cancellation(Ask ask, const void* question) noexcept : ask_(ask), question_(question) {}

  Ask ask_;
  const void* question_;
};

}  // namespace alate::base
