// Answers from logits of tokens, as QuestionAnsweringPipeline of transformers 4.57 finds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "alate/answer.h"
#include "alate/tokenizer.h"
#include "pipelines/calls/call_limits.h"
#include "tokenizers/unicode/grapheme_clusters.h"

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

/// Bytes of answers that are compared with each other in a call. Long ones are rare: where a word has megabytes, or an
/// answer any number of words, thousands of answers repeat them.
class ComparedBytes {
 public:
  /// Throws resource_exhausted.
  void add(std::size_t answer_bytes);

 private:
  std::size_t taken_ = 0;
};

/// The answers of one text, whose windows come one after the other.
class TextAnswers {
 public:
  /// The arguments must outlive it; the text is valid UTF-8.
  TextAnswers(std::string_view text, const QuestionOrder& order, const AnswerOptions& options, ComparedBytes& compared)
      : text_(text), clusters_(text), order_(order), options_(options), compared_(compared) {}

  /// Throws as ComparedBytes.
  void add(const AnswerWindow& window);
  /// The best options.top_k answers, the best first. Their texts are counted before they are cut.
  std::vector<Answer> take(AnswerBudget& budget);

 private:
  void join(Answer answer);
  void prune();
  std::vector<Answer> best(std::size_t count);

  const std::string_view text_;
  const tokenizers::GraphemeClusters clusters_;
  const QuestionOrder& order_;
  const AnswerOptions& options_;
  ComparedBytes& compared_;
  std::vector<Answer> answers_;  // without their texts
  std::unordered_map<std::string, std::size_t> places_;
  std::optional<float> none_;  // the probability of no answer, in the window where it is least likely
};

/// The best options.top_k answers of a text, the best first. Parts with probability 0 are none.
std::vector<Answer> answers_of(std::string_view text, std::span<const AnswerWindow> windows, const QuestionOrder& order,
                               const AnswerOptions& options);

}  // namespace alate::pipelines
