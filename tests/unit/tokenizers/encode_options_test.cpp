// Options of encode, and small facts about the pipeline that need no recording.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "alate/error.h"
#include "alate/tokenizer.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/tokenizers/small_tokenizer.h"

namespace alate::tests {
namespace {

using Ids = std::vector<std::int32_t>;
using Offsets = std::vector<Encoding::Offsets>;

TEST(EncodeOptions, StatedTruncationIsToldButNotApplied) {
  SmallTokenizer file;
  file.truncation = R"({"max_length":3,"strategy":"LongestFirst","stride":0,"direction":"Left"})";
  const Tokenizer tokenizer = file.load();
  EXPECT_EQ(tokenizer.stated_max_length(), 3u);
  EXPECT_EQ(tokenizer.encode("a b abc").ids, (Ids{1, 3, 4, 7, 2}));
  EXPECT_FALSE(tokenizer.encode("a b abc").truncated);
  // The side that the file states holds for a truncation that is asked for.
  EXPECT_EQ(tokenizer.encode("a b abc", {.max_length = 3}).ids, (Ids{1, 7, 2}));
  EXPECT_EQ(tokenizer.encode("a b abc", {.max_length = 3, .side = Side::right}).ids, (Ids{1, 3, 2}));
}

TEST(EncodeOptions, WindowsRepeatTheStride) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  const Encoding encoding = tokenizer.encode("a b abc ! e", {.max_length = 5, .stride = 1});
  EXPECT_TRUE(encoding.truncated);
  EXPECT_EQ(encoding.ids, (Ids{1, 3, 4, 7, 2}));
  ASSERT_EQ(encoding.overflowing.size(), 1u);
  EXPECT_EQ(encoding.overflowing[0].ids, (Ids{1, 7, 8, 9, 2}));
  EXPECT_EQ(encoding.overflowing[0].offsets, (Offsets{{0, 0}, {4, 7}, {8, 9}, {10, 11}, {0, 0}}));
}

TEST(EncodeOptions, WithoutWindowsATextOfAnyLengthIsCut) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "a ";
  EncodeOptions options{.max_length = 3, .with_offsets = false, .with_tokens = false};
  EXPECT_EQ(base::error_of([&] { tokenizer.encode(text, options); }).code(), ErrorCode::resource_exhausted);
  options.with_windows = false;
  const Encoding cut = tokenizer.encode(text + "b", options);
  EXPECT_TRUE(cut.truncated);
  EXPECT_TRUE(cut.overflowing.empty());
  EXPECT_EQ(cut.ids, (Ids{1, 3, 2}));
  options.side = Side::left;
  EXPECT_EQ(tokenizer.encode(text + "b", options).ids, (Ids{1, 4, 2}));
  const Encoding pair = tokenizer.encode_pair("a b abc ! e", "b a", {.max_length = 6, .with_windows = false});
  EXPECT_TRUE(pair.overflowing.empty());
  EXPECT_EQ(pair.ids, tokenizer.encode_pair("a b abc ! e", "b a", {.max_length = 6}).ids);
}

TEST(EncodeOptions, SaysWhyItCannotCut) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  const auto message = [&](const EncodeOptions& options, bool pair) -> std::string {
    try {
      pair ? tokenizer.encode_pair("a b a b", "a", options) : tokenizer.encode("a b a b", options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.message();
    }
    return "";
  };
  EXPECT_NE(message({.max_length = 1}, false).find("no room for the 2 special tokens"), std::string::npos);
  EXPECT_NE(message({.max_length = 4, .stride = 2}, false).find("stride of 2"), std::string::npos);
  EXPECT_NE(message({.max_length = 4, .strategy = Truncation::only_second}, false).find("needs a pair"),
            std::string::npos);
  EXPECT_NE(message({.max_length = 5, .strategy = Truncation::only_second}, true).find("use longest_first"),
            std::string::npos);
}

