// What is refused of vocabularies in other forms than tokenizer.json, and with which words.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "alate/error.h"
#include "alate/tokenizer.h"
#include "base/threads/cancellation.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/formats/gguf_bytes.h"
#include "tests/unit/formats/refusals.h"
#include "tokenizers/models/renumbered.h"
#include "tokenizers/models/unigram.h"
#include "tokenizers/sources/recovered_merges.h"
#include "tokenizers/sources/sentencepiece_model.h"
#include "tokenizers/sources/vocab_merges.h"
#include "tokenizers/work_budget.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;
using formats::contains;
using formats::GgufBytes;
using formats::GgufType;
using formats::refusal;

std::string loading(const std::filesystem::path& path) {
  return refusal([&] { Tokenizer::load(path); });
}

std::filesystem::path recorded(std::string_view name) {
  return source_folder() / "tests" / "golden" / "tokenizer_sources" / "files" / name;
}

// A field of a protobuf message that has bytes; short ones only.
std::string field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

std::string piece(const std::string& text, const std::string& more = "") { return field(1, field(1, text) + more); }

std::string parsing(const std::string& file) {
  return refusal([&] {
    tokenizers::parse_sentencepiece_model(std::as_bytes(std::span(file.data(), file.size())), "spiece.model");
  });
}

TEST(TokenizerSources, AFolderWithoutATokenizerSaysWhatItNeeds) {
  const TemporaryFolder folder;
  folder.write("config.json", "{}");
  EXPECT_TRUE(contains(loading(folder.path()), "not_found: " + folder.path().string() + " has no tokenizer: it needs"));
  folder.write("a.tiktoken", "IQ== 0\n");
  folder.write("b.tiktoken", "IQ== 0\n");
  EXPECT_TRUE(contains(loading(folder.path()), "several files *.tiktoken"));
}

TEST(TokenizerSources, ASentencePieceModelMustBeOne) {
  EXPECT_TRUE(contains(parsing("no model"), "corrupt: spiece.model is no model of SentencePiece"));
  EXPECT_TRUE(contains(parsing(""), "it has no pieces"));
  EXPECT_EQ(parsing(piece("a") + piece("b")), "accepted");
  EXPECT_TRUE(contains(parsing(piece("")), "a piece is empty"));
  EXPECT_TRUE(contains(parsing(piece("\xFF")), "a piece is not UTF-8"));
  EXPECT_TRUE(contains(parsing(piece("a", "\x18\x07")), "a piece is of type 7"));
  EXPECT_TRUE(contains(parsing(piece("a", std::string("\x15\x00\x00\xC0\x7F", 5))), "no number"));  // 2: NaN
  EXPECT_TRUE(contains(parsing(piece("a") + field(2, "\x18\x09")), "its model is of type 9"));
}

TEST(TokenizerSources, AWordModelIsRefused) {
  const TemporaryFolder folder;
  folder.write("tokenizer.model", piece("<unk>", "\x18\x02") + piece("a") + field(2, "\x18\x03"));
  EXPECT_TRUE(contains(loading(folder.path()), "unsupported"));
  EXPECT_TRUE(contains(loading(folder.path()), "word model"));
}

TEST(TokenizerSources, AClassWithAConversionOfItsOwnIsNamed) {
  const TemporaryFolder folder;
  folder.write("spiece.model", piece("<unk>", "\x18\x02"));
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "XLNetTokenizerFast"})");
  EXPECT_TRUE(contains(loading(folder.path()), "make a tokenizer.json once"));
  EXPECT_TRUE(loading(folder.path()).ends_with("XLNetTokenizer"));
}

TEST(TokenizerSources, AClassThatReadsItsVocabularyDifferentlyIsNamed) {
  const TemporaryFolder folder;
  folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n");
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "EsmTokenizer"})");
  EXPECT_TRUE(contains(loading(folder.path()), "the tokenizer's class is not read from a vocab.txt"));
}

// As transformers' SplinterTokenizer does.
TEST(TokenizerSources, SplintersQuestionsEndWithAMark) {
  const TemporaryFolder folder;
  folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n[QUESTION]\n.\na\nb\n");
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "SplinterTokenizer"})");
  const Encoding right = Tokenizer::load(folder.path()).encode_pair("a", "b");
  EXPECT_EQ(right.ids, (std::vector<std::int32_t>{2, 7, 5, 6, 3, 8, 3}));
  EXPECT_EQ(right.type_ids, (std::vector<std::int32_t>{0, 0, 0, 0, 0, 1, 1}));
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "SplinterTokenizer", "padding_side": "left"})");
  const Encoding left = Tokenizer::load(folder.path()).encode_pair("a", "b");
  EXPECT_EQ(left.ids, (std::vector<std::int32_t>{2, 7, 3, 8, 5, 6, 3}));
  EXPECT_EQ(left.type_ids, (std::vector<std::int32_t>{0, 0, 0, 1, 0, 0, 1}));
}

