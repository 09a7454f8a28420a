// Texts as rows of words after a prompt.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/long_texts.h"
#include "base/threads/cancellation.h"
#include "pipelines/gliner/label_prompt.h"
#include "pipelines/gliner/text_words.h"
#include "pipelines/text_model.h"
#include "pipelines/text_rows.h"

namespace alate::pipelines {

/// A text that is read by words.
struct WordText {
  std::string repaired;         // where the text was not valid UTF-8
  std::vector<TextWord> words;  // without those that the tokenizer makes nothing of
};

struct WordRows {
  TextRows rows;
  std::vector<std::size_t> first_words;  // of each row, among the words of its text
  std::vector<WordText> texts;
};

/// A row for each text that has words, or a row for each window. Windows hold at most the model's words and at most
/// row_length tokens; they overlap by LongTextOptions::stride tokens, a quarter of a window's by default. Throws
/// invalid_argument for a stride as long as a window, resource_exhausted for too many windows or scores, cancelled.
WordRows make_word_rows(const TextModel& model, const Gliner& gliner, const LabelPrompt& prompt,
                        std::span<const std::string_view> texts, const LongTextOptions& long_texts,
                        const base::Cancellation& cancellation);

}  // namespace alate::pipelines
