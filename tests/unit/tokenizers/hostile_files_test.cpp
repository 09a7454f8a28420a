// Errors for a tokenizer.json that is invalid or has unknown features.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "alate/error.h"
#include "alate/tokenizer.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/tokenizers/small_tokenizer.h"

namespace alate::tests {
namespace {

void expect_refused(const SmallTokenizer& file, ErrorCode code, std::string_view part_of_message) {
  try {
    file.load();
    ADD_FAILURE() << "loaded, but should say: " << part_of_message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(error.message().find(part_of_message), std::string::npos) << error.what();
    EXPECT_NE(error.message().find("small.json"), std::string::npos) << error.what();
  }
}

TEST(HostileTokenizer, NamesThePartsThatItDoesNotKnow) {
  expect_refused({.normalizer = R"({"type":"Telegraph"})"}, ErrorCode::unsupported, "normalizer \"Telegraph\"");
  expect_refused({.pre_tokenizer = R"({"type":"Telepathy"})"}, ErrorCode::unsupported, "pre-tokenizer \"Telepathy\"");
  expect_refused({.model = R"({"type":"Oracle"})"}, ErrorCode::unsupported, "model \"Oracle\"");
  expect_refused({.post_processor = R"({"type":"Lawyer"})"}, ErrorCode::unsupported, "post-processor \"Lawyer\"");
  expect_refused({.decoder = R"({"type":"Enigma"})"}, ErrorCode::unsupported, "decoder \"Enigma\"");
}

TEST(HostileTokenizer, SaysWhichMemberIsMissingOrWrong) {
  expect_refused({.normalizer = R"({"type":"BertNormalizer"})"}, ErrorCode::corrupt, "no member \"clean_text\"");
  expect_refused({.normalizer = R"({"type":"Precompiled"})"}, ErrorCode::corrupt, "no member \"precompiled_charsmap\"");
  expect_refused({.normalizer = R"({"type":"Precompiled","precompiled_charsmap":"A"})"}, ErrorCode::corrupt, "base64");
  expect_refused({.normalizer = R"({"type":"Precompiled","precompiled_charsmap":"/wAAAA=="})"}, ErrorCode::corrupt,
                 "contradict their own length");
  expect_refused({.normalizer = "7"}, ErrorCode::corrupt, "normalizer must be an object but is number");
  expect_refused({.model = R"({"type":"WordPiece"})"}, ErrorCode::corrupt, "no member \"unk_token\"");
  expect_refused({.added_tokens = "null"}, ErrorCode::corrupt, "added_tokens must be an array");
  expect_refused({.truncation = R"({"max_length":-1})"}, ErrorCode::corrupt, "from 0 to 2147483647");
  expect_refused({.pre_tokenizer = R"({"type":"Punctuation","behavior":"Sideways"})"}, ErrorCode::corrupt, "Sideways");
  expect_refused({.post_processor = R"({"type":"BertProcessing","sep":["[SEP]"],"cls":["[CLS]",1]})"},
                 ErrorCode::corrupt, "sep must be a token and its id");
}

TEST(HostileTokenizer, RefusesIdsOutsideThirtyTwoBits) {
  const auto with_id = [](const std::string& id) {
    return SmallTokenizer{
        .model =
            R"({"type":"WordPiece","unk_token":"u","continuing_subword_prefix":"","max_input_chars_per_word":9,"vocab":{"u":)" +
            id + "}}"};
  };
  expect_refused(with_id("-1"), ErrorCode::corrupt, "from 0 to 2147483647");
  expect_refused(with_id("2147483648"), ErrorCode::corrupt, "from 0 to 2147483647");
  expect_refused(with_id("18446744073709551615"), ErrorCode::corrupt, "from 0 to 2147483647");
  expect_refused(with_id("1.5"), ErrorCode::corrupt, "a whole number");
  EXPECT_EQ(with_id("2147483647").load().token_to_id("u"), 2147483647);
}

TEST(HostileTokenizer, RefusesTemplatesWithoutTheirTokens) {
  const std::string piece = R"({"SpecialToken":{"id":"[X]","type_id":0}})";
  expect_refused(
      {.post_processor = R"({"type":"TemplateProcessing","single":[)" + piece + R"(],"pair":[],"special_tokens":{}})"},
      ErrorCode::corrupt, "special token \"[X]\"");
  expect_refused(
      {.post_processor =
           R"({"type":"TemplateProcessing","single":[{"Sequence":{"id":"B","type_id":0}}],"pair":[],"special_tokens":{}})"},
      ErrorCode::corrupt, "the template for one text uses a second one");
}

TEST(HostileTokenizer, BoundsHowDeepSequencesNest) {
  std::string normalizer = R"({"type":"Lowercase"})";
  for (int i = 0; i < 20; ++i) normalizer = R"({"type":"Sequence","normalizers":[)" + normalizer + "]}";
  expect_refused({.normalizer = normalizer}, ErrorCode::corrupt, "nested more than 16 deep");
}

TEST(HostileTokenizer, RefusesOtherVersionsAndOtherJson) {
  EXPECT_THROW(Tokenizer::from_json(R"({"version":"2.0","model":{}})", "x"), Error);
  EXPECT_THROW(Tokenizer::from_json("[]", "x"), Error);
  EXPECT_THROW(Tokenizer::from_json("{", "x"), Error);
  EXPECT_THROW(Tokenizer::from_json("{}", "x"), Error);
}

TEST(HostileTokenizer, MissesTheUnknownTokenOnlyWhenItIsNeeded) {
  SmallTokenizer file;
  file.model =
      R"({"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{"a":3}})";
  const Tokenizer tokenizer = file.load();
  EXPECT_EQ(tokenizer.encode("a").ids, (std::vector<std::int32_t>{1, 3, 2}));
  try {
    tokenizer.encode("a b");
    ADD_FAILURE() << "an unknown word needs the unknown token";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    EXPECT_NE(error.message().find("[UNK]"), std::string::npos);
  }
}

