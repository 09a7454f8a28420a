// A call of a GLiNER model: texts and labels to rows, and scores to entities.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/recognize.h"
#include "base/threads/cancellation.h"
#include "pipelines/calls/call_limits.h"
#include "pipelines/calls/task_run.h"
#include "pipelines/calls/text_model.h"
#include "pipelines/calls/text_rows.h"
#include "pipelines/gliner/label_prompt.h"
#include "pipelines/gliner/span_choice.h"
#include "pipelines/gliner/word_rows.h"

namespace alate::pipelines {

/// `model`, `gliner` and the texts must outlive it.
class GlinerCall {
 public:
  GlinerCall(const TextModel& model, const Gliner& gliner) : model_(model), gliner_(gliner) {}

  /// Of the next texts. Throws as make_prompt and make_word_rows.
  TextRows make_rows(std::span<const std::string_view> texts, const RecognizeOptions& options, TokenBudget& budget,
                     const base::Cancellation& cancellation);
  /// Reads the rows of a piece; `entities` gets those of the texts that end in it. `texts` are all of the call. Texts
  /// of entities are counted before they are cut.
  void take(const RowResults& results, std::span<const std::string_view> texts, const RecognizeOptions& options,
            AnswerBudget& budget, std::vector<std::vector<Entity>>& entities);

 private:
  const TextModel& model_;
  const Gliner& gliner_;
  LabelPrompt prompt_;
  std::vector<WordText> texts_;
  std::vector<std::size_t> first_words_, row_words_;  // of each row
  std::vector<ScoredSpan> spans_;                     // of the text whose rows are not all read yet
};

}  // namespace alate::pipelines
