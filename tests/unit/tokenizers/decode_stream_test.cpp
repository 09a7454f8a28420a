// When text comes out of a DecodeStream.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "alate/error.h"
#include "alate/tokenizer.h"

namespace alate::tests {
namespace {

// A tokenizer of these tokens, numbered from 0.
Tokenizer tokenizer_of(const std::vector<std::string>& tokens, const std::string& decoder) {
  std::string vocabulary = R"("no such token":1000)";
  for (std::size_t i = 0; i < tokens.size(); ++i) vocabulary += ",\"" + tokens[i] + "\":" + std::to_string(i);
  return Tokenizer::from_json(R"({"version":"1.0","decoder":)" + decoder +
                                  R"(,"model":{"type":"WordLevel","unk_token":"?","vocab":{)" + vocabulary + "}}}",
                              "small.json");
}

// What each token and the end give.
std::vector<std::string> pieces(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids,
                                const DecodeOptions& options = {}) {
  DecodeStream stream(tokenizer, options);
  std::vector<std::string> given;
  for (const std::int32_t id : ids) given.push_back(stream.push(id));
  given.push_back(stream.finish());
  return given;
}

using Pieces = std::vector<std::string>;

TEST(DecodeStream, ByteLevelTextWaitsOnlyForTheRestOfACharacter) {
  // U+4E2D is E4 B8 AD: the characters U+00E4, U+00B8, U+0143. U+0120 is a space.
  const Tokenizer tokenizer = tokenizer_of({"a", "ä", "¸", "Ńb", "Ġc"}, R"({"type":"ByteLevel"})");
  EXPECT_EQ(pieces(tokenizer, {0, 1, 2, 3, 4, 1}), (Pieces{"a", "", "", "中b", " c", "", "\uFFFD"}));
}

TEST(DecodeStream, BytesThatCannotGoOnBecomeReplacementsAtOnce) {
  const Tokenizer tokenizer = tokenizer_of({"ä", "¸", "a", "ÿ"}, R"({"type":"ByteLevel"})");
  EXPECT_EQ(pieces(tokenizer, {0, 1, 2, 3}), (Pieces{"", "", "\uFFFDa", "\uFFFD", ""}));
}

TEST(DecodeStream, ByteTokensWaitForTheEndOfTheirRun) {
  // The reference gives no text for a run that is not valid as a whole.
  const Tokenizer tokenizer = tokenizer_of({"<0xE4>", "<0xB8>", "<0xAD>", "x"}, R"({"type":"ByteFallback"})");
  EXPECT_EQ(pieces(tokenizer, {0, 1, 2, 3, 2}), (Pieces{"", "", "", "中x", "", "\uFFFD"}));
}

TEST(DecodeStream, LlamasDecoderStripsTheFirstSpaceOnly) {
  const Tokenizer tokenizer =
      tokenizer_of({"▁a", "▁b", "▁", "▁c"},
                   R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},
          {"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})");
  EXPECT_EQ(pieces(tokenizer, {0, 1, 2, 3}), (Pieces{"a", " b", " ", " c", ""}));
}

TEST(DecodeStream, TrailingSpacesWaitWhereTheyMayBeStripped) {
  const Tokenizer tokenizer = tokenizer_of(
      {"a ", " ", "b "},
      R"({"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Strip","content":" ","start":0,"stop":1}]})");
  EXPECT_EQ(pieces(tokenizer, {0, 1, 1, 2}), (Pieces{"a", " ", " ", " b", ""}));
}

TEST(DecodeStream, MetaspaceAndWordPieceComeTokenByToken) {
  EXPECT_EQ(
      pieces(tokenizer_of({"▁a", "b▁", "▁c"}, R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"always"})"),
             {0, 1, 2}),
      (Pieces{"a", "b ", " c", ""}));
  EXPECT_EQ(pieces(tokenizer_of({"a", "##b", "c", "."}, R"({"type":"WordPiece","prefix":"##","cleanup":true})"),
                   {0, 1, 2, 3}),
            (Pieces{"a", "b", " c", ".", ""}));
  EXPECT_EQ(pieces(tokenizer_of({"a", "b"}, "null"), {0, 1}), (Pieces{"a", " b", ""}));
}

TEST(DecodeStream, CleanUpHoldsBackWhatMayBecomePunctuation) {
  const Tokenizer tokenizer = tokenizer_of({"do", " n", "'t", " ", "!", " ' ", "x"}, R"({"type":"Fuse"})");
  EXPECT_EQ(pieces(tokenizer, {0, 1, 2, 3, 4, 5, 6}, {.clean_up_spaces = true}),
            (Pieces{"do", "", "n't", "", "!", "", "'x", ""}));
  EXPECT_EQ(pieces(tokenizer, {0, 1, 2, 3}, {.clean_up_spaces = true}), (Pieces{"do", "", "n't", "", " "}));
}

TEST(DecodeStream, SkipsUnknownIdsAndSpecialTokens) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"version":"1.0","added_tokens":[{"id":2,"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,
          "normalized":false,"special":true}],"model":{"type":"WordLevel","unk_token":"a","vocab":{"a":0,"b":1}}})",
      "small.json");
  EXPECT_EQ(pieces(tokenizer, {0, 1, 2, 3, 4}, {.skip_special_tokens = true}), (Pieces{"a", " b", "", "", "", ""}));
  EXPECT_EQ(pieces(tokenizer, {0, 1, 2}), (Pieces{"a", " b", " <s>", ""}));
  EXPECT_EQ(pieces(tokenizer, {0, 2, 1}, {.skip_special_tokens = true, .shown_special_tokens = {2}}),
            (Pieces{"a", " <s>", " b", ""}));
  EXPECT_EQ(pieces(tokenizer, {0, 2, 1}, {.skip_special_tokens = true, .shown_special_tokens = {1}}),
            (Pieces{"a", "", " b", ""}));
}

TEST(DecodeStream, DecodersThatMultiplyTheTextStopAtALimit) {
  std::string decoders;
  for (int i = 0; i < 40; ++i) decoders += R"(,{"type":"Replace","pattern":{"String":"a"},"content":"aaaaaaaaaa"})";
  const Tokenizer tokenizer = tokenizer_of({"a"}, R"({"type":"Sequence","decoders":[)" + decoders.substr(1) + "]}");
  try {
    tokenizer.decode(std::vector<std::int32_t>{0});
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  }
}

TEST(DecodeStream, DecodersThatMultiplyEachTokenStopAtALimitOfAll) {
  const std::string content(std::size_t{8} << 20, 'b');
  const Tokenizer tokenizer =
      tokenizer_of({"a"}, R"({"type":"Replace","pattern":{"String":"a"},"content":")" + content + "\"}");
  EXPECT_EQ(tokenizer.decode(std::vector<std::int32_t>(2)).size(), content.size() * 2);
  EXPECT_THROW(tokenizer.decode(std::vector<std::int32_t>(40)), Error);
}

TEST(DecodeStream, LongRunsTakeLinearTime) {
  // 300,000 tokens; with work that grows with the text so far, this would not end within a test's time.
  const Tokenizer tokenizer = tokenizer_of({"ä", "¸", "Ń"}, R"({"type":"ByteLevel"})");
  DecodeStream stream(tokenizer);
  std::string text;
  for (std::int32_t i = 0; i < 300'000; ++i) text += stream.push(i % 3);
  text += stream.finish();
  EXPECT_EQ(text.size(), 300'000u);
}

}  // namespace
}  // namespace alate::tests
