// The GLiNER models that tests/golden/record_gliner.py recorded: as folders to load, and the entities that the package
// gliner found with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "alate/recognize.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"

namespace alate::tests {

struct RecordedGlinerRun {
  RecognizeOptions options;
  std::vector<std::vector<Entity>> entities;  // of each text: label, start, end and score
};

struct RecordedGliner {
  std::vector<std::string> texts;
  std::vector<RecordedGlinerRun> runs;
};

/// The tokenizer with GLiNER's markers, numbered from `first` on.
inline std::string with_gliner_markers(std::string tokenizer, std::int64_t first) {
  std::string tokens;
  for (const char* content : {"[FLERT]", "<<ENT>>", "<<SEP>>"})
    tokens += ",{\"id\":" + std::to_string(first++) + ",\"content\":\"" + content +
              R"(","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true})";
  return tokenizer.insert(tokenizer.find("],\"normalizer\""), tokens);
}

/// Writes the model `name` into `folder`, and returns what was recorded.
inline RecordedGliner write_tiny_gliner(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path goldens = source_folder() / "tests/golden", recorded = golden_folder("gliner/" + name);
  const formats::Json json = formats::parse_json(base::read_text_file(recorded / "case_texts.json"), name);
  write_tiny_model(recorded, folder);
  std::string tokenizer = base::read_text_file(goldens / "tokenizer_corpus" / json.get_string("tokenizer", ""));
  if (const formats::Json* first = json.find_value("markers"))
    tokenizer = with_gliner_markers(std::move(tokenizer), first->as_int("markers"));
  std::ofstream(folder / "tokenizer.json", std::ios::binary) << tokenizer;
  RecordedGliner made;
  for (const formats::Json& text : json.find("texts")->as_array("texts")) made.texts.push_back(text.as_string("text"));
  for (const formats::Json& run : json.find("runs")->as_array("runs")) {
    RecordedGlinerRun& kept = made.runs.emplace_back();
    for (const formats::Json& label : run.find("labels")->as_array("labels"))
      kept.options.labels.push_back(label.as_string("label"));
    kept.options.threshold = static_cast<float>(run.get_double("threshold", 0));
    kept.options.nested = run.get_bool("nested", false);
    kept.options.multi_label = run.get_bool("multi_label", false);
    const formats::Json* windows = run.find_value("windows");
    kept.options.long_texts.treatment = windows != nullptr ? LongTexts::windows : LongTexts::cut;
    if (windows != nullptr) kept.options.long_texts.max_length = static_cast<std::size_t>(windows->as_int("windows"));
    for (const formats::Json& row : run.find("entities")->as_array("entities")) {
      std::vector<Entity>& entities = kept.entities.emplace_back();
      for (const formats::Json& each : row.as_array("row")) {
        const formats::Json::Array& fields = each.as_array("entity");
        Entity& entity = entities.emplace_back();
        entity.label = fields[0].as_string("label");
        entity.start = static_cast<std::size_t>(fields[1].as_int("start"));
        entity.end = static_cast<std::size_t>(fields[2].as_int("end"));
        entity.score = static_cast<float>(fields[3].as_double("score"));
      }
    }
  }
  return made;
}

}  // namespace alate::tests