TEST(HostileTokenizer, StopsWindowsOfAPairFromMultiplying) {
  const Tokenizer tokenizer = SmallTokenizer().load();
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "a ";
  try {
    tokenizer.encode_pair(text, text, {.max_length = 5});
    ADD_FAILURE() << "3000 windows of one token times 3000 of the other must be refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  }
}

TEST(HostileTokenizer, IsNoLinkOutOfItsFolder) {
  const base::TemporaryFolder folder;
  const std::filesystem::path model = folder.path() / "model";
  folder.write("secret.txt", "[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\n");
  std::filesystem::create_directory(model);
  for (const char* name : {"vocab.txt", "tokenizer.json"}) {
    std::filesystem::create_symlink("../secret.txt", model / name);
    const Error error = base::error_of([&] { (void)Tokenizer::load(model); });
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << name;
    EXPECT_NE(error.message().find("leads out"), std::string::npos) << error.message();
  }
  // What is named itself may be anywhere; what lies beside it may not.
  folder.write("model/own.txt", "[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\n");
  EXPECT_NO_THROW(Tokenizer::load(model / "vocab.txt"));
  std::filesystem::create_symlink("../secret.txt", model / "tokenizer_config.json");
  EXPECT_EQ(base::error_of([&] { (void)Tokenizer::load(model / "own.txt"); }).code(), ErrorCode::corrupt);
}

TEST(HostileTokenizer, SaysWhatAFolderLacks) {
  const base::TemporaryFolder folder;
  try {
    Tokenizer::load(folder.path());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_NE(error.message().find("it needs a tokenizer.json"), std::string::npos);
  }
  EXPECT_THROW(Tokenizer::load(folder.path() / "absent.json"), Error);
}

TEST(HostileTokenizer, ManyPartsAreRefused) {
  std::string parts = R"({"type":"NFC"})";
  for (int i = 0; i < 2000; ++i) parts += R"(,{"type":"NFC"})";
  expect_refused({.normalizer = R"({"type":"Sequence","normalizers":[)" + parts + "]}"}, ErrorCode::resource_exhausted,
                 "has 2002 parts; 1024 are allowed");
}

// Each step makes ten of one.
TEST(HostileTokenizer, ATextCannotGrowWithoutEnd) {
  std::string steps;
  for (int i = 0; i < 12; ++i)
    steps += std::string(i == 0 ? "" : ",") + R"({"type":"Replace","pattern":{"String":"a"},"content":"aaaaaaaaaa"})";
  const Tokenizer tokenizer =
      SmallTokenizer{.normalizer = R"({"type":"Sequence","normalizers":[)" + steps + "]}"}.load();
  const Error error = base::error_of([&] { tokenizer.encode("aaa"); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("check the normalizer"), std::string::npos) << error.message();
}

TEST(HostileTokenizer, AddedTokensHaveALimitTogether) {
  const std::string content(4000, 'a');
  std::string tokens;
  for (int i = 0; i < 5000; ++i)
    tokens += std::string(i == 0 ? "" : ",") + R"({"id":9,"content":")" + std::to_string(i) + content +
              R"(","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true})";
  expect_refused({.added_tokens = "[" + tokens + "]"}, ErrorCode::resource_exhausted, "16777216 bytes together");
}

}  // namespace
}  // namespace alate::tests
