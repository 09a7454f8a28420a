// Recognition: the places in texts that a model labels, such as names, addresses and organizations.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace alate {

/// How labels of tokens become entities, as `aggregation_strategy` of transformers' TokenClassificationPipeline.
enum class Aggregation {
  none,     // an entity for each token, whose label keeps its B- or I-
  simple,   // neighbouring tokens with the same label are one entity
  first,    // as simple, over words, each with the label of its first token
  average,  // over words, each with the label whose mean score is best
  max       // over words, each with the label of its best token
};
std::string_view to_string(Aggregation aggregation);
/// The inverse of `to_string`; nothing for an unknown name.
std::optional<Aggregation> parse_aggregation(std::string_view name);

/// A labelled place in a text.
struct Entity {
  std::string text;                          // from the original text, after invalid UTF-8 has become U+FFFD
  std::string label;                         // without B- and I-, but with Aggregation::none
  std::size_t start = 0, end = 0;            // code points of the text
  std::size_t byte_start = 0, byte_end = 0;  // bytes of it
  float score = 0;                           // 0 … 1: the mean of the tokens' or words'
  std::string word;                          // its tokens, decoded: `word` of transformers
  std::optional<std::size_t> token = {};     // with Aggregation::none: its place among the row's tokens
};

}  // namespace alate
