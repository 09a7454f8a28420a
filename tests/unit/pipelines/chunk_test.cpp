// Chunks without a model: counting, methods, limits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "alate/chunk.h"
#include "alate/error.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/tokenizers/small_tokenizer.h"
#include "tokenizers/unicode/grapheme_clusters.h"
#include "tokenizers/unicode/utf8.h"

namespace alate {
namespace {

using Texts = std::vector<std::string>;

Texts texts_of(const Chunks& chunks) {
  Texts texts;
  for (const Chunk& chunk : chunks.chunks) texts.push_back(chunk.text);
  return texts;
}

Texts cut(std::string_view text, const ChunkOptions& options) { return texts_of(Chunker().chunk(text, options)); }

// No option by which chunks repeat text.
ChunkOptions without_overlap(ChunkMethod method, std::size_t target) {
  return {.method = method, .target_tokens = target, .overlap_tokens = 0};
}

TEST(Chunk, CountsWithoutAModelByWordsAndCharacters) {
  const auto count = [](std::string_view text) { return Chunker().chunk(text).tokens; };
  EXPECT_EQ(count(""), 0U);
  EXPECT_EQ(count(" \n\t\u00a0\u3000"), 0U);
  EXPECT_EQ(count("word"), 1U);
  EXPECT_EQ(count("wordword wordwords"), 3U);  // 8 characters, 9 characters
  EXPECT_EQ(count("e\u0301e\u0301e\u0301e\u0301"), 1U);
  EXPECT_EQ(count("Hello, world!"), 4U);
  EXPECT_EQ(count("\u732b\u5728\u57ab\u5b50\u4e0a"), 5U);
}

TEST(Chunk, FixedJoinsSectionsWhileTheyFit) {
  const std::string text = "a b\n\nc d\n\ne f g\n\nh";
  EXPECT_EQ(cut(text, without_overlap(ChunkMethod::fixed, 4)), (Texts{"a b\n\nc d", "e f g\n\nh"}));
  EXPECT_EQ(cut(text, without_overlap(ChunkMethod::fixed, 3)), (Texts{"a b", "c d", "e f g", "h"}));
  ChunkOptions options = without_overlap(ChunkMethod::fixed, 4);
  options.separator = "d";
  EXPECT_EQ(cut(text, options), (Texts{"a b\n\nc d", "e f g\n\nh"}));
  options.separator = "";
  EXPECT_EQ(cut(text, options), (Texts{"a b\n\nc d", "e f g\n\nh"}));
}

TEST(Chunk, FixedCutsLongSectionsBetweenWords) {
  EXPECT_EQ(cut("one two abcdefghijklmnopq three", without_overlap(ChunkMethod::fixed, 4)),
            (Texts{"one two", "abcdefghijklmnopq three"}));
  // A word that fits no chunk is cut in itself.
  EXPECT_EQ(cut("abcdefghijklmnopqrstuvwxy", without_overlap(ChunkMethod::fixed, 2)),
            (Texts{"abcdefghijklmnop", "qrstuvwxy"}));
}

TEST(Chunk, OverlapRepeatsWordsOfTheChunkBefore) {
  EXPECT_EQ(cut("a b c d e f g", {.target_tokens = 4, .overlap_tokens = 2}), (Texts{"a b c d", "c d e f", "e f g"}));
  // It shrinks where what follows would not fit otherwise.
  EXPECT_EQ(cut("a b c\n\nd e f\n\ng", {.target_tokens = 4, .overlap_tokens = 3}),
            (Texts{"a b c", "c\n\nd e f", "d e f\n\ng"}));
  EXPECT_EQ(cut("One two. Three four. Five six. Seven.",
                {.method = ChunkMethod::sentence, .target_tokens = 6, .overlap_tokens = 3}),
            (Texts{"One two. Three four.", "Three four. Five six.", "Five six. Seven."}));
}

TEST(Chunk, OverlapIsATenthByDefault) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "w ";
  const auto repeated = [&](std::size_t target) {
    const Chunks chunks = Chunker().chunk(text, {.target_tokens = target});
    return (chunks.chunks[0].end - chunks.chunks[1].start + 1) / 2;
  };
  EXPECT_EQ(repeated(100), 10U);
  EXPECT_EQ(repeated(500), 50U);
  EXPECT_EQ(repeated(900), 50U);
}

TEST(Chunk, SentencesStayWhole) {
  EXPECT_EQ(cut("He has 3.5 apples. She has none! \"Why?\" he asked. Well.", without_overlap(ChunkMethod::sentence, 8)),
            (Texts{"He has 3.5 apples.", "She has none! \"Why?\"", "he asked. Well."}));
}

TEST(Chunk, RecursiveCutsAtTheLargestUnitThatIsNeeded) {
  const std::string text =
      "# One\nfirst line\nsecond line\n\nnext paragraph\n\n"
      "## Inner\nwords of it\n\n"
      "```\n# no heading\n```\n\n"
      "# Two\nend";
  EXPECT_EQ(cut(text, without_overlap(ChunkMethod::recursive, 100)), (Texts{text}));
  EXPECT_EQ(cut(text, without_overlap(ChunkMethod::recursive, 22)),
            (Texts{"# One\nfirst line\nsecond line\n\nnext paragraph",
                   "## Inner\nwords of it\n\n```\n# no heading\n```", "# Two\nend"}));
  EXPECT_EQ(cut(text, without_overlap(ChunkMethod::recursive, 7)),
            (Texts{"# One\nfirst line\nsecond line", "next paragraph", "## Inner\nwords of it", "```\n# no heading",
                   "```", "# Two\nend"}));
}

TEST(Chunk, SectionsWithHeadingsAreNotJoined) {
  EXPECT_EQ(cut("# A\nx\n# B\ny\n# C\nz", {.method = ChunkMethod::recursive, .target_tokens = 7, .overlap_tokens = 3}),
            (Texts{"# A\nx", "# B\ny", "# C\nz"}));
}

TEST(Chunk, HeadingsAreThoseOfCommonMark) {
  const ChunkOptions options = without_overlap(ChunkMethod::recursive, 3);
  EXPECT_EQ(cut("a b\n# c d\ne f", options), (Texts{"a b", "# c d", "e f"}));
  EXPECT_EQ(cut("a b\n#c d\n", options), (Texts{"a b", "#c d"}));
  EXPECT_EQ(cut("a\n####### b c\nd", options).front(), "a");
  const ChunkOptions wide = without_overlap(ChunkMethod::recursive, 8);
  EXPECT_EQ(cut("a b c\n~~~\n# d\n~~~\ne", wide), (Texts{"a b c\n~~~\n# d", "~~~\ne"}));
  EXPECT_EQ(cut("a b c d e f g\n   # h i", wide), (Texts{"a b c d e f g", "# h i"}));
}

TEST(Chunk, PlacesAreCodePointsAndBytes) {
  const std::string text = "\u00e9a \u732b\U0001F98A b\n\n  caf\u00e9 \n";
  const Chunks chunks = Chunker().chunk(text, without_overlap(ChunkMethod::fixed, 3));
  ASSERT_EQ(chunks.chunks.size(), 2U);
  EXPECT_EQ(chunks.chunks[0].text, "\u00e9a \u732b\U0001F98A");
  EXPECT_EQ(chunks.chunks[1].text, "b\n\n  caf\u00e9");
  EXPECT_EQ(chunks.chunks[1].start, 6U);
  EXPECT_EQ(chunks.chunks[1].end, 15U);
  EXPECT_EQ(chunks.chunks[1].byte_start, 12U);
  EXPECT_EQ(chunks.chunks[1].byte_end, 22U);
}

TEST(Chunk, TokensOfAModelAreCounted) {
  const Chunker chunker(tests::SmallTokenizer().load());
  const Chunks chunks = chunker.chunk("a abc abb a! b", without_overlap(ChunkMethod::fixed, 3));
  EXPECT_EQ(chunks.tokens, 8U);  // a abc a ##b ##b a ! b
  EXPECT_EQ(texts_of(chunks), (Texts{"a abc", "abb", "a! b"}));
}

TEST(Chunk, LettersKeepTheirMarks) {
  // The tokenizer drops accents, so that no token has them.
  const Chunker chunker(tests::SmallTokenizer().load());
  const std::string text = "a be\u0301. b\u0301\n\nabc be\u0301\n";
  for (const ChunkMethod method : {ChunkMethod::fixed, ChunkMethod::recursive, ChunkMethod::sentence}) {
    ChunkOptions options = without_overlap(method, 3);
    options.separator = " ";
    std::string shown;
    for (const Chunk& chunk : chunker.chunk(text, options).chunks) {
      EXPECT_EQ(chunk.text, text.substr(chunk.byte_start, chunk.byte_end - chunk.byte_start));
      EXPECT_EQ(chunk.end - chunk.start, tokenizers::count_code_points(chunk.text));
      shown += chunk.text;
    }
    std::erase(shown, ' ');
    std::erase(shown, '\n');
    EXPECT_EQ(shown, "abe\u0301.b\u0301abcbe\u0301") << to_string(method);
  }
  // A mark that stands by itself, and other characters that the tokenizer leaves out, are in the chunk before them.
  EXPECT_EQ(texts_of(chunker.chunk("a \u0301b", without_overlap(ChunkMethod::fixed, 1))), (Texts{"a \u0301", "b"}));
  EXPECT_EQ(texts_of(chunker.chunk("a\ufffd b\ufffd", without_overlap(ChunkMethod::fixed, 1))),
            (Texts{"a\ufffd", "b\ufffd"}));
}

TEST(Chunk, CharactersAsReadersSeeThemAreNotCut) {
  const ChunkOptions options = without_overlap(ChunkMethod::fixed, 1);
  const std::string family = "\U0001F468\u200d\U0001F469\u200d\U0001F467";  // one emoji of three, joined
  const std::string flag = "\U0001F1E9\U0001F1EA", thumb = "\U0001F44D\U0001F3FD";
  EXPECT_EQ(cut(family + flag + thumb, options), (Texts{family, flag, thumb}));
  EXPECT_EQ(cut("\u304b\u3099\u304b", options), (Texts{"\u304b\u3099", "\u304b"}));  // kana with a mark
  const std::string hangul = "\u1100\u1161\u11a8";
  EXPECT_EQ(cut(hangul + hangul, options).size(), 1U);
  // The eighth letter of a word keeps its mark.
  EXPECT_EQ(cut("abcdefge\u0301hi", options), (Texts{"abcdefge\u0301", "hi"}));
}

TEST(Chunk, SeparatorsAreFoundInComposedAndOtherLetters) {
  ChunkOptions options = without_overlap(ChunkMethod::fixed, 3);
  options.separator = "\u00e9";
  const Texts composed = cut("a b\u00e9 c d", options), other = cut("a be\u0301 c d", options);
  EXPECT_EQ(composed, (Texts{"a b\u00e9", "c d"}));
  EXPECT_EQ(other, (Texts{"a be\u0301", "c d"}));
  options.separator = "e\u0301";
  EXPECT_EQ(cut("a b\u00e9 c d", options), composed);
  EXPECT_EQ(cut("a be\u0301 c d", options), other);
  // No part of a letter is a separator: there is one section, which is cut between words.
  options.separator = "e";
  EXPECT_EQ(cut("a be\u0301 c d", options), (Texts{"a be\u0301 c", "d"}));
  options.separator = "\n";
  EXPECT_EQ(cut("\u00e9 b\r\nc d", options), (Texts{"\u00e9 b", "c d"}));
}

TEST(Chunk, MaxChunksLeavesOutTheRestAndSaysSo) {
  ChunkOptions options = without_overlap(ChunkMethod::fixed, 1);
  options.max_chunks = 2;
  const Chunks cut_short = Chunker().chunk("a b c", options);
  EXPECT_EQ(texts_of(cut_short), (Texts{"a", "b"}));
  EXPECT_TRUE(cut_short.truncated);
  EXPECT_FALSE(Chunker().chunk("a b", options).truncated);
}

TEST(Chunk, OptionsThatCannotBeMetAreRefused) {
  const auto refusal = [](std::string_view text, const ChunkOptions& options) {
    return base::error_of([&] { (void)Chunker().chunk(text, options); });
  };
  EXPECT_NE(refusal("a", {.target_tokens = 0}).message().find("target_tokens"), std::string::npos);
  EXPECT_NE(refusal("a", {.target_tokens = 5, .overlap_tokens = 5}).message().find("overlap_tokens"),
            std::string::npos);
  EXPECT_NE(refusal("a", {.max_chunks = 0}).message().find("max_chunks"), std::string::npos);
  EXPECT_NE(refusal("a", {.percentile = 101}).message().find("percentile"), std::string::npos);
  EXPECT_EQ(refusal("a", {.method = ChunkMethod::semantic}).code(), ErrorCode::unsupported);
  EXPECT_EQ(refusal("a\xff", {}).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(base::error_of([] { (void)Chunker().chunk_late("a"); }).code(), ErrorCode::unsupported);
}

// Texts of pieces in which the rules meet.
std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"a",
                                                   "word",
                                                   "abcdefghijklmnopqrs",
                                                   " ",
                                                   "  ",
                                                   "\n",
                                                   "\n\n",
                                                   ". ",
                                                   "! ",
                                                   "# ",
                                                   "```\n",
                                                   "\u732b",
                                                   "e\u0301",
                                                   "\u0301",
                                                   "\u200d",
                                                   "\U0001F1E9",
                                                   "\u1100\u1161",
                                                   "\U0001F98A",
                                                   "\u00a0",
                                                   "\r\n",
                                                   "3.5",
                                                   "(x)",
                                                   "\u201cy\u201d",
                                                   "\t"};
  std::string text;
  for (std::size_t i = random() % 60; i > 0; --i) text += kPieces[random() % kPieces.size()];
  return text;
}

