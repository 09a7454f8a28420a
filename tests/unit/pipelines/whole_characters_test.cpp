// Spans that end between characters as readers see them.
#include "pipelines/calls/whole_characters.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tokenizers/unicode/utf8.h"

namespace alate::pipelines {
namespace {

Entity entity_at(const std::string& text, std::size_t byte_start, std::size_t byte_end) {
  Entity entity;
  entity.start = tokenizers::count_code_points(std::string_view(text).substr(0, byte_start));
  entity.end = tokenizers::count_code_points(std::string_view(text).substr(0, byte_end));
  entity.byte_start = byte_start;
  entity.byte_end = byte_end;
  return entity;
}

std::string shown(const std::string& text, const Entity& entity) {
  return text.substr(entity.byte_start, entity.byte_end - entity.byte_start);
}

TEST(WholeCharacters, SpansHaveTheMarksOfTheirLetters) {
  const std::string text = "\u00e9 Jose\u0301 is";
  std::vector<Entity> entities = {entity_at(text, 3, 7)};  // as a tokenizer that drops accents gives it
  widen_to_characters(text, entities);
  EXPECT_EQ(shown(text, entities[0]), "Jose\u0301");
  EXPECT_EQ(entities[0].start, 2U);
  EXPECT_EQ(entities[0].end, 7U);
  EXPECT_EQ(entities[0].byte_end, 9U);
}

TEST(WholeCharacters, SpansOfBytesHaveWholeCodePoints) {
  const std::string text = "a\u732bb";
  const tokenizers::GraphemeClusters clusters(text);
  const TextSpan span = whole_characters(text, clusters, {.start = 1, .end = 2, .byte_start = 2, .byte_end = 3});
  EXPECT_EQ(span.start, 1U);
  EXPECT_EQ(span.end, 2U);
  EXPECT_EQ(span.byte_start, 1U);
  EXPECT_EQ(span.byte_end, 4U);
}

TEST(WholeCharacters, OfTwoEntitiesThatShareOneTheFirstHasIt) {
  const std::string text = "ae\u0301\u0302b";
  std::vector<Entity> entities = {entity_at(text, 0, 2), entity_at(text, 2, 4), entity_at(text, 4, 7)};
  widen_to_characters(text, entities);
  ASSERT_EQ(entities.size(), 2U);
  EXPECT_EQ(shown(text, entities[0]), "ae\u0301\u0302");
  EXPECT_EQ(entities[0].end, 4U);
  EXPECT_EQ(shown(text, entities[1]), "b");
  EXPECT_EQ(entities[1].start, 4U);
  EXPECT_EQ(entities[1].end, 5U);
}

TEST(WholeCharacters, AnswersOfNothingButMarksAreNoLongerThanTheText) {
  std::string text = "e";
  std::vector<Entity> entities;
  for (std::size_t i = 0; i < 4000; ++i) text += "\u0301";
  for (std::size_t i = 0; i < 4000; ++i) entities.push_back(entity_at(text, 1 + 2 * i, 3 + 2 * i));
  widen_to_characters(text, entities);
  std::size_t bytes = 0;
  for (const Entity& entity : entities) bytes += entity.byte_end - entity.byte_start;
  EXPECT_LE(bytes, text.size());
}

}  // namespace
}  // namespace alate::pipelines
