// Texts as rows of words after a prompt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/long_texts.h"
#include "base/threads/cancellation.h"
#include "pipelines/calls/text_model.h"
#include "pipelines/calls/text_rows.h"
#include "pipelines/gliner/text_words.h"

namespace alate::pipelines {

/// What stands around the words of every row.
struct WordPrompt {
  std::vector<std::int32_t> ids = {}, after = {};     // the tokens before a text's words, and after them
  std::vector<std::int32_t> words = {}, labels = {};  // places in `ids`: words of the prompt itself, and labels
  std::vector<std::int32_t> groups = {}, marks = {};  // models::RowWords, of programs that tell tasks apart
};

/// How a model reads words.
struct WordRules {
  std::vector<TextWord> (*split)(std::string_view text) = split_words;
  bool lowers = false;               // words are read in lower case
  bool pools_last = false;           // a word is its last token, not its first
  std::size_t most_words = 0;        // of a row
  std::vector<std::int32_t> period;  // the tokens of a last word for rows that end no sentence; empty: there is none
};

/// A text that is read by words.
struct WordText {
  std::string repaired;         // where the text was not valid UTF-8
  std::vector<TextWord> words;  // without those that the tokenizer makes nothing of
};

struct WordRows {
  TextRows rows;
  std::vector<std::size_t> first_words, word_counts;  // of each row, among the words of its text
  std::vector<WordText> texts;
};

/// A row for each text that has words (for each text, where rows end with a period), or a row for each window. Windows
/// hold at most the words of the rules and at most row_length tokens; they overlap by LongTextOptions::stride tokens, a
/// quarter of a window's by default. Throws invalid_argument for a stride as long as a window, resource_exhausted for
/// too many tokens, cancelled.
WordRows make_word_rows(const TextModel& model, const WordPrompt& prompt, const WordRules& rules,
                        std::span<const std::string_view> texts, const LongTextOptions& long_texts, TokenBudget& budget,
                        const base::Cancellation& cancellation);

}  // namespace alate::pipelines
