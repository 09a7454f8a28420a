#include "runtime/loading/gliner_folder.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "formats/weight_source.h"
#include "models/heads/extractor_config.h"
#include "models/heads/gliner_config.h"

namespace alate::runtime {
namespace {

namespace fs = std::filesystem;
using formats::Json;

constexpr std::string_view kFile = "gliner_config.json";

std::optional<Json> backbone_in(const fs::path& folder) {
  constexpr std::string_view kName = "config.json";
  if (!base::is_there(folder / kName)) return std::nullopt;
  Json config = formats::parse_json(base::read_contained_file(folder, kName), (folder / kName).string());
  // Some models have the content of gliner_config.json under this name too.
  if (config.find_value("model_type") == nullptr || config.find_value("span_mode") != nullptr) return std::nullopt;
  return config;
}

Json backbone_of(const fs::path& folder, const Json& gliner) {
  if (const Json* own = gliner.find_value("encoder_config"); own != nullptr && own->is_object()) return *own;
  if (std::optional<Json> beside = backbone_in(folder)) return *std::move(beside);
  const std::string name = gliner.get_string("model_name", "microsoft/deberta-v3-small");
  throw make_error(ErrorCode::not_found, (folder / kFile).string(), " has no encoder_config; put the config.json and ",
                   "the tokenizer's files of ", formats::quoted_name(name), " into the folder");
}

// The rows of the table of tokens, which a tokenizer with GLiNER's markers decided when the model was trained.
std::int64_t stored_vocabulary(const ModelFiles& files, std::string_view prefix) {
  constexpr std::array<std::string_view, 4> kEnds = {"word_embeddings.weight", "tok_embeddings.weight",
                                                     "embed_tokens.weight", "shared.weight"};
  const std::shared_ptr<const formats::WeightSource> weights = open_weights(files);
  for (const std::string_view name : weights->names()) {
    const bool is_table = name.starts_with(prefix) &&
                          std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
    if (!is_table) continue;
    const Shape shape = weights->info(name)->shape;
    if (shape.rank() == 2) return shape.dims[0].number();
  }
  throw make_error(ErrorCode::corrupt, files.folder.string(), ": the weights have no table of tokens under ", prefix,
                   ": the file is not of a GLiNER model with one encoder");
}

}  // namespace

bool has_gliner_config(const ModelFiles& files) { return !files.is_onnx() && base::is_there(files.folder / kFile); }

Json read_gliner_folder(const ModelFiles& files) {
  const fs::path& folder = files.folder;
  const Json gliner = formats::parse_json(base::read_contained_file(folder, kFile), (folder / kFile).string());
  if (!gliner.is_object()) throw make_error(ErrorCode::corrupt, (folder / kFile).string(), " is not a JSON object");
  return models::gliner_folder_config(gliner, backbone_of(folder, gliner),
                                      stored_vocabulary(files, models::kGlinerPrefix));
}

Json with_backbone(const ModelFiles& files, Json config) {
  if (files.is_onnx() || !config.is_object() || config.get_string("model_type", "") != models::kExtractorType)
    return config;
  const fs::path folder = files.folder / "encoder_config", path = folder / "config.json";
  if (!base::is_there(path)) {
    const std::string name = config.get_string("model_name", "microsoft/deberta-v3-base");
    throw make_error(ErrorCode::not_found, path.string(), " is missing: put the config.json of ",
                     formats::quoted_name(name), " there, which the model is built on");
  }
  const Json backbone =
      formats::parse_json(base::read_contained_file(files.folder, "encoder_config/config.json"), path.string());
  if (!backbone.is_object()) throw make_error(ErrorCode::corrupt, path.string(), " is not a JSON object");
  return models::config_around_backbone(models::kExtractorMember, config, backbone,
                                        stored_vocabulary(files, models::kExtractorPrefix));
}

}  // namespace alate::runtime
