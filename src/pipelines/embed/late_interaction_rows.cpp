#include "pipelines/embed/late_interaction_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "pipelines/calls/text_frame.h"
#include "pipelines/modules/late_interaction_modules.h"
#include "tokenizers/encode.h"
#include "tokenizers/unicode/letter_case.h"

namespace alate::pipelines {
namespace {

// What begins a text: a token, or else text, and the prompt.
struct Beginning {
  std::optional<std::int32_t> marker;
  std::string text;
};

// A marker is a token with all of its characters ("[Q] "), or its first word is one and spaces follow ("[unused0] ").
Beginning beginning_of(const Tokenizer& tokenizer, const std::string& marker, std::string_view prompt) {
  if (prompt.starts_with(marker)) prompt.remove_prefix(marker.size());
  if (marker.empty()) return {.marker = {}, .text = std::string(prompt)};
  if (const auto whole = tokenizer.token_to_id(marker)) return {.marker = whole, .text = std::string(prompt)};
  const std::string word = marker.substr(0, marker.find(' '));
  if (const auto first = tokenizer.token_to_id(word))
    return {.marker = first, .text = marker.substr(word.size()) + std::string(prompt)};
  return {.marker = {}, .text = marker + std::string(prompt)};
}

std::int32_t expansion_id(const Tokenizer& tokenizer, const QueryExpansion& expansion) {
  if (const auto id = tokenizer.token_to_id(expansion.token)) return *id;
  throw make_error(ErrorCode::corrupt, "queries are expanded with the token ", formats::quoted_name(expansion.token),
                   ", which the model's tokenizer does not have");
}

void expand(runtime::BatchRow& row, const QueryExpansion& expansion, std::int32_t token) {
  const std::size_t own = row.ids.size();
  if (own >= expansion.length) return;
  row.ids.resize(expansion.length, token);
  if (!expansion.attends) row.masked_tail = static_cast<std::int32_t>(expansion.length - own);
}

// The most tokens of a text.
std::size_t length_of(const EmbeddingPipeline& pipeline, const EmbedOptions& options, const TextRole& role,
                      const std::optional<QueryExpansion>& expansion) {
  const std::size_t positions = pipeline.facts().max_positions;
  if (expansion && expansion->is_fixed) return row_limit(expansion->length, 0, positions);
  const std::size_t usual = std::min(role.length.value_or(pipeline.max_length()), positions);
  const std::size_t limit = row_limit(options.max_length, usual, positions);
  return expansion ? std::max(limit, row_limit(expansion->length, 0, positions)) : limit;
}

const TextRole& role_of(const LateInteractionModule& module, const EmbedOptions& options) {
  return is_query(options) ? module.query : module.document;
}

std::optional<QueryExpansion> expansion_of(const LateInteractionModule& module, const EmbedOptions& options) {
  return is_query(options) ? module.expansion : std::nullopt;
}

}  // namespace

std::size_t late_interaction_length(const EmbeddingPipeline& pipeline, const EmbedOptions& options) {
  const std::optional<LateInteractionModule>& module = pipeline.state().kinds.late_interaction;
  if (!module) return embedding_row_limit(pipeline, options);
  return length_of(pipeline, options, role_of(*module, options), expansion_of(*module, options));
}

PreparedRows prepare_late_interaction(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                                      const EmbedOptions& options, const std::string& prompt,
                                      const base::Cancellation& cancellation) {
  const EmbeddingPipeline::State& state = pipeline.state();
  const LateInteractionModule& module = *state.kinds.late_interaction;
  const std::optional<QueryExpansion> expansion = expansion_of(module, options);
  const std::int32_t filler = expansion ? expansion_id(state.tokenizer, *expansion) : 0;
  const Beginning beginning = beginning_of(state.tokenizer, role_of(module, options).marker, prompt);
  const auto place = static_cast<std::ptrdiff_t>(frame_of(state.tokenizer).before.size());
  const std::size_t limit = late_interaction_length(pipeline, options);
  EncodeOptions encode;
  encode.max_length = limit - (beginning.marker && limit > 0 ? 1 : 0);
  encode.side = options.truncation_side;
  encode.with_offsets = encode.with_tokens = encode.with_windows = false;
  return prepare_rows(texts.size(), state.model.state().options.threads, cancellation, [&](std::size_t i) {
    std::string text = beginning.text + std::string(texts[i]);
    if (state.modules.transformer.lower_case) text = tokenizers::lower_cased(text);
    Encoding encoding = tokenizers::encode(state.tokenizer, text, encode, cancellation);
    PreparedRow made{.row = {.ids = std::move(encoding.ids)}, .truncated = encoding.truncated};
    if (beginning.marker) made.row.ids.insert(made.row.ids.begin() + place, *beginning.marker);
    if (expansion) expand(made.row, *expansion, filler);
    return made;
  });
}

}  // namespace alate::pipelines
