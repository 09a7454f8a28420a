// How the named pre-tokenizers of GGUF files cut the corpus, against their models' patterns in the reference
// (tests/golden/gguf_pre_tokenizers/record.py).
#include "tokenizers/sources/gguf_pre_tokenizers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "base/threads/cancellation.h"
#include "tests/golden/tokenizers/golden_cases.h"
#include "tests/source_folder.h"
#include "tokenizers/pieces.h"
#include "tokenizers/unicode/utf8.h"
#include "tokenizers/work_budget.h"

namespace alate::tests {
namespace {

constexpr std::size_t kLinesOfAHash = 256;
constexpr std::size_t kLongest = 2000;

std::vector<std::string> lines() {
  std::vector<std::string> texts;
  for (const Json& entry : read_jsonl(source_folder() / "tests" / "golden" / "tokenizer_corpus" / "corpus.jsonl")) {
    std::string text = corpus_text(entry);
    if (tokenizers::count_code_points(text) <= kLongest) texts.push_back(std::move(text));
  }
  return texts;
}

// The pieces of a text, each with a zero byte behind it.
std::string pieces_of(const tokenizers::GgufPreTokenizer& pre, const std::string& text) {
  tokenizers::WorkBudget budget(base::Cancellation::never(), text.size());
  tokenizers::PieceList list{tokenizers::AlignedText(text, {0, static_cast<std::uint32_t>(text.size())}, false, budget),
                             {}};
  if (pre.normalizer != nullptr) pre.normalizer->apply(list.text);
  if (!list.text.empty()) list.pieces.push_back({0, static_cast<std::uint32_t>(list.text.size())});
  pre.pre_tokenizer->apply(list);
  std::string cut;
  for (const tokenizers::Piece& piece : list.pieces) (cut += list.text_of(piece)) += '\0';
  return cut;
}

std::string hashes_of(const tokenizers::GgufPreTokenizer& pre, const std::vector<std::string>& texts) {
  std::string hashes;
  for (std::size_t first = 0; first < texts.size(); first += kLinesOfAHash) {
    std::string all;
    for (std::size_t i = first; i < std::min(first + kLinesOfAHash, texts.size()); ++i)
      all += pieces_of(pre, texts[i]) + '\n';
    if (first > 0) hashes += ' ';
    hashes += base::Sha256().add(std::as_bytes(std::span(all))).finish().substr(0, 12);
  }
  return hashes;
}

TEST(GgufPreTokenizers, CutAsTheirModels) {
  const std::vector<std::string> texts = lines();
  std::set<std::string> recorded;
  for (const Json& entry : read_jsonl(source_folder() / "tests" / "golden" / "gguf_pre_tokenizers" / "pieces.jsonl")) {
    const std::string name = entry.get_string("name", "");
    EXPECT_EQ(hashes_of(tokenizers::gguf_pre_tokenizer(name), texts), entry.get_string("hashes", "")) << name;
    recorded.insert(name);
  }
  const std::vector<std::string_view> names = tokenizers::gguf_pre_tokenizer_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), recorded);
}

}  // namespace
}  // namespace alate::tests
