// The models for token classification that tests/golden/record_recognize.py recorded: as folders to load, and the
// entities that transformers' pipeline found with them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "alate/recognize.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"

namespace alate::tests {

constexpr std::size_t kRecognizerLength = 24;  // in tokens: the longest row when the entities were recorded

struct RecordedRun {
  Aggregation aggregation = Aggregation::none;
  std::optional<std::size_t> stride;          // of windows; absent: texts were cut
  std::vector<std::vector<Entity>> entities;  // of each text, without those of the label "O"; `text` is not recorded
};

struct RecordedRecognizer {
  std::vector<std::string> texts;
  std::vector<RecordedRun> runs;
};

/// Writes the model `name` ("word_piece", "byte_level", "sentence_piece") into `folder`, and returns what was recorded.
inline RecordedRecognizer write_tiny_recognizer(const std::filesystem::path& folder,
                                                const std::string& name = "word_piece") {
  const std::filesystem::path goldens = source_folder() / "tests/golden",
                              recorded = golden_folder("recognizers/" + name);
  const formats::Json json = formats::parse_json(base::read_text_file(recorded / "case_texts.json"), name);
  write_tiny_model(recorded, folder);
  std::filesystem::copy(goldens / "tokenizer_corpus" / json.get_string("tokenizer", ""), folder / "tokenizer.json");
  RecordedRecognizer made;
  for (const formats::Json& text : json.find("texts")->as_array("texts")) made.texts.push_back(text.as_string("text"));
  for (const formats::Json& run : json.find("runs")->as_array("runs")) {
    RecordedRun& kept = made.runs.emplace_back();
    kept.aggregation = parse_aggregation(run.get_string("aggregation", "")).value();
    if (const formats::Json* stride = run.find("stride"); !stride->is_null())
      kept.stride = static_cast<std::size_t>(stride->as_int("stride"));
    for (const formats::Json& row : run.find("entities")->as_array("entities")) {
      std::vector<Entity>& entities = kept.entities.emplace_back();
      for (const formats::Json& each : row.as_array("row")) {
        const formats::Json::Array& fields = each.as_array("entity");
        if (fields[0].as_string("label") == "O") continue;
        Entity& entity = entities.emplace_back();
        entity.label = fields[0].as_string("label");
        entity.start = static_cast<std::size_t>(fields[1].as_int("start"));
        entity.end = static_cast<std::size_t>(fields[2].as_int("end"));
        entity.score = static_cast<float>(fields[3].as_double("score"));
        entity.word = fields[4].as_string("word");
        if (fields.size() > 5) entity.token = static_cast<std::size_t>(fields[5].as_int("index"));
      }
    }
  }
  return made;
}

}  // namespace alate::tests