TEST(TokenizerSources, ConfigsAreChecked) {
  const auto with_config = [](std::string_view config) {
    const TemporaryFolder folder;
    std::filesystem::copy_file(recorded("bpe_bytes.model"), folder.path() / "tokenizer.model");
    folder.write("tokenizer_config.json", config);
    return loading(folder.path());
  };
  EXPECT_EQ(with_config(R"({"tokenizer_class": "LlamaTokenizer"})"), "accepted");
  EXPECT_TRUE(contains(with_config("[]"), "must be a JSON object"));
  EXPECT_TRUE(
      contains(with_config(R"({"tokenizer_class": "LlamaTokenizer", "legacy": "yes"})"), "legacy must be true or"));
  EXPECT_TRUE(contains(with_config(R"({"bos_token": {"lstrip": true}})"), "a token has no content"));
  EXPECT_TRUE(contains(with_config(R"({"bos_token": 1})"), "token"));
  EXPECT_TRUE(contains(with_config(R"({"added_tokens_decoder": {"x": "a"}})"), "a key that is no id"));
  EXPECT_TRUE(contains(with_config(R"({"added_tokens_decoder": []})"), "must be an object"));
}

TEST(TokenizerSources, MergesAreTwoTokensALine) {
  const auto merges = tokenizers::parse_merges("#version: 0.2\na b\r\n\nc d", "merges.txt");
  ASSERT_EQ(merges.size(), 2U);
  EXPECT_EQ(merges[1], (std::pair<std::string, std::string>("c", "d")));
  EXPECT_TRUE(contains(refusal([] { tokenizers::parse_merges("a b\nc", "merges.txt"); }), "merges.txt, line 2"));
  EXPECT_TRUE(contains(refusal([] { tokenizers::parse_merges("a b c", "merges.txt"); }), "merges.txt, line 1"));
  EXPECT_TRUE(contains(refusal([] { tokenizers::parse_merges("a \xFF", "merges.txt"); }), "not UTF-8"));
}

TEST(TokenizerSources, RanksAreATokenAndANumberALine) {
  const TemporaryFolder folder;
  const auto with = [&](std::string_view text) { return loading(folder.write("x.tiktoken", text)); };
  EXPECT_TRUE(contains(with("IQ== 0\nIg== x\n"), "x.tiktoken, line 2"));
  EXPECT_TRUE(contains(with("IQ== 0\nIg= 1\n"), "line 2"));
  EXPECT_TRUE(contains(with("IQ== 0\nIg== 0\n"), "two tokens have the rank 0"));
}

// Every split of "aaaa…" is made of two tokens.
TEST(TokenizerSources, MergesAreRecoveredFromTokens) {
  const std::vector<std::string_view> tokens = {"a", "b", "ab", "abab", "\u00E9", "\u00E9a", "ba", "ab"};
  std::vector<std::string> found;
  for (const auto& [left, right] :
       tokenizers::merges_of(tokenizers::token_splits(tokens, tokenizers::CutAt::code_points, "tokens"), tokens))
    found.push_back(left + "|" + right);
  EXPECT_EQ(found, (std::vector<std::string>{"ab|ab", "\u00E9|a", "b|a", "a|b"}));
  std::vector<std::string> many;
  for (std::size_t length = 1; length < 2000; ++length) many.emplace_back(length, 'a');
  const std::vector<std::string_view> views(many.begin(), many.end());
  EXPECT_TRUE(contains(refusal([&] { tokenizers::token_splits(views, tokenizers::CutAt::bytes, "tokens"); }),
                       "resource_exhausted: tokens"));
}

GgufBytes gguf(std::string_view model, const std::vector<std::string>& tokens) {
  GgufBytes file;
  file.add_text("tokenizer.ggml.model", model);
  file.add("tokenizer.ggml.tokens", GgufType::array, GgufBytes::strings(tokens));
  return file;
}

