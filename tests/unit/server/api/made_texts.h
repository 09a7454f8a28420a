// Generated texts for tests of the families' answers, which no model has made.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/models/generation_answer.h"

namespace alate::server {

using Pieces = std::vector<pipelines::AnswerPiece>;

inline pipelines::AnswerPiece text_piece(std::string text) {
  return {.kind = pipelines::AnswerPiece::Kind::text, .text = std::move(text)};
}
inline pipelines::AnswerPiece reasoning_piece(std::string text) {
  return {.kind = pipelines::AnswerPiece::Kind::reasoning, .text = std::move(text)};
}
inline pipelines::AnswerPiece call_piece(std::string tool, std::size_t call = 0) {
  return {.kind = pipelines::AnswerPiece::Kind::tool_call, .call = call, .text = std::move(tool)};
}
inline pipelines::AnswerPiece arguments_piece(std::string text, std::size_t call = 0) {
  return {.kind = pipelines::AnswerPiece::Kind::tool_arguments, .call = call, .text = std::move(text)};
}

/// A text of so many tokens that has ended by itself.
inline MadeText made_text(Pieces pieces, std::size_t tokens = 3) {
  MadeText text;
  text.generation.finish = FinishReason::end_of_sequence;
  text.generation.tokens.resize(tokens);
  for (const pipelines::AnswerPiece& piece : pieces) {
    if (piece.kind == pipelines::AnswerPiece::Kind::tool_call) ++text.calls;
  }
  text.pieces = std::move(pieces);
  return text;
}

inline GenerationTotals some_totals() {
  using std::chrono::nanoseconds;
  return {.prompt_tokens = 12,
          .cached_tokens = 8,
          .made_tokens = 3,
          .total = nanoseconds(50),
          .load = nanoseconds(10),
          .prompt = nanoseconds(15),
          .made = nanoseconds(20)};
}

inline TextProgress progress(std::span<const pipelines::AnswerPiece> pieces) {
  TextProgress made;
  made.pieces = pieces;
  return made;
}
inline TextProgress progress(const pipelines::AnswerPiece& piece) { return progress({&piece, 1}); }

/// An error in the middle of a stream.
inline Problem going_down() {
  Problem problem;
  problem.kind = Problem::Kind::not_ready;
  problem.message = "going down";
  return problem;
}

/// What a stream writes for these pieces, each given by itself, until its text is whole.
inline std::string stream_of(GenerationAnswer& answer, const MadeText& text) {
  std::string out;
  for (const pipelines::AnswerPiece& piece : text.pieces) answer.add(progress(piece), out);
  TextProgress last;
  last.done = &text;
  answer.add(last, out);
  answer.end(some_totals(), out);
  return out;
}

inline std::vector<MadeText> one(MadeText text) {
  std::vector<MadeText> texts;
  texts.push_back(std::move(text));
  return texts;
}

}  // namespace alate::server
