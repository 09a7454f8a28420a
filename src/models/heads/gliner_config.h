// The settings of GLiNER models (Zaratiana et al. 2023, arXiv:2311.08526): gliner_config.json, whose names and defaults
// are those of the package gliner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/json.h"

namespace alate::models {

/// The member of a folder's config that has the content of gliner_config.json; its other members are those of the
/// backbone's config.
inline constexpr std::string_view kGlinerMember = "gliner_config";

/// The backbone's weights are under this name.
inline constexpr std::string_view kGlinerPrefix = "token_rep_layer.bert_layer.model.";

/// How words are scored with labels: spans of words by their markers through one layer or two, or each word by itself.
enum class GlinerScores : std::uint8_t { marker, marker_v0, words };

struct GlinerConfig {
  std::int64_t hidden = 512;  // of words and labels; the backbone may have another
  GlinerScores scores = GlinerScores::marker_v0;
  std::int64_t max_width = 12;        // words of the longest span
  std::int64_t max_words = 384;       // of a text that are read at once
  std::int64_t recurrent_layers = 0;  // of a bidirectional LSTM over the words
  bool pools_last = false;            // a word is its last token, not its first
  bool labels_are_markers = true;     // a label is the token before its text, not the text's first
  std::string label_marker = "<<ENT>>", text_marker = "<<SEP>>";
  std::int64_t label_marker_id = -1;  // -1: not stated

  /// Of a word with a label: one for each width, or for its parts.
  std::int64_t scores_of_pair() const { return scores == GlinerScores::words ? 3 : max_width; }
};

/// Whether `config` is that of a GLiNER model: has the member.
bool is_gliner(const formats::Json& config);
/// The settings of such a config. Throws corrupt for impossible ones, unsupported for those that are not built.
GlinerConfig read_gliner_config(const formats::Json& config);

/// The config of a model around a backbone: `content`, the model's own settings, as the member `name`, with `backbone`
/// around it, whose vocabulary has `vocabulary` tokens. DeBERTa-v2's rows get longer where distances have no end.
formats::Json config_around_backbone(std::string_view name, const formats::Json& content, const formats::Json& backbone,
                                     std::int64_t vocabulary);

/// A folder's config: `gliner`, the content of gliner_config.json, with `backbone` around it, whose vocabulary has
/// `vocabulary` tokens.
formats::Json gliner_folder_config(const formats::Json& gliner, const formats::Json& backbone, std::int64_t vocabulary);

}  // namespace alate::models
