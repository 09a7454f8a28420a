#include "pipelines/recognize/token_entities.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "pipelines/calls/whole_characters.h"
#include "tokenizers/decode_tokens.h"
#include "tokenizers/parts.h"
#include "tokenizers/unicode/utf8.h"

namespace alate {
namespace {

constexpr std::array<std::string_view, 5> kAggregations = {"none", "simple", "first", "average", "max"};

}  // namespace

std::string_view to_string(Aggregation aggregation) { return kAggregations.at(static_cast<std::size_t>(aggregation)); }

std::optional<Aggregation> parse_aggregation(std::string_view name) {
  const auto found = std::ranges::find(kAggregations, name);
  if (found == kAggregations.end()) return std::nullopt;
  return static_cast<Aggregation>(found - kAggregations.begin());
}

namespace pipelines {
namespace {

struct Range {
  std::size_t start = 0, end = 0, byte_start = 0, byte_end = 0;
};

struct Token {
  std::string word;
  std::span<const float> scores;  // by label
  Range range;
  std::size_t index = 0;
  bool continues_word = false;
};

// A token or a word with the label chosen for it.
struct Labelled {
  std::string word;
  Range range;
  std::size_t label = 0;
  float score = 0;
  std::size_t index = 0;
};

std::size_t best_of(std::span<const float> scores) {
  return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
}

// In place; float32 as numpy computes it.
void softmax(std::span<float> row) {
  const float most = *std::ranges::max_element(row);
  float sum = 0;
  for (float& value : row) sum += value = std::exp(value - most);
  for (float& value : row) value /= sum;
}

Range joined(const Range& first, const Range& last) {
  return {first.start, std::max(first.start, last.end), first.byte_start, std::max(first.byte_start, last.byte_end)};
}

std::string_view part_of(std::string_view text, const Range& range) {
  return text.substr(std::min(range.byte_start, text.size()), range.byte_end - range.byte_start);
}

// Where the vocabulary does not mark tokens that continue words: a word is what stands between spaces.
bool continues_without_space(std::string_view text, const Range& range) {
  if (range.byte_start == 0 || range.byte_start > text.size()) return false;
  const bool after_space = text[range.byte_start - 1] == ' ';
  return !after_space && (range.byte_start >= text.size() || text[range.byte_start] != ' ');
}

std::vector<Token> tokens_of(std::string_view text, const Encoding& window, std::span<const float> scores,
                             const TokenLabels& labels) {
  const bool has_prefix = !labels.tokenizer.parts().model->continuing_prefix().empty();
  const std::size_t width = labels.names.size();
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < window.ids.size(); ++i) {
    if (window.special_mask[i] != 0) continue;
    const auto [start, end] = window.offsets[i];
    const auto [byte_start, byte_end] = window.byte_offsets[i];
    Token token{.word = labels.tokenizer.id_to_token(window.ids[i]).value_or(std::string()),
                .scores = scores.subspan(i * width, width),
                .range = {start, end, byte_start, byte_end},
                .index = i};
    token.continues_word = has_prefix ? tokenizers::count_code_points(token.word) != std::size_t{end} - start
                                      : continues_without_space(text, token.range);
    if (window.ids[i] == labels.unknown_id) {
      token.word = part_of(text, token.range);
      token.continues_word = false;
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

Labelled labelled(const Token& token) {
  const std::size_t label = best_of(token.scores);
  return {token.word, token.range, label, token.scores[label], token.index};
}

Labelled labelled_word(std::span<const Token> tokens, const Tokenizer& tokenizer, Aggregation aggregation) {
  std::vector<std::string> words;
  for (const Token& token : tokens) words.push_back(token.word);
  const auto best_score = [](const Token& token) { return *std::ranges::max_element(token.scores); };
  std::vector<float> mean;
  std::span<const float> scores = tokens.front().scores;
  if (aggregation == Aggregation::max) scores = std::ranges::max_element(tokens, {}, best_score)->scores;
  if (aggregation == Aggregation::average) {
    mean.assign(scores.size(), 0);
    for (const Token& token : tokens) {
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += token.scores[i];
    }
    for (float& value : mean) value /= static_cast<float>(tokens.size());
    scores = mean;
  }
  const std::size_t label = best_of(scores);
  return {tokenizers::decode_tokens(tokenizer, words), joined(tokens.front().range, tokens.back().range), label,
          scores[label], tokens.front().index};
}

std::vector<Labelled> labelled_words(std::span<const Token> tokens, const Tokenizer& tokenizer,
                                     Aggregation aggregation) {
  std::vector<Labelled> words;
  for (std::size_t begin = 0; begin < tokens.size();) {
    std::size_t end = begin + 1;
    while (end < tokens.size() && tokens[end].continues_word) ++end;
    words.push_back(labelled_word(tokens.subspan(begin, end - begin), tokenizer, aggregation));
    begin = end;
  }
  return words;
}

// Without its text.
Entity entity_of(std::string label, const Range& range, float score, std::string word) {
  return {.text = {},
          .label = std::move(label),
          .start = range.start,
          .end = range.end,
          .byte_start = range.byte_start,
          .byte_end = range.byte_end,
          .score = score,
          .word = std::move(word),
          .token = std::nullopt};
}

// The name of a group: what follows the first hyphen of its first label, whatever precedes it.
std::string group_label(std::string_view label) {
  const std::size_t hyphen = label.find('-');
  return std::string(hyphen == std::string_view::npos ? label : label.substr(hyphen + 1));
}

std::vector<Entity> grouped(std::span<const Labelled> parts, const TokenLabels& labels) {
  std::vector<Entity> entities;
  for (std::size_t begin = 0; begin < parts.size();) {
    const std::string& name = labels.names[parts[begin].label];
    std::size_t end = begin + 1;
    while (end < parts.size() && !labels.names[parts[end].label].starts_with("B-") &&
           tag_of(labels.names[parts[end].label]) == tag_of(name))
      ++end;
    std::vector<std::string> words;
    double sum = 0;
    for (const Labelled& part : parts.subspan(begin, end - begin)) {
      words.push_back(part.word);
      sum += double{part.score};
    }
    if (const std::string label = group_label(name); label != kOutside)
      entities.push_back(entity_of(label, joined(parts[begin].range, parts[end - 1].range),
                                   static_cast<float>(sum / static_cast<double>(end - begin)),
                                   tokenizers::decode_tokens(labels.tokenizer, words)));
    begin = end;
  }
  return entities;
}

std::vector<Entity> token_entities(const std::vector<Token>& tokens, const TokenLabels& labels,
                                   Aggregation aggregation) {
  if (aggregation > Aggregation::simple) return grouped(labelled_words(tokens, labels.tokenizer, aggregation), labels);
  std::vector<Labelled> parts;
  for (const Token& token : tokens) parts.push_back(labelled(token));
  if (aggregation == Aggregation::simple) return grouped(parts, labels);
  std::vector<Entity> entities;
  for (Labelled& part : parts) {
    const std::string& label = labels.names[part.label];
    if (label == kOutside) continue;
    entities.push_back(entity_of(label, part.range, part.score, std::move(part.word)));
    entities.back().token = part.index;
  }
  return entities;
}

}  // namespace

// Of entities that share characters with the one kept so far, the longest is kept.
std::vector<Entity> without_overlaps(std::vector<Entity> entities) {
  std::ranges::stable_sort(entities, {}, &Entity::start);
  std::vector<Entity> kept;
  for (Entity& entity : entities) {
    if (kept.empty() || entity.start >= kept.back().end) {
      kept.push_back(std::move(entity));
      continue;
    }
    const std::size_t length = entity.end - entity.start, other = kept.back().end - kept.back().start;
    if (length > other || (length == other && entity.score > kept.back().score)) kept.back() = std::move(entity);
  }
  return kept;
}

void cut_texts(std::string_view text, std::span<Entity> entities, AnswerBudget& budget) {
  for (Entity& entity : entities) {
    const std::string_view part = part_of(text, {entity.start, entity.end, entity.byte_start, entity.byte_end});
    budget.add(part.size() + entity.label.size() + entity.word.size());
    entity.text = part;
  }
}

std::string_view tag_of(std::string_view label) {
  const bool is_marked = label.starts_with("B-") || label.starts_with("I-");
  return is_marked ? label.substr(2) : label;
}

std::vector<Entity> window_entities(std::string_view text, const TokenWindow& window, const TokenLabels& labels,
                                    Aggregation aggregation) {
  const std::size_t width = labels.names.size();
  std::vector<float> scores(window.logits.begin(), window.logits.end());
  for (std::size_t i = 0; i < scores.size(); i += width) softmax(std::span(scores).subspan(i, width));
  return token_entities(tokens_of(text, window.encoding, scores, labels), labels, aggregation);
}

std::vector<Entity> entities_of(std::string_view text, std::span<const TokenWindow> windows, const TokenLabels& labels,
                                Aggregation aggregation) {
  const std::optional<std::string> repaired = tokenizers::repair_utf8(text);
  if (repaired) text = *repaired;
  std::vector<Entity> entities;
  for (const TokenWindow& window : windows) {
    for (Entity& entity : window_entities(text, window, labels, aggregation)) entities.push_back(std::move(entity));
  }
  if (windows.size() > 1) entities = without_overlaps(std::move(entities));
  if (aggregation != Aggregation::none) widen_to_characters(text, entities);
  AnswerBudget budget;
  cut_texts(text, entities, budget);
  return entities;
}

}  // namespace pipelines
}  // namespace alate
