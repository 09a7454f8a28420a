// Entities from logits of tokens, as TokenClassificationPipeline of transformers 5.23 finds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "alate/recognize.h"
#include "alate/tokenizer.h"
#include "pipelines/calls/call_limits.h"

namespace alate::pipelines {

/// A model's labels and what is needed of its tokenizer. `tokenizer` must outlive it.
struct TokenLabels {
  const Tokenizer& tokenizer;
  std::span<const std::string> names;           // by number
  std::optional<std::int32_t> unknown_id = {};  // of the unknown token: it is a word by itself, and its text is kept
};

/// A row of tokens that a text was read in, with its offsets, and the logits of its tokens, one after the other.
struct TokenWindow {
  const Encoding& encoding;
  std::span<const float> logits;
};

/// The label of tokens outside of all entities.
inline constexpr std::string_view kOutside = "O";

/// The entities of a text, without those of the label kOutside. Entities of several windows are merged: of two that
/// share characters the longer one stays, or the better one of the same length. In the order of `start`; with one
/// window, in the order of tokens. Unlike transformers', they end between grapheme clusters, except without
/// aggregation.
std::vector<Entity> entities_of(std::string_view text, std::span<const TokenWindow> windows, const TokenLabels& labels,
                                Aggregation aggregation);

/// The same in stages, of a text in valid UTF-8 whose windows come one after the other. The entities of a window have
/// no text yet.
std::vector<Entity> window_entities(std::string_view text, const TokenWindow& window, const TokenLabels& labels,
                                    Aggregation aggregation);
/// Of those of several windows.
std::vector<Entity> without_overlaps(std::vector<Entity> entities);
/// Cuts their texts out of `text`, which is counted before.
void cut_texts(std::string_view text, std::span<Entity> entities, AnswerBudget& budget);

/// The label without B- or I-.
std::string_view tag_of(std::string_view label);

/// The labels that a caller wants; none: all. However many these are, asking takes the same time.
class WantedLabels {
 public:
  /// The texts must outlive it.
  explicit WantedLabels(std::span<const std::string> labels) : labels_(labels.begin(), labels.end()) {}

  /// Whether the label is one of them, with or without its B- or I-.
  bool contain(std::string_view label) const {
    return labels_.empty() || labels_.contains(label) || labels_.contains(tag_of(label));
  }

 private:
  std::unordered_set<std::string_view> labels_;
};

}  // namespace alate::pipelines
