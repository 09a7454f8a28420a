// The greedy tokens that transformers gives for tiny decoders (record_greedy.py), and these models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/safetensors/safetensors_writer.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {

using TokenIds = std::vector<std::int32_t>;

struct RecordedGreedy {
  std::string model;
  formats::Json::Object config;
  formats::Json weights;  // as a shapes.json; null: `model` is one of tests/golden/architectures
  std::vector<TokenIds> prompts, ids;
};

inline std::vector<TokenIds> greedy_rows(const formats::Json& json, const char* name) {
  std::vector<TokenIds> rows;
  for (const formats::Json& row : json.find(name)->as_array(name)) {
    TokenIds& ids = rows.emplace_back();
    for (const formats::Json& id : row.as_array(name)) ids.push_back(static_cast<std::int32_t>(id.as_int(name)));
  }
  return rows;
}

inline const std::vector<RecordedGreedy>& recorded_greedy() {
  static const std::vector<RecordedGreedy> all = [] {
    const formats::Json json =
        formats::parse_json(base::read_text_file(source_folder() / "tests/golden/greedy.json"), "greedy.json");
    std::vector<RecordedGreedy> read;
    for (const formats::Json& each : json.as_array("greedy.json"))
      read.push_back({each.get_string("model", ""), each.find("config")->as_object("config"),
                      each.find("shapes") == nullptr ? formats::Json() : each, greedy_rows(each, "prompts"),
                      greedy_rows(each, "ids")});
    return read;
  }();
  return all;
}

// Where the model of a recording is written, with its settings.
inline std::filesystem::path write_greedy_model(const base::TemporaryFolder& folder, const RecordedGreedy& of) {
  std::filesystem::path model = folder.path() / "model";
  if (!of.weights.is_null()) {
    std::filesystem::create_directories(model);
    folder.write("model/config.json", formats::to_json_text(of.config));
    formats::write_safetensors(model / "model.safetensors", tiny_tensors(of.weights), {{"format", "pt"}});
    return model;
  }
  write_tiny_model(golden_folder("architectures/" + of.model), model);
  formats::Json::Object config =
      formats::parse_json(base::read_text_file(model / "config.json"), "config.json").as_object("config.json");
  for (const auto& [name, value] : of.config) {
    std::erase_if(config, [&](const auto& member) { return member.first == name; });
    config.emplace_back(name, value);
  }
  folder.write("model/config.json", formats::to_json_text(config));
  return model;
}

}  // namespace alate::tests
