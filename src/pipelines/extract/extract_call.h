// A call of a GLiNER2 model: texts and a schema to rows, and numbers to what is in the texts.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "alate/extract.h"
#include "base/threads/cancellation.h"
#include "pipelines/calls/call_limits.h"
#include "pipelines/calls/task_run.h"
#include "pipelines/calls/text_model.h"
#include "pipelines/calls/text_rows.h"
#include "pipelines/extract/read_values.h"
#include "pipelines/extract/schema_prompt.h"
#include "pipelines/gliner/word_rows.h"
#include "runtime/batching/batch_program.h"

namespace alate::pipelines {

/// `model` and `extractor` must outlive it.
class ExtractCall {
 public:
  /// Throws invalid_argument as check_schema.
  ExtractCall(const TextModel& model, const Extractor& extractor, ExtractSchema schema);

  /// What computes its rows: of the first instances only, where the schema has nothing else.
  std::shared_ptr<const runtime::BatchProgram> program() const;
  /// Of the next texts. Throws as make_schema_prompt and make_word_rows.
  TextRows make_rows(std::span<const std::string_view> texts, const LongTextOptions& long_texts, TokenBudget& budget,
                     const base::Cancellation& cancellation);
  /// Reads the rows of a piece and gives `each` what every text that ends in it has. `texts` are all of the call.
  /// Values are counted before they are cut.
  void take(const RowResults& results, std::span<const std::string_view> texts, float threshold, AnswerBudget& budget,
            const std::function<void(std::size_t text, Extraction found)>& each);

 private:
  std::size_t instances() const;

  const TextModel& model_;
  const Extractor& extractor_;
  ExtractSchema schema_;
  SchemaPrompt prompt_;
  std::vector<WordText> texts_;
  std::vector<std::size_t> first_words_, row_words_;  // of each row
  // Of the text whose rows are not all read yet.
  std::vector<ReadRow> rows_;
  std::size_t row_spans_ = 0;
};

}  // namespace alate::pipelines
