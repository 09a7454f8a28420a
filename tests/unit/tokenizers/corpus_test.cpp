// More than 2,000 nasty lines through tokenizers of many kinds, against hashes of the reference's encodings and texts
// (tests/golden/tokenizer_corpus/record.py, which also shows the lines that differ). 32 lines share a hash.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "alate/tokenizer.h"
#include "base/files/mapped_file.h"
#include "base/sha256.h"
#include "tests/golden/tokenizers/golden_cases.h"
#include "tests/source_folder.h"

namespace alate::tests {
namespace {

std::filesystem::path corpus_folder() { return source_folder() / "tests" / "golden" / "tokenizer_corpus"; }

// The tokenizers that tools/fetch_tokenizers fetched; empty without them.
std::filesystem::path published_folder() {
  const char* folder = std::getenv("ALATE_TEST_TOKENIZERS");
  return folder == nullptr ? "" : folder;
}

std::vector<std::string> names_of(const std::filesystem::path& folder, const std::string& ending) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ending) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

const std::vector<std::string>& corpus() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> list;
    for (const Json& entry : read_jsonl(corpus_folder() / "corpus.jsonl")) list.push_back(corpus_text(entry));
    return list;
  }();
  return texts;
}

constexpr std::size_t kGroup = 32;

std::string short_hash(const std::string& text) {
  return base::Sha256().add(std::as_bytes(std::span(text))).finish().substr(0, 12);
}

std::string digest(const Tokenizer& tokenizer, const std::string& text) {
  const Encoding encoding = tokenizer.encode(text);
  const Encoding plain =
      tokenizer.encode(text, {.add_special_tokens = false, .with_offsets = false, .with_tokens = false});
  const std::string all = hashed_text(encoding) + listed(plain.ids) + tokenizer.decode(encoding.ids) + ',' +
                          tokenizer.decode(encoding.ids, true) + ',';
  return short_hash(all);
}

void expect_reference(const Tokenizer& tokenizer, const std::filesystem::path& tokenizer_file,
                      const std::filesystem::path& hashes) {
  const std::string wanted = base::read_text_file(hashes);
  ASSERT_EQ(wanted.size(), 13 * ((corpus().size() + kGroup - 1) / kGroup));
  std::string wrong;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < corpus().size(); begin += kGroup) {
    const std::size_t end = std::min(begin + kGroup, corpus().size());
    std::string lines;
    for (std::size_t i = begin; i < end; ++i) lines += digest(tokenizer, corpus()[i]) + '\n';
    if (short_hash(lines) == wanted.substr(begin / kGroup * 13, 12)) continue;
    if (++count <= 20) wrong += ' ' + std::to_string(begin + 1) + '-' + std::to_string(end);
  }
  EXPECT_EQ(count, 0u) << "groups of lines of corpus.jsonl, the first 20 of them:" << wrong
                       << "\nwhich lines, and what of them: tests/golden/tokenizer_corpus/record.py --compare PROGRAM "
                       << tokenizer_file.string();
}

class TokenizerCorpus : public testing::TestWithParam<std::string> {};

TEST_P(TokenizerCorpus, EachLineIsAsInTheReference) {
  const std::filesystem::path file = corpus_folder() / (GetParam() + ".json");
  expect_reference(Tokenizer::load(file), file, corpus_folder() / (GetParam() + ".hashes"));
}

INSTANTIATE_TEST_SUITE_P(Small, TokenizerCorpus, testing::ValuesIn(names_of(corpus_folder(), ".json")),
                         [](const auto& info) { return info.param; });

TEST(TokenizerCorpusFiles, AreMany) {
  EXPECT_GE(corpus().size(), 2000u);
  EXPECT_GE(names_of(corpus_folder(), ".json").size(), 25u);
  EXPECT_EQ(names_of(corpus_folder() / "real", ".hashes").size(), 12u);
}

// Tokens of bytes have the place of the whole unknown part that they stand for. A part of a megabyte must not be
// counted for each of its bytes.
TEST(ByteFallback, PlacesOfALongUnknownPart) {
  constexpr std::uint32_t kCharacters = 300'000;
  std::string text = "a ";
  for (std::uint32_t i = 0; i < kCharacters; ++i) text += "\xF0\x9F\xAB\xA8";
  const Encoding encoding = Tokenizer::load(corpus_folder() / "byte_fallback_unigram.json").encode(text);
  ASSERT_GT(encoding.ids.size(), 4 * std::size_t{kCharacters});
  for (const std::size_t place : {encoding.ids.size() / 2, encoding.ids.size() - 1})
    EXPECT_EQ(encoding.offsets[place], Encoding::Offsets(2, kCharacters + 2));
}

class PublishedTokenizerCorpus : public testing::TestWithParam<std::string> {};

TEST_P(PublishedTokenizerCorpus, EachLineIsAsInTheReference) {
  if (published_folder().empty())
    GTEST_SKIP() << "ALATE_TEST_TOKENIZERS is not set: ./test --all fetches published tokenizers";
  const std::filesystem::path file = published_folder() / GetParam() / "tokenizer.json";
  expect_reference(Tokenizer::load(file), file, corpus_folder() / "real" / (GetParam() + ".hashes"));
}

INSTANTIATE_TEST_SUITE_P(Published, PublishedTokenizerCorpus,
                         testing::ValuesIn(names_of(corpus_folder() / "real", ".hashes")),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace alate::tests
