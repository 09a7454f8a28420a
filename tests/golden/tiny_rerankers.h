// The cross-encoders that tests/golden/record_rerank.py recorded: as folders to load, and what transformers made of
// them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"

namespace alate::tests {

inline std::filesystem::path recorded_rerankers() { return source_folder() / "tests/golden/rerankers"; }

/// Writes the model `name` ("bert", "roberta") into `folder`.
inline void write_tiny_reranker(const std::filesystem::path& folder, const std::string& name = "bert") {
  write_tiny_model(golden_folder("rerankers/" + name), folder);
}

/// A query and texts; all lists have an entry for each text, but `truncated`, which has indices.
struct RecordedRanking {
  std::string query;
  std::vector<std::string> texts;
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<float> logits;
  std::vector<std::size_t> truncated;
  std::size_t tokens = 0;
};

inline RecordedRanking read_ranking(const std::filesystem::path& file) {
  const formats::Json json = formats::parse_json(base::read_text_file(file), file.string());
  RecordedRanking recorded;
  recorded.query = json.get_string("query", "");
  for (const formats::Json& text : json.find("texts")->as_array("texts"))
    recorded.texts.push_back(text.as_string("text"));
  for (const formats::Json& row : json.find("input_ids")->as_array("input_ids")) {
    recorded.ids.emplace_back();
    for (const formats::Json& id : row.as_array("row"))
      recorded.ids.back().push_back(static_cast<std::int32_t>(id.as_int("id")));
    recorded.tokens += recorded.ids.back().size();
  }
  for (const formats::Json& logit : json.find("logits")->as_array("logits"))
    recorded.logits.push_back(static_cast<float>(logit.as_double("logit")));
  for (const formats::Json& index : json.find("truncated")->as_array("truncated"))
    recorded.truncated.push_back(static_cast<std::size_t>(index.as_int("index")));
  return recorded;
}

/// The case of the tiny BERT with texts of all kinds.
inline RecordedRanking recorded_ranking() { return read_ranking(golden_folder("rerankers/bert") / "case_texts.json"); }

}  // namespace alate::tests
