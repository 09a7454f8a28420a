// all-MiniLM-L6-v2's own tokenizer, from both of its files, against recorded encodings of the reference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "alate/tokenizer.h"
#include "tests/golden/tokenizers/golden_cases.h"

namespace alate::tests {
namespace {

std::filesystem::path model_folder() {
  const char* folder = std::getenv("ALATE_TEST_MODEL_DIR");
  if (folder == nullptr || *folder == '\0')
    throw std::runtime_error("set ALATE_TEST_MODEL_DIR to the folder of all-MiniLM-L6-v2");
  return folder;
}

TEST(TokenizeMiniLm, TokenizerJsonGivesTheReferenceEncodings) {
  run_golden(Tokenizer::load(model_folder()), "minilm", 250);
}

TEST(TokenizeMiniLm, VocabTxtGivesTheReferenceEncodings) {
  run_golden(Tokenizer::load(model_folder() / "vocab.txt"), "minilm", 250);
}

TEST(TokenizeMiniLm, KnowsItsVocabulary) {
  const Tokenizer tokenizer = Tokenizer::load(model_folder());
  EXPECT_EQ(tokenizer.vocabulary_size(), 30522u);
  EXPECT_EQ(tokenizer.token_to_id("[CLS]"), 101);
  EXPECT_EQ(tokenizer.id_to_token(7592), "hello");
  EXPECT_EQ(tokenizer.stated_max_length(), 128u);
}

}  // namespace
}  // namespace alate::tests
