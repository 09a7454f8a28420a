// The names of a model's labels, by config.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/json.h"

namespace alate::pipelines {

/// How many labels config.json says the model has: as transformers counts them, those of id2label, else num_labels;
/// else those of label2id, else two. Throws invalid_argument for a num_labels that is no number.
std::int64_t stated_label_count(const formats::Json& config);

/// The names of labels 0 to `count` - 1: of id2label, else of label2id, else LABEL_0 and so on.
std::vector<std::string> label_names(const formats::Json& config, std::size_t count);

/// Both tables, of which config.json may have one; the other is then made of it, and without either the labels have no
/// names.
struct LabelTables {
  formats::Json id2label, label2id;
};
LabelTables label_tables(const formats::Json& config);

/// Warns where id2label and label2id, or id2label and num_labels, say different things. id2label counts.
void warn_of_differing_labels(const formats::Json& config);

}  // namespace alate::pipelines
