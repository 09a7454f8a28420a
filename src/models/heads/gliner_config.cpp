#include "models/heads/gliner_config.h"

#include <algorithm>
#include <array>
#include <utility>

#include "alate/error.h"
#include "models/heads/extractor_config.h"

namespace alate::models {
namespace {

using formats::Json;

constexpr std::int64_t kMaxHidden = 65536, kMaxWidth = 256, kMaxWords = 65536, kMaxLayers = 16;
// Tokens of a row of a backbone whose positions are only distances, which have no last one.
constexpr std::int64_t kFarthest = 2048;

std::int64_t bounded(const Json& json, std::string_view key, std::int64_t otherwise, std::int64_t least,
                     std::int64_t most) {
  const std::int64_t value = json.get_int(key, otherwise);
  if (value < least || value > most)
    throw make_error(ErrorCode::corrupt, "gliner_config.json: ", key, " is ", value, ", which no GLiNER model has");
  return value;
}

[[noreturn]] void refuse(std::string_view what, std::string_view name) {
  throw make_error(ErrorCode::unsupported, "gliner_config.json: ", what, " is not built here: ", name);
}

GlinerScores scores_of(const Json& json) {
  constexpr std::array<std::pair<std::string_view, GlinerScores>, 4> kModes = {{{"marker", GlinerScores::marker},
                                                                                {"markerV0", GlinerScores::marker_v0},
                                                                                {"token_level", GlinerScores::words},
                                                                                {"token-level", GlinerScores::words}}};
  const std::string mode = json.get_string("span_mode", "markerV0");
  const auto found =
      std::ranges::find(kModes, std::string_view(mode), &std::pair<std::string_view, GlinerScores>::first);
  if (found == kModes.end())
    refuse("the span_mode " + formats::quoted_name(mode) + ", only marker, markerV0 and token_level,", "span_mode");
  return found->second;
}

void require_built(const Json& json) {
  for (const std::string_view part : {"labels_encoder", "labels_decoder", "relations_layer", "span_encoder_config"}) {
    if (json.find_value(part) != nullptr) refuse("a model with " + std::string(part), part);
  }
  for (const std::string_view part : {"fuse_layers", "represent_spans", "precomputed_prompts_mode"}) {
    if (json.get_bool(part, false)) refuse("a model with " + std::string(part), part);
  }
  if (!json.get_string("post_fusion_schema", "").empty())
    refuse("a model with a post_fusion_schema", "post_fusion_schema");
  if (json.get_string("model_type", "").find("streaming") != std::string::npos)
    refuse("a streaming model", "gliner_streaming_span");
  if (const std::string splitter = json.get_string("words_splitter_type", "whitespace"); splitter != "whitespace")
    refuse("the words_splitter_type " + formats::quoted_name(splitter) + ", only whitespace,", "words_splitter_type");
}

std::string marker(const Json& json, std::string_view key, std::string_view otherwise) {
  std::string text = json.get_string(key, otherwise);
  if (text.empty() || text.size() > 256)
    throw make_error(ErrorCode::corrupt, "gliner_config.json: ", key, " must be a token's text");
  return text;
}

// DeBERTa-v2's distances are counted in buckets, whose last one has no end, so the length of its rows is not limited by
// max_position_embeddings where tokens have no positions besides.
void widen_distances(Json::Object& config) {
  const Json known(config);
  if (known.get_string("model_type", "") != "deberta-v2" || known.get_bool("position_biased_input", true) ||
      !known.get_bool("relative_attention", false) || known.get_int("position_buckets", -1) <= 0)
    return;
  const std::int64_t positions = known.get_int("max_position_embeddings", 512);
  if (positions >= kFarthest) return;
  const bool is_stated = known.get_int("max_relative_positions", -1) >= 1;
  std::erase_if(config, [&](const Json::Member& member) {
    return member.first == "max_position_embeddings" || (member.first == "max_relative_positions" && !is_stated);
  });
  config.emplace_back("max_position_embeddings", Json(kFarthest));
  if (!is_stated) config.emplace_back("max_relative_positions", Json(positions));
}

}  // namespace

bool is_gliner(const Json& config) { return config.find_value(kGlinerMember) != nullptr; }

GlinerConfig read_gliner_config(const Json& config) {
  const Json* json = config.find_value(kGlinerMember);
  if (json == nullptr || !json->is_object())
    throw Error(ErrorCode::corrupt, "gliner_config.json must be a JSON object");
  require_built(*json);
  GlinerConfig read;
  read.scores = scores_of(*json);
  read.hidden = bounded(*json, "hidden_size", read.hidden, 1, kMaxHidden);
  read.max_width = bounded(*json, "max_width", read.max_width, 1, kMaxWidth);
  read.max_words = bounded(*json, "max_len", read.max_words, 1, kMaxWords);
  read.recurrent_layers = std::max<std::int64_t>(bounded(*json, "num_rnn_layers", 1, -1, kMaxLayers), 0);
  if (read.recurrent_layers > 0 && read.hidden % 2 != 0)
    throw make_error(ErrorCode::corrupt, "gliner_config.json: hidden_size is ", read.hidden,
                     ", which an LSTM cannot share between its directions");
  const std::string pooling = json->get_string("subtoken_pooling", "first");
  read.pools_last = pooling == "last";
  if (!read.pools_last && pooling != "first")
    refuse("the subtoken_pooling " + formats::quoted_name(pooling) + ", only first and last,", "subtoken_pooling");
  read.labels_are_markers = json->get_bool("embed_ent_token", true);
  read.label_marker = marker(*json, "ent_token", read.label_marker);
  read.text_marker = marker(*json, "sep_token", read.text_marker);
  read.label_marker_id = json->get_int("class_token_index", -1);
  return read;
}

Json config_around_backbone(std::string_view name, const Json& content, const Json& backbone, std::int64_t vocabulary) {
  Json::Object config;
  bool has_type = false;
  for (const auto& [key, value] : backbone.as_object("encoder_config")) {
    // Which class of transformers the backbone was saved as says nothing of this model.
    if (key == kGlinerMember || key == kExtractorMember || key == "architectures" || key == "auto_map" ||
        key == "vocab_size")
      continue;
    has_type = has_type || key == "model_type";
    config.emplace_back(key, value);
  }
  if (!has_type) config.emplace_back("model_type", "deberta-v2");
  config.emplace_back("vocab_size", Json(vocabulary));
  widen_distances(config);
  config.emplace_back(std::string(name), content);
  return config;
}

Json gliner_folder_config(const Json& gliner, const Json& backbone, std::int64_t vocabulary) {
  return config_around_backbone(kGlinerMember, gliner, backbone, vocabulary);
}

}  // namespace alate::models