TEST(TokenizerSources, GgufMetadataMustFitTogether) {
  const TemporaryFolder folder;
  const auto with = [&](const GgufBytes& file) { return loading(folder.write("m.gguf", file.bytes())); };
  EXPECT_TRUE(contains(with(GgufBytes()), "not_found: "));
  EXPECT_TRUE(contains(with(gguf("oracle", {"a"})), "unsupported"));
  EXPECT_TRUE(with(gguf("oracle", {"a"})).ends_with("\"oracle\""));
  EXPECT_TRUE(contains(with(gguf("gpt2", {"a"})), "tokenizer.ggml.merges is missing"));
  EXPECT_TRUE(contains(with(gguf("llama", {})), "tokenizer.ggml.tokens is empty"));
  EXPECT_TRUE(contains(with(gguf("llama", {"\xFF"})), "not UTF-8"));
  EXPECT_TRUE(contains(with(gguf("t5", {"a"})), "tokenizer.ggml.scores is missing"));
  EXPECT_TRUE(contains(with(gguf("llama", {"a", "b"})
                                .add("tokenizer.ggml.token_type", GgufType::array,
                                     GgufBytes::array(GgufType::i32, 1, std::string(4, '\1')))),
                       "has 1 entries for 2 tokens"));
  EXPECT_TRUE(contains(with(gguf("llama", {"a"}).add_text("tokenizer.ggml.scores", "b")), "must be an array"));
  auto merges = gguf("gpt2", {"a", "b"});
  merges.add("tokenizer.ggml.merges", GgufType::array, GgufBytes::strings({"ab"}));
  EXPECT_TRUE(contains(with(merges), "no pair of tokens"));
  auto pre = gguf("gpt2", {"a", "b", "ab"});
  pre.add("tokenizer.ggml.merges", GgufType::array, GgufBytes::strings({"a b"}));
  pre.add_text("tokenizer.ggml.pre", "future");
  EXPECT_TRUE(with(pre).ends_with("\"future\""));
}

// RWKV's tokens are byte strings, written with escapes; the longest one at each place is taken.
TEST(TokenizerSources, RwkvTakesTheLongestToken) {
  const TemporaryFolder folder;
  const Tokenizer tokenizer = Tokenizer::load(
      folder.write("m.gguf", gguf("rwkv", {"<s>", "a", "b", "ab", "abc", "\\n", "\\xc3", "\\xa9", "\\\\"}).bytes()));
  const Encoding encoding = tokenizer.encode("abab\n\u00E9\\");
  EXPECT_EQ(encoding.ids, (std::vector<std::int32_t>{3, 3, 5, 6, 7, 8}));
  EXPECT_EQ(tokenizer.decode(encoding.ids), "abab\n\u00E9\\");
  EXPECT_TRUE(contains(refusal([&] { tokenizer.encode("c"); }), "no token of the vocabulary fits"));
}

// Marian's vocabulary numbers the pieces of another model.
TEST(TokenizerSources, ARenumberedModelHasTheIdsOfItsVocabulary) {
  tokenizers::Vocabulary vocabulary;
  vocabulary.add("b", 5);
  vocabulary.add("\u00E9", 6);
  vocabulary.add("<unk>", 9);
  vocabulary.finish();
  const auto model = tokenizers::renumbered(
      tokenizers::unigram({{"<unk>", 0}, {"a", -1}, {"b", -2}}, 0, false, "pieces"), std::move(vocabulary), 9);
  const auto ids = [&](std::string_view piece) {
    const auto scratch = model->make_scratch();
    tokenizers::WorkBudget budget(base::Cancellation::never(), piece.size());
    scratch->budget = &budget;
    std::vector<tokenizers::Token> tokens;
    model->tokenize(piece, *scratch, tokens);
    std::vector<std::int32_t> found;
    for (const tokenizers::Token& token : tokens) found.push_back(token.id);
    return found;
  };
  EXPECT_EQ(ids("bab"), (std::vector<std::int32_t>{5, 9, 5}));
  EXPECT_EQ(ids("b\u00E9"), (std::vector<std::int32_t>{5, 6}));
  EXPECT_EQ(ids("b?"), (std::vector<std::int32_t>{5, 9}));
  EXPECT_EQ(model->id_to_token(6), "\u00E9");
  EXPECT_EQ(model->id_to_token(0), std::nullopt);
}

TEST(TokenizerSources, GgufMayHoldATokenizerJson) {
  const TemporaryFolder folder;
  auto file = gguf("oracle", {"a"});
  file.add_text("tokenizer.huggingface.json",
                R"({"model": {"type": "WordLevel", "unk_token": "u", "vocab": {"u": 7}}})");
  EXPECT_EQ(Tokenizer::load(folder.write("m.gguf", file.bytes())).encode("x").ids, std::vector<std::int32_t>{7});
}

}  // namespace
}  // namespace alate::tests
