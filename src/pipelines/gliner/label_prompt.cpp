#include "pipelines/gliner/label_prompt.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "alate/error.h"
#include "formats/json.h"
#include "runtime/loading/loaded_model.h"
#include "tokenizers/encode.h"
#include "tokenizers/unicode/canonical_text.h"

namespace alate::pipelines {
namespace {

// A tokenizer of the backbone does not know the markers; the package gliner adds them in this order.
struct Markers {
  std::int32_t label, text;
};

Markers markers_of(const Tokenizer& tokenizer, const models::GlinerConfig& config) {
  auto next = static_cast<std::int32_t>(tokenizer.vocabulary_size());
  const auto id_of = [&](const std::string& token) {
    const std::optional<std::int32_t> known = tokenizer.token_to_id(token);
    return known ? *known : next++;
  };
  (void)id_of("[FLERT]");
  const std::int32_t label = id_of(config.label_marker);
  return {label, id_of(config.text_marker)};
}

std::vector<std::int32_t> ids_of(const TextModel& model, std::string_view text,
                                 const base::Cancellation& cancellation) {
  const EncodeOptions alone{.add_special_tokens = false, .with_offsets = false, .with_tokens = false};
  return tokenizers::encode(model.tokenizer, text, alone, cancellation).ids;
}

void append_label(const TextModel& model, const Gliner& gliner, const std::string& label, LabelPrompt& prompt,
                  const base::Cancellation& cancellation) {
  if (label.empty()) throw Error(ErrorCode::invalid_argument, "a label is empty: give each a word or phrase");
  const std::vector<std::int32_t> ids = ids_of(model, label, cancellation);
  const auto is_marker = [&](std::int32_t id) { return id == gliner.label_marker || id == gliner.text_marker; };
  if (std::ranges::any_of(ids, is_marker))
    throw make_error(ErrorCode::invalid_argument, "the label ", formats::quoted_name(label),
                     " has a marker of the model's prompt in it: leave that out");
  if (ids.empty())
    throw make_error(ErrorCode::invalid_argument, "the label ", formats::quoted_name(label),
                     " has nothing that the model's tokenizer reads: give a word or phrase");
  prompt.ids.push_back(gliner.label_marker);
  prompt.label_places.push_back(static_cast<std::int32_t>(prompt.ids.size()) -
                                (gliner.config.labels_are_markers ? 1 : 0));
  prompt.ids.insert(prompt.ids.end(), ids.begin(), ids.end());
  prompt.labels.push_back(label);
}

}  // namespace

Gliner read_gliner(const TextModel& model) {
  const Model::State& state = model.model.state();
  Gliner gliner{.config = models::read_gliner_config(state.config), .frame = frame_of(model.tokenizer)};
  const Markers markers = markers_of(model.tokenizer, gliner.config);
  gliner.label_marker = markers.label;
  gliner.text_marker = markers.text;
  const bool is_other = gliner.config.label_marker_id >= 0 && gliner.config.label_marker_id != markers.label;
  if (is_other || std::max(markers.label, markers.text) >= state.limits().vocabulary)
    throw make_error(ErrorCode::corrupt, "the tokenizer of '", runtime::shown_name(state.folder), "' has the token ",
                     markers.label, " for ", formats::quoted_name(gliner.config.label_marker),
                     ", which is not that of the model: the files do not belong together");
  return gliner;
}

LabelPrompt make_prompt(const TextModel& model, const Gliner& gliner, std::span<const std::string> labels,
                        std::size_t row_length, const base::Cancellation& cancellation) {
  if (labels.empty())
    throw Error(ErrorCode::invalid_argument,
                "the model finds the labels that it is asked for: name some, such as person,city");
  LabelPrompt prompt{.ids = gliner.frame.before};
  const std::size_t most = row_length / 2;
  const auto require_room = [&] {
    if (prompt.ids.size() + gliner.frame.after.size() <= most) return;
    throw make_error(ErrorCode::invalid_argument, "the ", labels.size(), " labels take more than ", most,
                     " tokens, half of what is read at once: name fewer or shorter ones, or some at a time");
  };
  std::unordered_set<std::string> seen;
  for (const std::string& label : labels) {
    if (!seen.insert(tokenizers::canonical_form(label)).second) continue;
    append_label(model, gliner, label, prompt, cancellation);
    require_room();
  }
  prompt.ids.push_back(gliner.text_marker);
  require_room();
  return prompt;
}

}  // namespace alate::pipelines
