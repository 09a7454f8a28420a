// What a tokenizer's files, which are a stranger's, can make of the work for a text.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "alate/tokenizer.h"
#include "formats/json.h"
#include "tests/golden/tokenizers/golden_cases.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/tokenizers/small_tokenizer.h"
#include "tokenizers/encode.h"
#include "tokenizers/models/bpe.h"
#include "tokenizers/models/longest_match.h"
#include "tokenizers/models/unigram.h"
#include "tokenizers/models/word_piece.h"
#include "tokenizers/work_budget.h"

namespace alate::tests {
namespace {

using tokenizers::Model;
using tokenizers::Token;
using tokenizers::WorkBudget;

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

tokenizers::ModelPtr word_piece_of(const std::vector<std::string>& tokens) {
  tokenizers::Vocabulary vocabulary;
  for (std::size_t i = 0; i < tokens.size(); ++i) vocabulary.add(tokens[i], static_cast<std::int32_t>(i));
  vocabulary.finish();
  return tokenizers::word_piece(std::move(vocabulary), {.max_input_chars_per_word = 100'000'000}, "test");
}

tokenizers::ModelPtr unigram_of(const std::vector<std::string>& tokens) {
  std::vector<tokenizers::UnigramPiece> pieces{{"<unk>", 0}};
  for (std::size_t i = 0; i < tokens.size(); ++i) pieces.push_back({tokens[i], -2.0 - static_cast<double>(i % 3)});
  return tokenizers::unigram(pieces, 0, false, "test");
}

std::vector<Token> tokens_of(const Model& model, std::string_view text, std::size_t* steps = nullptr) {
  const std::unique_ptr<Model::Scratch> scratch = model.make_scratch();
  WorkBudget budget(base::Cancellation::never(), text.size());
  scratch->budget = &budget;
  std::vector<Token> tokens;
  model.tokenize(text, *scratch, tokens);
  if (steps != nullptr) *steps = budget.steps();
  return tokens;
}

std::size_t steps_of(const Model& model, std::string_view text) {
  std::size_t steps = 0;
  tokens_of(model, text, &steps);
  return steps;
}

// A long token whose beginning is everywhere in the text, and which never fits.
tokenizers::ModelPtr with_long_token(std::string_view kind, std::size_t length) {
  const std::string token = std::string(length, 'a') + "b";
  if (kind == "unigram") return unigram_of({"a", token});
  if (kind == "word_piece") return word_piece_of({"[UNK]", "a", "##a", "##" + token});
  return tokenizers::longest_match({"a", token}, "test");
}

TEST(WorkBudget, StepsOfAModelDoNotGrowWithItsLongestToken) {
  for (const std::string_view kind : {"unigram", "word_piece", "longest_match"}) {
    const std::string text(40'000, 'a');
    const std::size_t few = steps_of(*with_long_token(kind, 500), text);
    const std::size_t many = steps_of(*with_long_token(kind, 32'000), text);
    EXPECT_LE(many, few + 100'000) << kind;
    EXPECT_LE(many, 4 * text.size()) << kind;
    EXPECT_LE(steps_of(*with_long_token(kind, 32'000), text + text), 8 * text.size()) << kind;
  }
}

TEST(WorkBudget, ModelsWithLongTokensFindWhatTheyFindWithout) {
  std::mt19937 random(7);
  const auto word = [&](std::size_t length) {
    constexpr std::string_view kLetters[] = {"a", "b", "\u00E9", "\u4E00"};
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += kLetters[random() % std::size(kLetters)];
    return text;
  };
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> tokens{"[UNK]"};
    const auto add = [&](const std::string& token) {
      if (std::ranges::find(tokens, token) == tokens.end()) tokens.push_back(token);
    };
    if (round % 2 == 0) {
      for (const char* letter : {"a", "b", "\u00E9", "\u4E00"}) add(letter), add("##" + std::string(letter));
    }
    for (int i = 0; i < 12; ++i) add(word(1 + random() % 5)), add("##" + word(1 + random() % 5));
    std::vector<std::string> longer = tokens;
    longer.push_back(repeated("ab", 100) + "c");
    longer.push_back("##" + repeated("ba", 100) + "c");
    const std::string text = word(200);
    EXPECT_EQ(tokens_of(*unigram_of(tokens), text), tokens_of(*unigram_of(longer), text)) << text;
    EXPECT_EQ(tokens_of(*word_piece_of(tokens), text), tokens_of(*word_piece_of(longer), text)) << text;
    if (round % 2 == 0) {
      EXPECT_EQ(tokens_of(*tokenizers::longest_match(tokens, "test"), text),
                tokens_of(*tokenizers::longest_match(longer, "test"), text));
    }
  }
}

TEST(WorkBudget, LongTokensAreFoundWhole) {
  const std::string token = repeated("ab", 200);
  EXPECT_EQ(tokens_of(*unigram_of({"a", "b", token}), "a" + token + "b"),
            (std::vector<Token>{{1, 0, 1}, {3, 1, 401}, {2, 401, 402}}));
  EXPECT_EQ(tokens_of(*word_piece_of({"[UNK]", "a", "##b", "##" + token}), "a" + token + "b"),
            (std::vector<Token>{{1, 0, 1}, {3, 1, 401}, {2, 401, 402}}));
  EXPECT_EQ(tokens_of(*tokenizers::longest_match({"a", "b", token, token}, "test"), "a" + token + "b"),
            (std::vector<Token>{{0, 0, 1}, {3, 1, 401}, {1, 401, 402}}));
}

// Every place of the text is the end of 2,000 tokens.
TEST(WorkBudget, WhatNoAlgorithmMakesLinearIsRefusedByItsSteps) {
  std::vector<std::string> tokens;
  for (std::size_t length = 1; length <= 2000; ++length) tokens.emplace_back(length, 'a');
  const tokenizers::ModelPtr model = unigram_of(tokens);
  EXPECT_GT(steps_of(*model, std::string(2'000, 'a')), std::size_t{1'000'000});
  const Error error = base::error_of([&] { tokens_of(*model, std::string(20'000, 'a')); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("longest tokens"), std::string::npos) << error.message();
}

std::string replace_all_by(std::size_t letters) {
  return R"({"type":"Replace","pattern":{"Regex":"[\\s\\S]+"},"content":")" + std::string(letters, 'a') + "\"}";
}

std::string sequence(const std::vector<std::string>& parts) {
  std::string list;
  for (const std::string& part : parts) list += (list.empty() ? "" : ",") + part;
  return R"({"type":"Sequence","normalizers":[)" + list + "]}";
}

SmallTokenizer unigram_file(std::size_t longest) {
  return {.model = R"({"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["a",-1],[")" + std::string(longest, 'a') +
                   R"(",-2]]})"};
}

TEST(WorkBudget, AShortTextCannotBecomeAMillionLetters) {
  SmallTokenizer file = unigram_file(65'536);
  file.normalizer = replace_all_by(1'000'000);
  const Error error = base::error_of([&] { file.load().encode("hello"); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("1000000 bytes long"), std::string::npos) << error.message();
  file.normalizer = replace_all_by(60'000);
  file.pre_tokenizer = "null";
  EXPECT_EQ(file.load().encode("hello", {.add_special_tokens = false}).ids.size(), 60'000u);
  EXPECT_LT(tokenizers::steps_of(file.load(), "hello"), std::size_t{600'000});
}

TEST(WorkBudget, PartsThatMultiplyAreRefusedBeforeTheyAreWritten) {
  const std::string thousand =
      R"({"type":"Replace","pattern":{"String":"a"},"content":")" + std::string(1000, 'a') + "\"}";
  SmallTokenizer file = unigram_file(4);
  for (const std::size_t times : {2U, 3U, 6U}) {
    file.normalizer = sequence(std::vector<std::string>(times, thousand));
    EXPECT_EQ(base::error_of([&] { file.load().encode("a"); }).code(), ErrorCode::resource_exhausted) << times;
  }
  file.normalizer = R"({"type":"Prepend","prepend":")" + std::string(100'000, 'a') + "\"}";
  EXPECT_EQ(base::error_of([&] { file.load().encode("a"); }).code(), ErrorCode::resource_exhausted);
}

TEST(WorkBudget, ManyPassesOverALongTextAreCounted) {
  std::vector<std::string> parts{replace_all_by(65'000)};
  parts.insert(parts.end(), 1000, R"({"type":"NFC"})");
  SmallTokenizer file = unigram_file(4);
  file.normalizer = sequence(parts);
  const Error error = base::error_of([&] { file.load().encode("hello"); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("steps"), std::string::npos) << error.message();
}

TEST(WorkBudget, AnExpressionThatTriesMuchAtEachPlaceIsCounted) {
  SmallTokenizer file = unigram_file(4);
  // The b at the end lets PCRE expect a match anywhere.
  file.normalizer =
      R"({"type":"Replace","pattern":{"Regex":"[\\s\\S]+"},"content":")" + std::string(60'000, 'a') + "b\"}";
  file.pre_tokenizer = R"({"type":"Split","pattern":{"Regex":"(?:a|aa){14}b"},"behavior":"Isolated","invert":false})";
  const Error error = base::error_of([&] { file.load().encode("hello"); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("steps"), std::string::npos) << error.message();
}

// The text of the unknown token stands for each of the text's words.
TEST(WorkBudget, ListedTokensHaveALimitTogether) {
  const std::string unknown(30'000, 'u');
  const Tokenizer tokenizer = SmallTokenizer{.model = R"({"type":"WordLevel","unk_token":")" + unknown +
                                                      R"(","vocab":{")" + unknown + R"(":0}})",
                                             .post_processor = "null"}
                                  .load();
  const std::string text = repeated("? ", 1000);
  const Error error = base::error_of([&] { tokenizer.encode(text); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_EQ(tokenizer.encode(text, {.with_tokens = false}).ids.size(), 1000u);
}

TEST(WorkBudget, MarksOfCharactersHaveALimit) {
  tokenizers::Vocabulary vocabulary;
  vocabulary.add("a", 0);
  vocabulary.finish();
  const Error error = base::error_of([&] {
    tokenizers::bpe(std::move(vocabulary), tokenizers::MergeList(),
                    {.continuing_subword_prefix = std::string(1000, '#')}, "test");
  });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
}

// Each part asks within a long text, so that a call that is stopped ends soon.
TEST(WorkBudget, EveryPartAsksForCancellationWithinALongText) {
  const std::string text = repeated("\u00E9a 1,", 1 << 18);  // 1.5 MiB, of many kinds of letters
  const std::vector<std::string> normalizers{
      R"({"type":"NFD"})",
      R"({"type":"NFKC"})",
      R"({"type":"Lowercase"})",
      R"({"type":"StripAccents"})",
      R"({"type":"Nmt"})",
      R"({"type":"ByteLevel"})",
      R"({"type":"Strip","strip_left":true,"strip_right":true})",
      R"({"type":"Replace","pattern":{"String":"a"},"content":"b"})",
      R"({"type":"Replace","pattern":{"Regex":"[a-b]"},"content":"b"})",
      R"({"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":true,"lowercase":true})"};
  const std::vector<std::string> pre_tokenizers{
      R"({"type":"BertPreTokenizer"})",
      R"({"type":"Whitespace"})",
      R"({"type":"WhitespaceSplit"})",
      R"({"type":"Punctuation","behavior":"Isolated"})",
      R"({"type":"Digits","individual_digits":true})",
      R"({"type":"UnicodeScripts"})",
      R"({"type":"FixedLength","length":5})",
      R"({"type":"Metaspace","replacement":"_","prepend_scheme":"always","split":true})",
      R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true})",
      R"({"type":"Split","pattern":{"String":" "},"behavior":"Isolated","invert":false})",
      R"({"type":"Split","pattern":{"Regex":"[ ,]"},"behavior":"Isolated","invert":false})"};
  const auto asked_times = [&](const SmallTokenizer& file) {
    const Tokenizer tokenizer = file.load();
    std::size_t times = 0;
    const auto asks = [&] { return ++times, false; };
    EncodeOptions options;
    options.with_offsets = options.with_tokens = false;
    tokenizers::encode(tokenizer, text, options, base::Cancellation::when(asks));
    return times;
  };
  const std::string model = R"({"type":"WordLevel","unk_token":"u","vocab":{"u":0}})";
  SmallTokenizer file{.normalizer = "null", .pre_tokenizer = "null", .model = model, .post_processor = "null"};
  const std::size_t without = asked_times(file);
  for (const std::string& part : normalizers) {
    SmallTokenizer with = file;
    with.normalizer = part;
    EXPECT_GE(asked_times(with), without + 1) << part;
  }
  for (const std::string& part : pre_tokenizers) {
    SmallTokenizer with = file;
    with.pre_tokenizer = part;
    EXPECT_GE(asked_times(with), without + 1) << part;
  }
}

// The limit is far from what published kinds of tokenizers need.
TEST(WorkBudget, RealTokenizersStayFarBelowTheirSteps) {
  const std::filesystem::path folder = source_folder() / "tests" / "golden" / "tokenizer_corpus";
  std::string all;
  std::vector<std::string> lines;
  for (const Json& entry : read_jsonl(folder / "corpus.jsonl")) {
    lines.push_back(corpus_text(entry));
    if (lines.size() % 20 == 0) all += lines.back() + "\n";
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  EXPECT_GE(files.size(), 20u);
  for (const std::filesystem::path& file : files) {
    const Tokenizer tokenizer = Tokenizer::load(file);
    EXPECT_LT(tokenizers::steps_of(tokenizer, all), all.size() * WorkBudget::kStepsPerByte / 10) << file;
    for (std::size_t i = 0; i < lines.size(); i += 100) {
      EXPECT_LT(tokenizers::steps_of(tokenizer, lines[i]), lines[i].size() * WorkBudget::kStepsPerByte / 10 + 1000)
          << file << ' ' << lines[i].substr(0, 200);
    }
  }
}

}  // namespace
}  // namespace alate::tests
