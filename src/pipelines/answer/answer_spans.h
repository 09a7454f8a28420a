// Answers from logits of tokens, as QuestionAnsweringPipeline of transformers 4.57 finds them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "alate/answer.h"
#include "alate/tokenizer.h"

namespace alate::pipelines {

/// The question with a part of a text, with offsets, and the logits of its tokens: to be the first and the last of the
/// answer.
struct AnswerWindow {
  const Encoding& encoding;
  std::span<const float> first, last;
};

/// How a tokenizer puts a question and a text together.
struct QuestionOrder {
  bool question_first = true;
  std::optional<std::int32_t> cls_id = {};  // of the token that stands for the whole row

  std::int8_t text_sequence() const { return question_first ? 1 : 0; }  // in Encoding::sequence_ids
};

/// The best options.top_k answers of a text, the best first. Parts with probability 0 are none.
std::vector<Answer> answers_of(std::string_view text, std::span<const AnswerWindow> windows, const QuestionOrder& order,
                               const AnswerOptions& options);

}  // namespace alate::pipelines
