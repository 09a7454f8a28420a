// Takes an answer apart as it comes: text, reasoning, calls of tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace alate::pipelines {

/// How answers to a prompt are written: the family's format of tool calls, and whether the prompt has begun the
/// reasoning. Immutable; answer_syntax.h.
class AnswerSyntax;

struct AnswerPiece {
  enum class Kind : std::uint8_t {
    text,
    reasoning,
    tool_call,       // a call begins; `text` is the tool's name
    tool_arguments,  // a part of the JSON text of its arguments
  };
  Kind kind = Kind::text;
  std::size_t call = 0;  // the number of the tool call in the answer
  std::string text;
};

/// Of one answer. Not thread-safe.
class AnswerParser {
 public:
  /// Without a syntax all is text.
  explicit AnswerParser(std::shared_ptr<const AnswerSyntax> syntax);
  ~AnswerParser();
  AnswerParser(AnswerParser&&) noexcept;
  AnswerParser& operator=(AnswerParser&&) noexcept;

  /// Appends what is certain now.
  void add(std::string_view text, std::vector<AnswerPiece>& pieces);
  /// The answer has ended: what could have become something else is text. A call that was cut off stays cut off.
  void finish(std::vector<AnswerPiece>& pieces);
  std::size_t calls() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace alate::pipelines
