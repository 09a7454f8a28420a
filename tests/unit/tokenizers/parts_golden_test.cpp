// Post-processors, padding and decoders against recorded results: tests/golden/record_tokenizer_parts.py.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "alate/tokenizer.h"
#include "base/files/mapped_file.h"
#include "tests/golden/tokenizers/golden_cases.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tests {
namespace {

std::vector<Json> recorded(std::string_view key) {
  std::vector<Json> entries = read_jsonl(source_folder() / "tests" / "golden" / "tokenizer_parts.jsonl");
  std::erase_if(entries, [&](const Json& entry) { return entry.find(key) == nullptr; });
  return entries;
}

std::string as_text(const Json* value) { return formats::to_json_text(*value); }

// A tokenizer whose vocabulary is the tokens of the entry.
Tokenizer decoding_tokenizer(const Json& entry) {
  std::map<std::string, std::int64_t> ids;
  for (const Json& token : entry.find("tokens")->as_array("tokens"))
    ids.emplace(token.as_string("token"), static_cast<std::int64_t>(ids.size()));
  Json::Object vocabulary{{"unknown", std::int64_t{1000}}};
  for (const auto& [token, id] : ids) vocabulary.emplace_back(token, id);
  const Json::Object model{{"type", "WordLevel"}, {"vocab", std::move(vocabulary)}, {"unk_token", "unknown"}};
  return Tokenizer::from_json(
      formats::to_json_text(Json::Object{{"version", "1.0"}, {"decoder", *entry.find("decoder")}, {"model", model}}),
      "recorded");
}

TEST(PartsGolden, DecodersGiveTheRecordedTextAtOnceAndToken) {
  for (const Json& entry : recorded("decoder")) {
    SCOPED_TRACE(formats::to_json_text(entry));
    const Tokenizer tokenizer = decoding_tokenizer(entry);
    std::vector<std::int32_t> ids;
    for (const Json& token : entry.find("tokens")->as_array("tokens"))
      ids.push_back(tokenizer.token_to_id(token.as_string("token")).value());
    const std::string want = entry.get_string("text", "");
    EXPECT_EQ(tokenizer.decode(ids), want);
    DecodeStream stream(tokenizer);
    for (int time = 0; time < 2; ++time) {  // a finished stream is as new
      std::string streamed;
      for (const std::int32_t id : ids) {
        const std::string piece = stream.push(id);
        EXPECT_FALSE(tokenizers::repair_utf8(piece).has_value());
        streamed += piece;
      }
      EXPECT_EQ(streamed + stream.finish(), want);
    }
  }
}

std::optional<Side> side_of(const Json& options) {
  return options.get_string("direction", "right") == "left" ? Side::left : Side::right;
}

EncodeOptions options_of(const Json& entry) {
  EncodeOptions options{.add_special_tokens = entry.get_bool("add_special_tokens", true)};
  const auto number = [](const Json* from, std::string_view key) {
    return static_cast<std::size_t>(from->get_int(key, 0));
  };
  if (const Json* cut = entry.find("truncation")) {
    const std::string strategy = cut->get_string("strategy", "");
    options.max_length = number(cut, "max_length");
    options.stride = number(cut, "stride");
    options.side = side_of(*cut);
    if (strategy == "only_first") options.strategy = Truncation::only_first;
    if (strategy == "only_second") options.strategy = Truncation::only_second;
  }
  if (const Json* padding = entry.find("padding")) {
    options.padding = Padding{.length = number(padding, "length"),
                              .multiple_of = number(padding, "pad_to_multiple_of"),
                              .side = *side_of(*padding),
                              .id = 3,
                              .type_id = 1,
                              .token = "pad"};
  }
  return options;
}

void expect_encoding(const Encoding& got, const Json& want) {
  const auto or_null = [](const auto& list) {
    Json::Array values;
    for (const auto value : list) values.push_back(value == Encoding::kNone ? Json() : Json(std::int64_t{value}));
    return formats::to_json_text(values);
  };
  EXPECT_EQ(listed(got.ids), listed(*want.find("ids")));
  EXPECT_EQ(listed(got.tokens), listed(*want.find("tokens")));
  EXPECT_EQ(listed(got.type_ids), listed(*want.find("type_ids")));
  EXPECT_EQ(listed(got.special_mask), listed(*want.find("special_mask")));
  EXPECT_EQ(listed(got.attention_mask), listed(*want.find("attention_mask")));
  EXPECT_EQ(listed(got.offsets), listed(*want.find("offsets")));
  EXPECT_EQ(or_null(got.word_ids), as_text(want.find("word_ids")));
  EXPECT_EQ(got.sequence_ids.size(), got.ids.size());
  EXPECT_EQ(got.byte_offsets.size(), got.ids.size());
}

TEST(PartsGolden, PostProcessorsAndPaddingGiveTheRecordedEncodings) {
  for (const Json& entry : recorded("post_processor")) {
    SCOPED_TRACE(formats::to_json_text(entry));
    const auto path =
        source_folder() / "tests" / "golden" / "tokenizer_corpus" / (entry.get_string("base", "") + ".json");
    Json::Object file = formats::parse_json(base::read_text_file(path), "base").as_object("base");
    for (auto& [key, value] : file) {
      if (key == "post_processor") value = *entry.find("post_processor");
    }
    const Tokenizer tokenizer = Tokenizer::from_json(formats::to_json_text(file), "recorded");
    const EncodeOptions options = options_of(entry);
    const std::string text = entry.get_string("text", "");
    const Json* pair = entry.find("pair");
    const auto encode = [&](const EncodeOptions& wanted) {
      return pair->is_null() ? tokenizer.encode(text, wanted)
                             : tokenizer.encode_pair(text, pair->as_string("pair"), wanted);
    };
    const Encoding got = encode(options);
    EncodeOptions fewer = options;
    fewer.with_tokens = false;
    EXPECT_EQ(encode(fewer).offsets, got.offsets);
    EXPECT_TRUE(encode(fewer).tokens.empty());
    fewer.with_offsets = false;
    EXPECT_EQ(encode(fewer).ids, got.ids);
    EXPECT_EQ(encode(fewer).type_ids, got.type_ids);
    const Json& want = *entry.find("encoding");
    expect_encoding(got, want);
    const Json::Array& windows = want.find("overflowing")->as_array("overflowing");
    ASSERT_EQ(got.overflowing.size(), windows.size());
    for (std::size_t i = 0; i < windows.size(); ++i) expect_encoding(got.overflowing[i], windows[i]);
  }
}

}  // namespace
}  // namespace alate::tests
