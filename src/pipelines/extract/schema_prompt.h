// GLiNER2's prompt: a schema, before the words of a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "alate/extract.h"
#include "base/threads/cancellation.h"
#include "models/heads/extractor_config.h"
#include "pipelines/calls/text_model.h"
#include "pipelines/gliner/word_rows.h"

namespace alate::pipelines {

/// The tokens of the prompt, besides those of its texts.
struct SchemaMarkers {
  std::int32_t task = 0, field = 0, entity = 0, relation = 0, label = 0;  // [P], [C], [E], [R], [L]
  std::int32_t next_task = 0, text = 0;                                   // [SEP_STRUCT], [SEP_TEXT]
  std::vector<std::int32_t> all = {};                                     // and those within texts of the prompt
};

/// What is known of a GLiNER2 model besides its graph.
struct Extractor {
  models::ExtractorConfig config;
  SchemaMarkers markers;
  std::vector<std::int32_t> period;
};

/// Throws corrupt for a tokenizer that cannot be that of the model.
Extractor read_extractor(const TextModel& model);

/// A task of the prompt: a structure, all entities, a relation or a classification.
struct PromptTask {
  std::size_t mark = 0;         // of its [P] among the row's marks; those of a classification's labels follow
  std::size_t first_label = 0;  // of its fields among the row's labels; not of a classification
};

struct SchemaPrompt {
  WordPrompt around;
  std::vector<PromptTask> structures, relations, classifications;  // as in the schema
  PromptTask entities;
  /// Of each structure, field and choice: the choice's place among the prompt's words.
  std::vector<std::vector<std::vector<std::size_t>>> choices;
};

/// Throws invalid_argument for texts of the schema with a marker in them, for a choice that the tokenizer makes nothing
/// of, and for a schema that would take more than half of a row of `row_length` tokens.
SchemaPrompt make_schema_prompt(const TextModel& model, const Extractor& extractor, const ExtractSchema& schema,
                                std::size_t row_length, const base::Cancellation& cancellation);

}  // namespace alate::pipelines
