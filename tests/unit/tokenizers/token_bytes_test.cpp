#include "tokenizers/token_bytes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace alate::tokenizers {
namespace {

// A tokenizer of these tokens, numbered from 0; with a special token <end>, the last.
TokenBytes bytes_of(const std::vector<std::string>& tokens, const std::string& decoder) {
  std::string vocabulary;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    vocabulary += (i > 0 ? ",\"" : "\"") + tokens[i] + "\":" + std::to_string(i);
  return TokenBytes(Tokenizer::from_json(
      R"({"version":"1.0","added_tokens":[{"id":)" + std::to_string(tokens.size()) +
          R"(,"content":"<end>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],"decoder":)" +
          decoder + R"(,"model":{"type":"WordLevel","unk_token":"a","vocab":{)" + vocabulary + "}}}",
      "small.json"));
}

TEST(TokenBytes, PartsOfCharactersAreTheirBytesInByteLevelVocabularies) {
  // U+4E2D is E4 B8 AD: the characters U+00E4, U+00B8, U+0143. U+0120 is a space.
  const TokenBytes bytes = bytes_of({"a", "ä", "¸", "Ńb", "Ġc"}, R"({"type":"ByteLevel"})");
  EXPECT_EQ(bytes.of(0), "a");
  EXPECT_EQ(bytes.of(1), "\xE4");
  EXPECT_EQ(bytes.of(2), "\xB8");
  EXPECT_EQ(bytes.of(3),
            "\xAD"
            "b");
  EXPECT_EQ(bytes.of(4), " c");
  EXPECT_EQ(bytes.of(5), "<end>");
}

TEST(TokenBytes, ByteTokensAreTheirBytesAndSpacesStay) {
  const TokenBytes bytes =
      bytes_of({"a", "▁b", "▁", "<0xE4>", "<0x0A>", "\uFFFD"},
               R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},
          {"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})");
  EXPECT_EQ(bytes.of(1), " b");
  EXPECT_EQ(bytes.of(2), " ");
  EXPECT_EQ(bytes.of(3), "\xE4");
  EXPECT_EQ(bytes.of(4), "\n");
  EXPECT_EQ(bytes.of(5), "\uFFFD");
  EXPECT_EQ(bytes.of(6), "<end>");
}

TEST(TokenBytes, ContinuingWordPiecesHaveNoSpace) {
  const TokenBytes bytes = bytes_of({"a", "b", "##c"}, R"({"type":"WordPiece","prefix":"##","cleanup":true})");
  EXPECT_EQ(bytes.of(1), " b");
  EXPECT_EQ(bytes.of(2), "c");
}

TEST(TokenBytes, NoTokenHasNone) {
  const TokenBytes bytes = bytes_of({"a"}, R"({"type":"ByteLevel"})");
  EXPECT_EQ(bytes.of(99), "");
  EXPECT_EQ(bytes.of(-1), "");
}

}  // namespace
}  // namespace alate::tokenizers
