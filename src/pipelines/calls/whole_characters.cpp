#include "pipelines/calls/whole_characters.h"

#include <algorithm>
#include <utility>

#include "tokenizers/unicode/utf8.h"

namespace alate::pipelines {
namespace {

// Tokens of bytes may begin or end inside of a code point, whose number their spans then have.
std::size_t code_point_at(std::string_view text, std::size_t at) {
  while (at < text.size() && !tokenizers::starts_code_point(text[at])) --at;
  return at;
}
std::size_t code_point_from(std::string_view text, std::size_t at) {
  while (at < text.size() && !tokenizers::starts_code_point(text[at])) ++at;
  return at;
}

}  // namespace

TextSpan whole_characters(std::string_view text, const tokenizers::GraphemeClusters& clusters, TextSpan span) {
  const std::size_t first = code_point_at(text, std::min(span.byte_start, text.size()));
  const std::size_t last = code_point_from(text, std::min(span.byte_end, text.size()));
  const std::size_t begin = clusters.border_before(first), end = clusters.border_after(last);
  return {.start = span.start - tokenizers::count_code_points(text.substr(begin, first - begin)),
          .end = span.end + tokenizers::count_code_points(text.substr(last, end - last)),
          .byte_start = begin,
          .byte_end = end};
}

void widen_to_characters(std::string_view text, std::vector<Entity>& entities) {
  if (entities.empty()) return;
  const tokenizers::GraphemeClusters clusters(text);
  std::size_t taken = 0;     // bytes up to here are in entities
  std::size_t last_end = 0;  // as the last entity had it
  std::vector<Entity> kept;
  for (Entity& entity : entities) {
    if (entity.byte_start >= entity.byte_end) {
      kept.push_back(std::move(entity));
      continue;
    }
    const std::size_t own_end = entity.byte_end;
    const std::size_t start = std::min(entity.byte_start, text.size());
    if (start >= last_end && start < taken) {
      if (entity.byte_end <= taken) continue;
      entity.start += tokenizers::count_code_points(text.substr(start, taken - start));
      entity.byte_start = taken;
    }
    widen_to_characters(text, clusters, entity);
    taken = std::max(taken, entity.byte_end);
    last_end = std::max(last_end, own_end);
    kept.push_back(std::move(entity));
  }
  entities = std::move(kept);
}

}  // namespace alate::pipelines