TEST(EncodeOptions, ABatchIsPaddedToItsLongest) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  const std::vector<EncodeInput> inputs = {"a", {"a b", "abc"}, ""};
  const Padding padding{.multiple_of = 4, .side = Side::left, .id = 8, .type_id = 5, .token = "!"};
  const std::vector<Encoding> batch = tokenizer.encode_batch(inputs, {.padding = padding});
  ASSERT_EQ(batch.size(), 3u);
  EXPECT_EQ(batch[1].ids, (Ids{8, 8, 1, 3, 4, 2, 7, 2}));
  EXPECT_EQ(batch[1].type_ids, (Ids{5, 5, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(batch[1].attention_mask, (std::vector<std::uint8_t>{0, 0, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(batch[1].special_mask, (std::vector<std::uint8_t>{1, 1, 1, 0, 0, 1, 0, 1}));
  EXPECT_EQ(batch[1].word_ids, (Ids{-1, -1, -1, 0, 1, -1, 0, -1}));
  EXPECT_EQ(batch[1].sequence_ids, (std::vector<std::int8_t>{-1, -1, -1, 0, 0, -1, 1, -1}));
  EXPECT_EQ(batch[0].ids, (Ids{8, 8, 8, 8, 8, 1, 3, 2}));
  EXPECT_EQ(batch[2].ids.size(), 8u);
  EXPECT_EQ(batch[2].tokens.front(), "!");
  EXPECT_TRUE(tokenizer.encode_batch({}).empty());
}

TEST(EncodeOptions, ABatchGivesWhatEachTextGives) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  std::vector<std::string> texts;
  for (int i = 0; i < 500; ++i) texts.push_back(std::string(static_cast<std::size_t>(i % 7), 'a') + " abc !");
  const std::vector<Encoding> batch = tokenizer.encode_batch(std::vector<EncodeInput>(texts.begin(), texts.end()));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(batch[i].ids, tokenizer.encode(texts[i]).ids);
    EXPECT_EQ(batch[i].offsets, tokenizer.encode(texts[i]).offsets);
  }
}

TEST(EncodeOptions, HugePaddingIsRefused) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  EXPECT_THROW(tokenizer.encode("a", {.padding = Padding{.length = std::size_t{1} << 40}}), Error);
  EXPECT_THROW(tokenizer.encode("a", {.padding = Padding{.multiple_of = ~std::size_t{0}}}), Error);
}

TEST(EncodeOptions, StatedPaddingIsToldButNotApplied) {
  std::string json = SmallTokenizer().json();
  const std::string absent = R"("padding":null)";
  json.replace(json.find(absent), absent.size(),
               R"("padding":{"strategy":{"Fixed":9},"direction":"Left","pad_to_multiple_of":null,"pad_id":8,
                  "pad_type_id":1,"pad_token":"!"})");
  const Tokenizer tokenizer = Tokenizer::from_json(json, "small.json");
  ASSERT_TRUE(tokenizer.stated_padding().has_value());
  EXPECT_EQ(tokenizer.stated_padding()->length, 9u);
  EXPECT_EQ(tokenizer.stated_padding()->side, Side::left);
  EXPECT_EQ(tokenizer.stated_padding()->token, "!");
  EXPECT_EQ(tokenizer.encode("a").ids, (Ids{1, 3, 2}));
  EXPECT_EQ(tokenizer.encode("a", {.padding = tokenizer.stated_padding()}).ids, (Ids{8, 8, 8, 8, 8, 8, 1, 3, 2}));
}

TEST(EncodeOptions, ListsThatAreNotWantedAreEmpty) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  const Encoding all = tokenizer.encode("Abc Éb");
  const Encoding bare = tokenizer.encode("Abc Éb", {.with_offsets = false, .with_tokens = false});
  EXPECT_EQ(bare.ids, all.ids);
  EXPECT_TRUE(bare.offsets.empty() && bare.byte_offsets.empty() && bare.tokens.empty());
  EXPECT_EQ(bare.special_mask, (std::vector<std::uint8_t>{1, 0, 0, 0, 1}));
}

TEST(Encode, OffsetsAreOfTheOriginalText) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  // E with acute accent (two bytes) is "e" once normalized; the ideograph (three bytes) gets spaces around it.
  const Encoding encoding = tokenizer.encode("Éb\u6771ABC");
  EXPECT_EQ(encoding.tokens, (std::vector<std::string>{"[CLS]", "e", "##b", "[UNK]", "abc", "[SEP]"}));
  EXPECT_EQ(encoding.offsets, (Offsets{{0, 0}, {0, 1}, {1, 2}, {2, 3}, {3, 6}, {0, 0}}));
  EXPECT_EQ(encoding.byte_offsets, (Offsets{{0, 0}, {0, 2}, {2, 3}, {3, 6}, {6, 9}, {0, 0}}));
}

TEST(Encode, InvalidUtf8BecomesReplacementCharacters) {
  SmallTokenizer file;
  file.normalizer = "null";  // BERT's would remove them
  const Tokenizer tokenizer = file.load();
  const Encoding encoding = tokenizer.encode("a \xE2\x82 \xFF\xFE b");
  EXPECT_EQ(encoding.ids, (Ids{1, 3, 0, 0, 4, 2}));
  EXPECT_EQ(encoding.offsets, (Offsets{{0, 0}, {0, 1}, {2, 3}, {4, 6}, {7, 8}, {0, 0}}));
}

