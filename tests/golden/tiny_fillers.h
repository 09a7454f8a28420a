// The masked language models that tests/golden/record_fill.py recorded: as folders to load, and the tokens that
// transformers' pipeline found with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "alate/fill.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"

namespace alate::tests {

struct RecordedFills {
  FillOptions options;
  std::vector<std::vector<std::vector<Fill>>> fills;  // of each text and mask
};

struct RecordedFiller {
  std::vector<std::string> texts;
  std::vector<RecordedFills> runs;
};

/// Of one mask: [id, score, token, text] each.
inline std::vector<Fill> recorded_fills(const formats::Json& mask) {
  std::vector<Fill> fills;
  for (const formats::Json& each : mask.as_array("mask")) {
    const formats::Json::Array& fields = each.as_array("fill");
    fills.push_back({.id = static_cast<std::int32_t>(fields[0].as_int("id")),
                     .token = fields[2].as_string("token"),
                     .score = static_cast<float>(fields[1].as_double("score")),
                     .text = fields[3].as_string("text")});
  }
  return fills;
}

/// Writes the model `name` ("tied", "byte_level" and so on) into `folder`, and returns what was recorded.
inline RecordedFiller write_tiny_filler(const std::filesystem::path& folder, const std::string& name = "tied") {
  const std::filesystem::path goldens = source_folder() / "tests/golden", recorded = golden_folder("fillers/" + name);
  const formats::Json json = formats::parse_json(base::read_text_file(recorded / "case_texts.json"), name);
  write_tiny_model(recorded, folder);
  std::filesystem::copy(goldens / "tokenizer_corpus" / json.get_string("tokenizer", ""), folder / "tokenizer.json");
  RecordedFiller made;
  for (const formats::Json& text : json.find("texts")->as_array("texts")) made.texts.push_back(text.as_string("text"));
  for (const formats::Json& run : json.find("runs")->as_array("runs")) {
    RecordedFills& kept = made.runs.emplace_back();
    kept.options.top_k = static_cast<std::size_t>(run.get_int("top_k", 5));
    if (const formats::Json* targets = run.find_value("targets")) {
      for (const formats::Json& target : targets->as_array("targets"))
        kept.options.targets.push_back(target.as_string("target"));
    }
    for (const formats::Json& text : run.find("fills")->as_array("fills")) {
      auto& masks = kept.fills.emplace_back();
      for (const formats::Json& mask : text.as_array("text")) masks.push_back(recorded_fills(mask));
    }
  }
  return made;
}

}  // namespace alate::tests
