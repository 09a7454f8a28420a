// Runs the cases that record_tokenizers.py recorded (its header says what they hold) against a tokenizer.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "alate/error.h"
#include "alate/tokenizer.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/source_folder.h"

namespace alate::tests {

using formats::Json;

inline std::filesystem::path golden_folder() { return source_folder() / "tests" / "golden" / "tokenizers"; }

inline std::vector<Json> read_jsonl(const std::filesystem::path& path) {
  const std::string text = base::read_text_file(path);
  std::vector<Json> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(formats::parse_json(std::string_view(text).substr(begin, end - begin), path.string()));
    begin = end + 1;
  }
  return lines;
}

inline std::string corpus_text(const Json& entry) {
  std::string text;
  if (const Json* hex = entry.find("hex")) {
    const std::string& digits = hex->as_string("hex");
    for (std::size_t i = 0; i < digits.size(); i += 2)
      text += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  } else if (const Json* repeat = entry.find("repeat")) {
    const Json::Array& pair = repeat->as_array("repeat");
    for (std::int64_t i = 0; i < pair[1].as_int("times"); ++i) text += pair[0].as_string("unit");
  } else {
    text = entry.get_string("text", "");
  }
  return text;
}

inline EncodeOptions read_options(const Json& entry) {
  EncodeOptions options;
  const Json* given = entry.find("options");
  if (given == nullptr) return options;
  options.add_special_tokens = given->get_bool("add_special_tokens", true);
  if (given->find("max_length") != nullptr)
    options.max_length = static_cast<std::size_t>(given->get_int("max_length", 0));
  options.stride = static_cast<std::size_t>(given->get_int("stride", 0));
  const std::string strategy = given->get_string("strategy", "longest_first");
  options.strategy = strategy == "only_first"    ? Truncation::only_first
                     : strategy == "only_second" ? Truncation::only_second
                                                 : Truncation::longest_first;
  if (given->find("side") != nullptr)
    options.side = given->get_string("side", "right") == "left" ? Side::left : Side::right;
  return options;
}

// The text that the recorder's `hashed_text` makes, list by list.
template <typename List>
std::string listed(const List& list) {
  std::string text;
  for (const auto& entry : list) text += std::to_string(entry) + ',';
  return text;
}

inline std::string listed(const std::vector<Encoding::Offsets>& list) {
  std::string text;
  for (const auto& [begin, end] : list) text += std::to_string(begin) + ',' + std::to_string(end) + ',';
  return text;
}

inline std::string listed(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& entry : list) text += entry + ',';
  return text;
}

inline std::string hashed_text(const Encoding& encoding) {
  std::string text = listed(encoding.ids) + listed(encoding.type_ids) + listed(encoding.special_mask) +
                     listed(encoding.offsets) + listed(encoding.byte_offsets) + listed(encoding.tokens);
  for (const Encoding& window : encoding.overflowing) text += hashed_text(window);
  return text;
}

inline std::string listed(const Json& list) {
  if (list.is_string()) return list.as_string("token") + ',';
  if (!list.is_array()) return std::to_string(list.as_int("number")) + ',';
  std::string text;
  for (const Json& entry : list.as_array("list")) text += listed(entry);
  return text;
}

inline void expect_equal(const Encoding& got, const Json& want) {
  EXPECT_EQ(listed(got.ids), listed(*want.find("ids"))) << "ids";
  EXPECT_EQ(listed(got.type_ids), listed(*want.find("type_ids"))) << "type_ids";
  EXPECT_EQ(listed(got.special_mask), listed(*want.find("special_mask"))) << "special_mask";
  EXPECT_EQ(listed(got.offsets), listed(*want.find("offsets"))) << "offsets";
  EXPECT_EQ(listed(got.byte_offsets), listed(*want.find("byte_offsets"))) << "byte_offsets";
  EXPECT_EQ(listed(got.tokens), listed(*want.find("tokens"))) << "tokens";
  const Json* windows = want.find("overflowing");
  const std::size_t count = windows == nullptr ? 0 : windows->as_array("overflowing").size();
  ASSERT_EQ(got.overflowing.size(), count);
  for (std::size_t i = 0; i < count; ++i) expect_equal(got.overflowing[i], windows->as_array("overflowing")[i]);
}

inline std::string fnv1a(std::string_view text) {
  std::uint64_t state = 0xCBF29CE484222325u;
  for (const char byte : text) state = (state ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[state >> shift & 15];
  return digits;
}

inline void run_encode_case(const Tokenizer& tokenizer, const Json& entry, const std::vector<Json>& corpus) {
  const Json* line = entry.find("line");
  const std::string first = line == nullptr ? entry.get_string("text", "")
                                            : corpus_text(corpus.at(static_cast<std::size_t>(line->as_int("line"))));
  const Json* second = entry.find("pair");
  const EncodeOptions options = read_options(entry);
  const auto encode = [&] {
    return second == nullptr ? tokenizer.encode(first, options)
                             : tokenizer.encode_pair(first, second->as_string("pair"), options);
  };
  if (entry.get_bool("error", false)) {
    EXPECT_THROW(encode(), Error);
    return;
  }
  const Encoding got = encode();
  EXPECT_EQ(got.truncated, !got.overflowing.empty());
  if (const Json* want = entry.find("want")) return expect_equal(got, *want);
  if (const Json* ids = entry.find("ids")) {
    EXPECT_EQ(listed(got.ids), listed(*ids));
  }
  EXPECT_EQ(fnv1a(hashed_text(got)), entry.get_string("hash", ""));
}

/// Runs all cases of the golden file `name`; `least` guards against a file that has lost its cases.
inline void run_golden(const Tokenizer& tokenizer, const std::string& name, std::size_t least) {
  const std::vector<Json> corpus = read_jsonl(golden_folder() / "corpus.jsonl");
  const std::vector<Json> cases = read_jsonl(golden_folder() / (name + ".jsonl"));
  EXPECT_GE(cases.size(), least);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(name + ".jsonl, line " + std::to_string(i + 1));
    const Json* ids = cases[i].find("decode");
    if (ids == nullptr) {
      run_encode_case(tokenizer, cases[i], corpus);
      continue;
    }
    std::vector<std::int32_t> list;
    for (const Json& id : ids->as_array("decode")) list.push_back(static_cast<std::int32_t>(id.as_int("id")));
    EXPECT_EQ(tokenizer.decode(list, cases[i].get_bool("skip", false)), cases[i].get_string("text", ""));
  }
}

}  // namespace alate::tests
