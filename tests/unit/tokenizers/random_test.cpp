// Tokenizers put together at random, against the reference (tests/golden/tokenizer_corpus/record_random.py).
// ALATE_RANDOM_TOKENIZERS names another file that the script wrote.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>

#include "alate/error.h"
#include "alate/tokenizer.h"
#include "base/sha256.h"
#include "formats/json.h"
#include "tests/golden/tokenizers/golden_cases.h"
#include "tests/source_folder.h"

namespace alate::tests {
namespace {

std::filesystem::path random_file() {
  const char* named = std::getenv("ALATE_RANDOM_TOKENIZERS");
  if (named != nullptr) return named;
  return source_folder() / "tests" / "golden" / "tokenizer_corpus" / "random.jsonl";
}

std::string described(const Encoding& encoding) {
  std::string text = listed(encoding.ids) + listed(encoding.type_ids) + listed(encoding.special_mask) +
                     listed(encoding.offsets) + listed(encoding.tokens);
  for (const Encoding& window : encoding.overflowing) text += described(window);
  return text;
}

// "error" where the tokenizer refuses.
std::string answer(const Tokenizer& tokenizer, const Json& entry) {
  const EncodeOptions options = read_options(entry);
  const std::string text = entry.get_string("text", "");
  const Json* pair = entry.find("pair");
  try {
    const Encoding encoding = pair == nullptr ? tokenizer.encode(text, options)
                                              : tokenizer.encode_pair(text, pair->as_string("pair"), options);
    const std::string all =
        described(encoding) + tokenizer.decode(encoding.ids) + ',' + tokenizer.decode(encoding.ids, true) + ',';
    return base::Sha256().add(std::as_bytes(std::span(all))).finish().substr(0, 12);
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
    return "error";
  }
}

TEST(RandomTokenizers, EncodeAndDecodeAsTheReference) {
  const std::vector<Json> lines = read_jsonl(random_file());
  EXPECT_GE(lines.size(), 200u);
  std::size_t number = 0;
  for (const Json& line : lines) {
    ++number;
    const std::string description = formats::to_json_text(*line.find("tokenizer"));
    std::string wrong;
    try {
      const Tokenizer tokenizer = Tokenizer::from_json(description, "line " + std::to_string(number));
      for (const Json& entry : line.find("cases")->as_array("cases")) {
        const std::string wanted = entry.get_string("hash", "");
        const std::string got = answer(tokenizer, entry);
        if (wanted != "panic" && got != wanted)
          wrong += "\n  " + formats::to_json_text(entry);  // where it panics, any answer will do
      }
    } catch (const Error& error) {
      wrong = error.what();
    }
    if (!wrong.empty()) {
      Json::Object shown = line.find("tokenizer")->as_object("tokenizer");
      std::erase_if(shown, [](const auto& member) { return member.first == "model"; });
      ADD_FAILURE() << random_file().string() << ", line " << number << ": " << wrong << "\n  "
                    << formats::to_json_text(Json(shown)).substr(0, 1500);
    }
  }
}

}  // namespace
}  // namespace alate::tests
