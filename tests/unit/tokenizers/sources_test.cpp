// Tokenizers from vocabularies in every form but tokenizer.json, against the hashes in tests/golden/tokenizer_sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "alate/tokenizer.h"
#include "base/files/mapped_file.h"
#include "base/sha256.h"
#include "formats/json.h"
#include "tests/golden/tokenizers/golden_cases.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLinesOfAHash = 32;
constexpr std::size_t kLongest = 2000;

fs::path sources_folder() { return source_folder() / "tests" / "golden" / "tokenizer_sources"; }

// Nothing for a form whose regular expressions are not read yet, which it must say.
std::optional<Tokenizer> load_if_read(const fs::path& folder) {
  try {
    return Tokenizer::load(folder);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
    const std::string& message = error.message();
    EXPECT_TRUE(message.ends_with("regular expressions are not supported yet")) << message;
    return std::nullopt;
  }
}

std::vector<std::string> corpus_lines() {
  std::vector<std::string> lines;
  for (const Json& entry : read_jsonl(source_folder() / "tests" / "golden" / "tokenizer_corpus" / "corpus.jsonl")) {
    std::string text = entry.get_string("text", "");
    if (const Json* repeat = entry.find("repeat")) {
      const Json::Array& pair = repeat->as_array("repeat");
      for (std::int64_t i = 0; i < pair[1].as_int("times"); ++i) text += pair[0].as_string("unit");
    }
    if (text.size() <= kLongest) lines.push_back(std::move(text));
  }
  return lines;
}

// The text that the recorder hashes for a line.
std::string recorded_text(const Tokenizer& tokenizer, const std::string& line) {
  const Encoding encoding = tokenizer.encode(line);
  const auto decoded = [&](bool skip) { return tokenizer.decode(encoding.ids, skip) + ','; };
  return listed(encoding.ids) + listed(encoding.type_ids) + listed(encoding.special_mask) + listed(encoding.offsets) +
         listed(encoding.byte_offsets) + listed(encoding.tokens) +
         listed(tokenizer.encode(line, {.add_special_tokens = false}).ids) + decoded(false) + decoded(true);
}

void expect_hashes(const Tokenizer& tokenizer, const std::vector<std::string>& lines, const Json::Array& hashes) {
  ASSERT_EQ(hashes.size(), (lines.size() + kLinesOfAHash - 1) / kLinesOfAHash);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    std::string text;
    for (std::size_t line = i * kLinesOfAHash; line < std::min((i + 1) * kLinesOfAHash, lines.size()); ++line)
      text += recorded_text(tokenizer, lines[line]);
    const std::string found = base::Sha256().add(std::as_bytes(std::span(text))).finish().substr(0, 12);
    if (found != hashes[i].as_string("hash") && ++wrong <= 3) {
      ADD_FAILURE() << "lines " << i * kLinesOfAHash << " on of the corpus differ";
    }
  }
  EXPECT_EQ(wrong, 0U);
}

TEST(TokenizerSources, EveryFormIsReadAsTheReferenceReadsIt) {
  const std::vector<std::string> lines = corpus_lines();
  const std::vector<Json> cases = read_jsonl(sources_folder() / "cases.jsonl");
  EXPECT_GE(cases.size(), 31U);
  for (const Json& entry : cases) {
    SCOPED_TRACE(entry.get_string("name", ""));
    const base::TemporaryFolder folder;
    for (const auto& [name, file] : entry.find("files")->as_object("files"))
      fs::copy_file(sources_folder() / "files" / file.as_string("file"), folder.path() / name);
    if (!entry.find("config")->is_null())
      folder.write("tokenizer_config.json", formats::to_json_text(*entry.find("config")));
    const auto tokenizer = load_if_read(folder.path());
    if (tokenizer) expect_hashes(*tokenizer, lines, entry.find("hashes")->as_array("hashes"));
  }
}

}  // namespace
}  // namespace alate::tests
