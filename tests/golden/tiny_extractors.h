// The GLiNER2 models that tests/golden/record_extract.py recorded: as folders to load, and what the package gliner2
// extracted with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"

namespace alate::tests {

struct RecordedExtraction {
  std::string schema;  // JSON
  float threshold = 0;
  std::optional<std::size_t> windows;  // tokens of a row
  std::vector<std::size_t> texts;      // indices of those that were read
  std::vector<formats::Json> results;  // of each of these, with scores and places
  std::vector<formats::Json> plain;    // without; of runs without windows
};

struct RecordedExtractor {
  std::vector<std::string> texts;
  std::vector<RecordedExtraction> runs;
};

/// The tokenizer with GLiNER2's markers, numbered from `first` on.
inline std::string with_extraction_markers(std::string tokenizer, std::int64_t first) {
  std::string tokens;
  for (const char* content :
       {"[SEP_STRUCT]", "[SEP_TEXT]", "[P]", "[C]", "[E]", "[R]", "[L]", "[EXAMPLE]", "[OUTPUT]", "[DESCRIPTION]"})
    tokens += ",{\"id\":" + std::to_string(first++) + ",\"content\":\"" + content +
              R"(","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true})";
  return tokenizer.insert(tokenizer.find("],\"normalizer\""), tokens);
}

/// Writes the model `name` into `folder`, and returns what was recorded.
inline RecordedExtractor write_tiny_extractor(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path goldens = source_folder() / "tests/golden",
                              recorded = golden_folder("extractors/" + name);
  const formats::Json json = formats::parse_json(base::read_text_file(recorded / "case_texts.json"), name);
  write_tiny_model(recorded, folder);
  const std::string tokenizer = base::read_text_file(goldens / "tokenizer_corpus" / json.get_string("tokenizer", ""));
  std::ofstream(folder / "tokenizer.json", std::ios::binary)
      << with_extraction_markers(tokenizer, json.get_int("markers", 0));
  RecordedExtractor made;
  for (const formats::Json& text : json.find("texts")->as_array("texts")) made.texts.push_back(text.as_string("text"));
  for (const formats::Json& run : json.find("runs")->as_array("runs")) {
    RecordedExtraction& kept = made.runs.emplace_back();
    kept.schema = formats::to_json_text(*run.find("schema"));
    kept.threshold = static_cast<float>(run.get_double("threshold", 0));
    if (run.find("windows") != nullptr) kept.windows = static_cast<std::size_t>(run.get_int("windows", 0));
    if (const formats::Json* texts = run.find("texts")) {
      for (const formats::Json& index : texts->as_array("texts"))
        kept.texts.push_back(static_cast<std::size_t>(index.as_int("index")));
    } else {
      for (std::size_t i = 0; i < made.texts.size(); ++i) kept.texts.push_back(i);
    }
    kept.results = run.find("results")->as_array("results");
    if (const formats::Json* plain = run.find("plain")) kept.plain = plain->as_array("plain");
  }
  return made;
}

}  // namespace alate::tests
