// Spans of a text that end between characters as readers see them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "alate/recognize.h"
#include "tokenizers/unicode/grapheme_clusters.h"

namespace alate::pipelines {

/// A span that is not empty, in code points and bytes of a valid UTF-8 text.
struct TextSpan {
  std::size_t start = 0, end = 0, byte_start = 0, byte_end = 0;
};

/// The span, wider by the rest of the grapheme clusters that it has parts of: tokenizers that drop accents have spans
/// without the marks of their last letter.
TextSpan whole_characters(std::string_view text, const tokenizers::GraphemeClusters& clusters, TextSpan span);

/// The same for anything with these four members.
template <typename Place>
void widen_to_characters(std::string_view text, const tokenizers::GraphemeClusters& clusters, Place& place) {
  const TextSpan span = whole_characters(text, clusters, {place.start, place.end, place.byte_start, place.byte_end});
  place.start = span.start;
  place.end = span.end;
  place.byte_start = span.byte_start;
  place.byte_end = span.byte_end;
}

/// The same for entities that do not overlap, in the order of the text: of two that share a character the first has it,
/// and one of which nothing is left is removed. Their places change; their texts are to be cut afterwards.
void widen_to_characters(std::string_view text, std::vector<Entity>& entities);

}  // namespace alate::pipelines
