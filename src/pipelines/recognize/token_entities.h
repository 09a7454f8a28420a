// Entities from logits of tokens, as TokenClassificationPipeline of transformers 5.23 finds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/recognize.h"
#include "alate/tokenizer.h"

namespace alate::pipelines {

/// A model's labels and what is needed of its tokenizer. `tokenizer` must outlive it.
struct TokenLabels {
  const Tokenizer& tokenizer;
  std::span<const std::string> names;           // by number
  std::optional<std::int32_t> unknown_id = {};  // of the unknown token: it is a word by itself, and its text is kept
};

/// The entities of a text, without those of the label "O". `encoding` is the text's, with its further windows,
/// and with offsets; `logits` are those of all tokens of all windows in their order, row after row. Entities of windows
/// that overlap are merged: of two that share characters the longer one stays, or the better one of the same length. In
/// the order of `start`; with one window, in the order of tokens.
std::vector<Entity> entities_of(std::string_view text, const Encoding& encoding, std::span<const float> logits,
                                const TokenLabels& labels, Aggregation aggregation);

/// Whether a label is one of `wanted` (empty: all), with or without its B- or I-.
bool is_wanted(std::string_view label, std::span<const std::string> wanted);

/// The label without B- or I-.
std::string_view tag_of(std::string_view label);

}  // namespace alate::pipelines
