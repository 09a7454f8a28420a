// Extractive question answering: the part of a text that answers a question.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/long_texts.h"
#include "alate/model.h"
#include "alate/run_control.h"
#include "alate/tokenizer.h"

namespace alate {

struct AnswerOptions {
  std::size_t top_k = 1;               // at most so many answers of each text, up to 1000
  std::size_t max_answer_length = 15;  // in tokens
  // Whether a text may have no answer, for models that were trained with such questions: the empty answer is then one
  // of the answers.
  bool no_answer = false;
  bool align_to_words = true;  // answers begin and end with words; false: with tokens
  // Without a treatment a text is read in windows; without a max_length windows have at most 384 tokens, with the
  // question, and without a stride they share 128 tokens, or half of max_length if that is less, as in transformers.
  LongTextOptions long_texts = {};
  std::size_t batch_tokens = 2048;  // maximum tokens per batch; a longer row is a batch of its own
  std::size_t batch_size = 0;       // maximum rows per batch; 0: limited only by batch_tokens
};

/// A part of a text that answers the question, or an empty part at its beginning: no answer.
struct Answer {
  std::string text;                          // from the original text, after invalid UTF-8 has become U+FFFD
  std::size_t start = 0, end = 0;            // code points of the text
  std::size_t byte_start = 0, byte_end = 0;  // bytes of it
  // The probability of the part, added up over all parts and windows with the same words, so that it may exceed 1 where
  // windows share the answer.
  float score = 0;
};

/// Entry i is that of text i, however the texts were batched.
struct Answers {
  std::vector<std::vector<Answer>> texts;  // of each text, the best answer first; an empty text has none
  std::vector<std::size_t> truncated;      // indices of the texts that were cut, ascending
  std::size_t tokens = 0;                  // computed tokens, special ones and those of the questions included
};

/// A tokenizer and an encoder with a head for question answering. Immutable; thread-safe; copies share state.
class AnswerPipeline {
 public:
  /// A folder whose config.json names a …ForQuestionAnswering. Throws as Model::load, and unsupported for other models
  /// and for ONNX files.
  static AnswerPipeline load(const std::filesystem::path& folder, const LoadOptions& options = {},
                             const RunControl& control = {});

  /// Asks each text the question, as QuestionAnsweringPipeline of transformers 4.57. Throws invalid_argument for an
  /// empty question and one that leaves no room for a text, for options that the model cannot meet and for a text that
  /// is too long where that is an error; cancelled, deadline_exceeded. The texts must live until the call returns.
  Answers answer(std::string_view question, std::span<const std::string_view> texts, const AnswerOptions& options = {},
                 const RunControl& control = {}) const;
  Answers answer(std::string_view question, std::span<const std::string> texts, const AnswerOptions& options = {},
                 const RunControl& control = {}) const;
  Answers answer(std::string_view question, std::initializer_list<std::string_view> texts,
                 const AnswerOptions& options = {}, const RunControl& control = {}) const {
    return answer(question, std::span<const std::string_view>(texts.begin(), texts.size()), options, control);
  }

  std::size_t max_length() const;  // in tokens, with special tokens
  const Tokenizer& tokenizer() const;
  const Model& model() const;
  const ModelFacts& facts() const;

  struct State;
  explicit AnswerPipeline(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace alate