TEST(Chunk, RandomTextsAreCoveredByChunksThatFit) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random_text(random);
    const std::size_t target = 1 + random() % 12;
    const ChunkOptions options{
        .method = static_cast<ChunkMethod>(random() % 3), .target_tokens = target, .overlap_tokens = random() % target};
    const Chunks chunks = Chunker().chunk(text, options);
    std::size_t covered = 0, last_start = 0;
    for (std::size_t i = 0; i < chunks.chunks.size(); ++i) {
      const Chunk& chunk = chunks.chunks[i];
      ASSERT_EQ(chunk.text, text.substr(chunk.byte_start, chunk.byte_end - chunk.byte_start));
      ASSERT_FALSE(chunk.text.empty());
      ASSERT_EQ(chunk.start, tokenizers::count_code_points(text.substr(0, chunk.byte_start)));
      ASSERT_EQ(chunk.end, tokenizers::count_code_points(text.substr(0, chunk.byte_end)));
      ASSERT_LE(chunk.tokens, target) << text;
      if (i > 0) {
        ASSERT_GT(chunk.byte_start, last_start) << text;
      }
      const tokenizers::GraphemeClusters clusters(text);
      ASSERT_TRUE(clusters.is_border(chunk.byte_start) && clusters.is_border(chunk.byte_end)) << text;
      // Only white space is left out.
      if (chunk.byte_start > covered) {
        ASSERT_EQ(Chunker().chunk(text.substr(covered, chunk.byte_start - covered)).tokens, 0U) << text;
      }
      ASSERT_GT(chunk.byte_end, covered) << text;
      covered = chunk.byte_end;
      last_start = chunk.byte_start;
    }
    ASSERT_EQ(Chunker().chunk(text.substr(covered)).tokens, 0U) << text;
  }
}

TEST(Chunk, LongTextsTakeLinearTime) {
  // Chunks that repeat nearly all of the one before: their number is bounded, and each is found without reading the
  // text again.
  const std::string text(1 << 20, '.');
  const Chunks chunks = Chunker().chunk(text, {.target_tokens = 400000, .overlap_tokens = 399999, .max_chunks = 20});
  EXPECT_EQ(chunks.chunks.size(), 20U);
  EXPECT_TRUE(chunks.truncated);
  // One endless word has no place where a repetition could begin.
  const std::string word(4 << 20, 'a');
  EXPECT_EQ(Chunker().chunk(word, {.target_tokens = 400000, .overlap_tokens = 399999}).chunks.size(), 2U);
}

}  // namespace
}  // namespace alate