TEST(Encode, WordsOfMoreThanAHundredCharactersAreUnknown) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  EXPECT_EQ(tokenizer.encode("a" + std::string(99, 'b')).ids.size(), 102u);
  EXPECT_EQ(tokenizer.encode("a" + std::string(100, 'b')).ids, (Ids{1, 0, 2}));
  EXPECT_EQ(tokenizer.encode(std::string(1'000'000, 'b')).ids, (Ids{1, 0, 2}));
}

TEST(Encode, AddedTokensTakeTheirTextWhole) {
  SmallTokenizer file;
  file.added_tokens =
      R"([{"id":99,"content":"<x>","single_word":false,"lstrip":true,"rstrip":false,"normalized":false,"special":true}])";
  const Tokenizer tokenizer = file.load();
  // The file's id is not the next free one; like the reference, tokens are numbered behind the model's.
  EXPECT_EQ(tokenizer.token_to_id("<x>"), 11);
  EXPECT_EQ(tokenizer.vocabulary_size(), 12u);
  const Encoding encoding = tokenizer.encode("a  <x>b");
  EXPECT_EQ(encoding.ids, (Ids{1, 3, 11, 4, 2}));
  EXPECT_EQ(encoding.tokens[2], "  <x>");
  EXPECT_EQ(encoding.special_mask, (std::vector<std::uint8_t>{1, 0, 0, 0, 1}));
  EXPECT_EQ(tokenizer.decode(encoding.ids, false), "[CLS] a <x> b [SEP]");
}

TEST(Decode, LeavesOutUnknownIds) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  EXPECT_EQ(tokenizer.decode(Ids{3, 5, 6, -1, 1000, 8}), "abc!");
  EXPECT_EQ(tokenizer.id_to_token(-1), std::nullopt);
  EXPECT_EQ(tokenizer.id_to_token(7), "abc");
  EXPECT_EQ(tokenizer.token_to_id("absent"), std::nullopt);
}

TEST(Encode, PairsHaveTypesAndCountTheirSpecialTokens) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  EXPECT_EQ(tokenizer.special_tokens_added(false), 2u);
  EXPECT_EQ(tokenizer.special_tokens_added(true), 3u);
  const Encoding pair = tokenizer.encode_pair("a", "b abc");
  EXPECT_EQ(pair.ids, (Ids{1, 3, 2, 4, 7, 2}));
  EXPECT_EQ(pair.type_ids, (Ids{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(tokenizer.encode_pair("a", "b", {.add_special_tokens = false}).ids, (Ids{3, 4}));
}

TEST(EncodeOptions, ACallCanBeStopped) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  std::stop_source stop;
  EXPECT_EQ(tokenizer.encode("a", {}, {.stop = stop.get_token()}).ids, (Ids{1, 3, 2}));
  stop.request_stop();
  const std::vector<EncodeInput> inputs = {"a", "b"};
  EXPECT_EQ(base::error_of([&] { tokenizer.encode("a", {}, {.stop = stop.get_token()}); }).code(),
            ErrorCode::cancelled);
  EXPECT_EQ(base::error_of([&] { tokenizer.encode_batch(inputs, {}, {.stop = stop.get_token()}); }).code(),
            ErrorCode::cancelled);
}

// With this vocabulary each place of the text is compared with 60,000 bytes: the whole text would take minutes.
TEST(EncodeOptions, ADeadlineEndsTheMiddleOfAText) {
  const std::string piece(60'000, 'a');
  for (const std::string& model :
       {R"({"type":"Unigram","unk_id":0,"vocab":[["u",0],["a",-3],[")" + piece + R"(",-1]]})",
        R"({"type":"WordPiece","unk_token":"u","continuing_subword_prefix":"","max_input_chars_per_word":2000000000,)"
        R"("vocab":{"u":0,"a":1,")" +
            piece + R"(b":2}})"}) {
    const Tokenizer tokenizer =
        SmallTokenizer{
            .normalizer = "null", .pre_tokenizer = "null", .model = model, .post_processor = "null", .decoder = "null"}
            .load();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(base::error_of([&] {
                tokenizer.encode(std::string(30'000'000, 'a'), {.with_offsets = false, .with_tokens = false},
                                 {.deadline = start + std::chrono::milliseconds(200)});
              }).code(),
              ErrorCode::deadline_exceeded);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  }
}

TEST(EncodeOptions, ABatchTellsItsProgress) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  const std::vector<EncodeInput> inputs = {"a", "b", "c"};
  std::vector<std::uint64_t> told;
  tokenizer.encode_batch(inputs, {}, {.progress = [&](const Progress& progress) { told.push_back(progress.done); }});
  EXPECT_EQ(told, (std::vector<std::uint64_t>{0, 3}));
}

}  // namespace
}  // namespace alate::tests
