// The part of an answer that models write to themselves, between <think> and </think>.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace alate::pipelines {

/// Splits an answer that comes in pieces. Blanks before and after the tags belong to neither part. Only what stands at
/// the beginning of the answer is reasoning: later tags are text. Not thread-safe.
class ReasoningSplit {
 public:
  using Sink = std::function<void(std::string_view)>;

  /// `prompt` is the rendered conversation: templates may write the opening tag themselves. Either sink may be empty.
  ReasoningSplit(std::string_view prompt, Sink text, Sink reasoning);

  void add(std::string_view piece);
  /// The answer has ended: what might have become a tag is text.
  void finish();

  const std::string& text() const { return text_; }
  const std::string& reasoning() const { return reasoning_; }

 private:
  enum class Part { before, reasoning, gap, text };
  void give_text(std::string_view piece);
  void give_reasoning(std::string_view piece);
  /// Takes what is certain from `held_`; whether there may be more.
  bool step(bool is_end);

  Part part_ = Part::before;
  Sink on_text_, on_reasoning_;
  std::string held_, text_, reasoning_;
};

}  // namespace alate::pipelines
