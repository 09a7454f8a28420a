// Entities as reference implementations give them, and as they are shown: with whole characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "alate/recognize.h"
#include "pipelines/calls/whole_characters.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tests {

/// The byte at which a code point begins in valid UTF-8.
inline std::size_t byte_of_code_point(std::string_view text, std::size_t code_point) {
  std::size_t at = 0;
  while (at < text.size() && code_point-- > 0) at += tokenizers::decode_utf8(text, at).length;
  return at;
}

/// Recorded entities, wider by the rest of the grapheme clusters that they have parts of. `overlap`: each by itself.
inline std::vector<Entity> in_whole_characters(std::string_view text, std::vector<Entity> entities, bool overlap) {
  const tokenizers::GraphemeClusters clusters(text);
  for (Entity& entity : entities) {
    entity.byte_start = byte_of_code_point(text, entity.start);
    entity.byte_end = byte_of_code_point(text, entity.end);
    if (overlap) pipelines::widen_to_characters(text, clusters, entity);
  }
  if (!overlap) pipelines::widen_to_characters(text, entities);
  return entities;
}

}  // namespace alate::tests
