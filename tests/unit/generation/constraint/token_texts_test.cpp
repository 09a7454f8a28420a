#include "generation/constraint/token_texts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "alate/tokenizer.h"

namespace alate::generation {
namespace {

TEST(TokenTexts, TokensOfBytesMayBePartsOfCharacters) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"added_tokens": [{"id": 4, "content": "<s>", "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false}, {"id": 5, "content": "<call>", "special": false, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false}],
          "decoder": {"type": "ByteLevel"},
          "model": {"type": "BPE", "vocab": {"a": 0, "Ġa": 1, "Ã": 2, "©": 3, "<s>": 4, "<call>": 5, "b": 6}, "merges": []}})",
      "tokenizer.json");
  const std::vector<std::int32_t> ends = {6};
  const std::vector<std::string> texts = token_texts(tokenizer, 9, ends);
  EXPECT_EQ(texts, (std::vector<std::string>{"a", " a", "\xC3", "\xA9", "", "<call>", "", "", ""}));
  EXPECT_FALSE(drops_first_space(tokenizer, texts));
}

TEST(TokenTexts, TokensOfSentencePieceHaveTheirSpaceWithinAText) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
          {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
          "model": {"type": "BPE", "byte_fallback": true, "vocab": {"a": 0, "▁a": 1, "<0xC3>": 2, "<0x0A>": 3, "é": 4}, "merges": []}})",
      "tokenizer.json");
  const std::vector<std::string> texts = token_texts(tokenizer, 5, {});
  EXPECT_EQ(texts, (std::vector<std::string>{"a", " a", "\xC3", "\n", "é"}));
  EXPECT_TRUE(drops_first_space(tokenizer, texts));
}

}  // namespace
}  // namespace alate::generation
