// What GLiNER and GLiNER2 models are asked and set to. The first byte says which the rest is: 's' a schema, which
// becomes the prompt of a tiny model; 'l' labels, a line each; 'c' a GLiNER2 model's config.json; 'g' a
// gliner_config.json; 'w' a text that is separated into words. A prompt's places are inside of it, and words follow
// each other in the text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "alate/extract.h"
#include "formats/json.h"
#include "models/heads/extractor_config.h"
#include "models/heads/gliner_config.h"
#include "pipelines/extract/extract_run.h"
#include "pipelines/extract/schema_prompt.h"
#include "pipelines/gliner/extraction_words.h"
#include "pipelines/gliner/label_prompt.h"
#include "pipelines/gliner/text_words.h"
#include "pipelines/recognize/recognize_run.h"
#include "tests/golden/tiny_extractors.h"
#include "tests/golden/tiny_gliner.h"
#include "tokenizers/unicode/utf8.h"

using namespace alate;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kRow = 512;  // tokens

// Loaded once.
struct Models {
  Models() {
    std::string pattern = (fs::temp_directory_path() / "alate-fuzz-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    const fs::path folder = pattern;
    tests::write_tiny_extractor(folder / "extractor", "lstm");
    tests::write_tiny_gliner(folder / "gliner", "spans");
    extractor = std::make_unique<ExtractPipeline>(ExtractPipeline::load(folder / "extractor", {.map_files = false}));
    gliner = std::make_unique<RecognizePipeline>(RecognizePipeline::load(folder / "gliner", {.map_files = false}));
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  std::unique_ptr<ExtractPipeline> extractor;
  std::unique_ptr<RecognizePipeline> gliner;
};

void require(bool holds) {
  if (!holds) std::abort();
}

void require_inside(const std::vector<std::int32_t>& places, const std::vector<std::int32_t>& ids) {
  for (const std::int32_t place : places) require(place >= 0 && static_cast<std::size_t>(place) < ids.size());
}

void check_schema_prompt(std::string_view json) {
  static const Models models;
  const ExtractSchema schema = ExtractSchema::parse(json);
  const auto& state = models.extractor->state();
  const pipelines::SchemaPrompt prompt =
      pipelines::make_schema_prompt(state, state.extractor, schema, kRow, base::Cancellation::never());
  const pipelines::WordPrompt& around = prompt.around;
  require(around.ids.size() <= kRow / 2 && !around.marks.empty() && !around.labels.empty());
  require(around.labels.size() == around.groups.size());
  require_inside(around.labels, around.ids);
  require_inside(around.marks, around.ids);
  require_inside(around.words, around.ids);
  require(prompt.structures.size() == schema.structures.size() && prompt.relations.size() == schema.relations.size());
  for (const auto& structure : prompt.choices) {
    for (const auto& field : structure) {
      for (const std::size_t place : field) require(place < around.words.size());
    }
  }
}

void check_label_prompt(std::string_view lines) {
  static const Models models;
  std::vector<std::string> labels;
  for (std::size_t begin = 0; begin <= lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    labels.emplace_back(lines.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto& state = models.gliner->state();
  const pipelines::LabelPrompt prompt =
      pipelines::make_prompt(state, *state.gliner, labels, kRow, base::Cancellation::never());
  require(prompt.labels.size() == prompt.label_places.size() && prompt.ids.size() <= kRow / 2);
  require_inside(prompt.label_places, prompt.ids);
}

void check_extractor_config(std::string_view json) {
  const formats::Json config = formats::parse_json(json, "config.json", {.max_depth = 32, .max_values = 1 << 16});
  if (!config.is_object()) return;
  const formats::Json backbone = formats::Json::Object{{"model_type", "deberta-v2"}};
  const formats::Json whole = models::config_around_backbone(models::kExtractorMember, config, backbone, 100);
  const models::ExtractorConfig read = models::read_extractor_config(whole);
  require(read.max_width >= 1 && read.max_width <= 256);
}

void check_gliner_config(std::string_view json) {
  const formats::Json config =
      formats::parse_json(json, "gliner_config.json", {.max_depth = 32, .max_values = 1 << 16});
  const formats::Json* inner = config.find_value("encoder_config");
  const formats::Json none{formats::Json::Object()};
  const formats::Json whole =
      models::gliner_folder_config(config, inner != nullptr && inner->is_object() ? *inner : none, 100);
  const models::GlinerConfig read = models::read_gliner_config(whole);
  require(read.hidden >= 1 && read.max_width >= 1 && read.max_words >= 1 && read.scores_of_pair() <= 256);
  require(read.recurrent_layers >= 0 && read.recurrent_layers <= 16 && !read.label_marker.empty());
}

void check_words(std::string_view given) {
  const auto repaired = tokenizers::repair_utf8(given);
  const std::string_view text = repaired ? std::string_view(*repaired) : given;
  for (const auto split : {pipelines::split_words, pipelines::split_extraction_words}) {
    std::size_t end = 0, byte_end = 0;
    for (const pipelines::TextWord& word : split(text)) {
      require(word.begin >= end && word.end > word.begin && word.byte_begin >= byte_end &&
              word.byte_end > word.byte_begin && word.byte_end <= text.size());
      const std::string_view part = text.substr(word.byte_begin, word.byte_end - word.byte_begin);
      require(tokenizers::count_code_points(part) == word.end - word.begin);
      end = word.end;
      byte_end = word.byte_end;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0]) {
      case 's': check_schema_prompt(rest); break;
      case 'l': check_label_prompt(rest); break;
      case 'c': check_extractor_config(rest); break;
      case 'g': check_gliner_config(rest); break;
      case 'w': check_words(rest); break;
      default: break;
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal || error.code() == ErrorCode::not_found) std::abort();
  }
  return 0;
}
