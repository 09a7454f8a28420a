// A tokenizer.json and the files beside it, where they disagree or complete each other: the numbers are those of
// transformers (tests/golden/tokenizer_sources/record_beside_json.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "alate/log.h"
#include "alate/tokenizer.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/golden/tokenizers/golden_cases.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/tokenizers/small_tokenizer.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;
using formats::parse_json;
using formats::to_json_text;

// A folder with a tokenizer.json of the corpus, in which `edits` replace members, and other files.
void write_folder(const TemporaryFolder& folder, std::string_view tokenizer, const Json& edits, const Json& files) {
  const std::filesystem::path corpus = source_folder() / "tests" / "golden" / "tokenizer_corpus";
  Json::Object members =
      parse_json(base::read_text_file(corpus / (std::string(tokenizer) + ".json")), "corpus").as_object("tokenizer");
  for (const Json::Member& edit : edits.as_object("edits")) {
    const auto known = std::ranges::find(members, edit.first, &Json::Member::first);
    ASSERT_NE(known, members.end()) << edit.first;
    known->second = edit.second;
  }
  folder.write("tokenizer.json", to_json_text(Json(std::move(members))));
  for (const auto& [name, content] : files.as_object("files")) folder.write(name, to_json_text(content));
}

std::vector<std::int32_t> numbers_of(const Json& list) {
  std::vector<std::int32_t> numbers;
  for (const Json& number : list.as_array("numbers")) numbers.push_back(static_cast<std::int32_t>(number.as_int("id")));
  return numbers;
}

TEST(FilesBesideTokenizerJson, GiveTheNumbersOfTransformers) {
  const std::vector<Json> lines =
      read_jsonl(source_folder() / "tests" / "golden" / "tokenizer_sources" / "beside_json.jsonl");
  ASSERT_GT(lines.size(), 50u);
  const Json::Array& texts = lines[0].find("texts")->as_array("texts");
  const Json::Array& pair = lines[0].find("pairs")->as_array("pairs")[0].as_array("pair");
  set_log_sink([](const LogEvent&) {});
  for (std::size_t line = 1; line < lines.size(); ++line) {
    const Json& want = lines[line];
    SCOPED_TRACE(want.get_string("name", ""));
    const TemporaryFolder folder;
    write_folder(folder, want.get_string("tokenizer", ""), *want.find("edits"), *want.find("files"));
    const Tokenizer tokenizer = Tokenizer::load(folder.path());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(tokenizer.encode(texts[i].as_string("text")).ids, numbers_of(want.find("ids")->as_array("ids")[i]))
          << texts[i].as_string("text");
    }
    const Encoding both = tokenizer.encode_pair(pair[0].as_string("text"), pair[1].as_string("text"));
    EXPECT_EQ(both.ids, numbers_of(want.find("pair_ids")->as_array("ids")[0]));
    const Json& types = want.find("pair_types")->as_array("types")[0];
    EXPECT_EQ(tokenizer.gives_type_ids(), !types.is_null());
    if (!types.is_null()) {
      EXPECT_EQ(both.type_ids, numbers_of(types));
    }
    EXPECT_EQ(tokenizer.encode(texts[1].as_string("text"), {.max_length = 6}).ids,
              numbers_of(want.find("cut_ids")->as_array("ids")[0]));
  }
  set_log_sink({});
}

std::vector<std::string> warnings_of(const std::string& config, const SmallTokenizer& file) {
  const TemporaryFolder folder;
  folder.write("tokenizer.json", file.json());
  folder.write("tokenizer_config.json", config);
  std::vector<std::string> warnings;
  set_log_sink([&](const LogEvent& event) {
    std::string text(event.event);
    for (const LogField& field : event.fields) text += " " + std::string(field.key) + "=" + field.value;
    warnings.push_back(text);
  });
  Tokenizer::load(folder.path());
  set_log_sink({});
  return warnings;
}

TEST(FilesBesideTokenizerJson, AFileThatLosesIsNamedWithTheOneThatWins) {
  const std::string bert = R"({"tokenizer_class":"BertTokenizer"})";
  EXPECT_TRUE(warnings_of(bert, {}).empty());
  EXPECT_TRUE(warnings_of(R"({"tokenizer_class":"TokenizersBackend","do_lower_case":false})", {}).empty());
  // An older spelling of the same.
  SmallTokenizer older;
  older.normalizer = R"({"lowercase":true,"handle_chinese_chars":true,"clean_text":true,"type":"BertNormalizer"})";
  EXPECT_TRUE(warnings_of(bert, older).empty());
  const auto lost = warnings_of(R"({"tokenizer_class":"BertTokenizer","do_lower_case":false})", {});
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_NE(lost[0].find("tokenizer_config.json"), std::string::npos) << lost[0];
  EXPECT_NE(lost[0].find("tokenizer.json: normalizer"), std::string::npos) << lost[0];
  const auto ends = warnings_of(bert, {.post_processor = "null"});
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_NE(ends[0].find("post_processor"), std::string::npos) << ends[0];
  const auto side =
      warnings_of(R"({"tokenizer_class":"BertTokenizer","truncation_side":"left"})",
                  {.truncation = R"({"direction":"Right","max_length":8,"strategy":"LongestFirst","stride":0})"});
  ASSERT_EQ(side.size(), 1u);
  EXPECT_NE(side[0].find("truncation.direction"), std::string::npos) << side[0];
}

TEST(FilesBesideTokenizerJson, RefuseWhatIsNoSideOrNoList) {
  for (const char* config :
       {R"({"truncation_side":"middle"})", R"({"truncation_side":7})", R"({"model_input_names":"input_ids"})",
        R"({"do_lower_case":"yes","tokenizer_class":"BertTokenizer"})", R"([])",
        R"({"added_tokens_decoder":{"x":"y"}})"}) {
    const TemporaryFolder folder;
    write_folder(folder, "bert_uncased", Json(Json::Object()), Json(Json::Object()));
    folder.write("tokenizer_config.json", config);
    const Error error = base::error_of([&] { Tokenizer::load(folder.path()); });
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << config << error.message();
  }
}

// Named itself, the file is all that there is, as for the package `tokenizers`.
TEST(FilesBesideTokenizerJson, CountOnlyForTheirFolder) {
  const TemporaryFolder folder;
  write_folder(folder, "bert_uncased", Json(Json::Object()), Json(Json::Object()));
  folder.write("tokenizer_config.json", R"({"tokenizer_class":"BertTokenizer","truncation_side":"left",
                                           "model_input_names":["input_ids"],"extra_special_tokens":["[NEW]"]})");
  set_log_sink([](const LogEvent&) {});
  const Tokenizer alone = Tokenizer::load(folder.path() / "tokenizer.json");
  EXPECT_TRUE(alone.gives_type_ids());
  EXPECT_EQ(alone.token_to_id("[NEW]"), std::nullopt);
  EXPECT_NE(Tokenizer::load(folder.path()).token_to_id("[NEW]"), std::nullopt);
  set_log_sink({});
}

}  // namespace
}  // namespace alate::tests
