// What ends a computation before it is done.
#pragma once

namespace alate {

/// The question whether a computation is still wanted. It has no default: what begins a run says what ends it early, or
/// that nothing does. Cheap to copy and to ask. A view: the question that answers it must outlive the computation, be
/// callable from several threads at a time, and stay at yes once it says so.
class Cancellation {
 public:
  /// Of a computation that always goes on to its end.
  static Cancellation never() noexcept { return {nullptr, nullptr}; }
  /// Of a computation that is unwanted once `question()` is true.
  template <typename Question>
  static Cancellation when(const Question& question) noexcept {
    return {[](const void* asked) { return static_cast<bool>((*static_cast<const Question*>(asked))()); }, &question};
  }
  template <typename Question>
  static Cancellation when(const Question&& question) = delete;  // it would be gone before it is asked

  bool is_possible() const noexcept { return ask_ != nullptr; }
  bool is_requested() const { return ask_ != nullptr && ask_(question_); }
  /// Throws cancelled when it is requested.
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

/// How a caller of the library wants one call of it.
struct CallOptions {
  /// Calls of the library go on to their end where their caller names nothing else. Inside of it there is no default.
  Cancellation cancellation = Cancellation::never();
};

}  // namespace alate
