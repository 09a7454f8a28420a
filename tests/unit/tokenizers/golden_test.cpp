// Small tokenizers against recorded encodings of the reference.
#include <gtest/gtest.h>

#include "alate/tokenizer.h"
#include "tests/golden/tokenizers/golden_cases.h"

namespace alate::tests {
namespace {

void run_folder(const std::string& name, std::size_t least) {
  run_golden(Tokenizer::load(golden_folder() / name), name, least);
}

TEST(Golden, CasedBertWithBertProcessing) { run_folder("cased", 250); }
TEST(Golden, UncasedBertThatKeepsAccents) { run_folder("accents_kept", 190); }
TEST(Golden, CasedBertThatStripsAccentsAndSplitsInSequence) { run_folder("stripped_cased", 60); }
TEST(Golden, NormalFormsAndATemplateThatRepeatsTheText) { run_folder("normal_forms", 250); }
TEST(Golden, AddedTokensOfEveryKind) { run_folder("added_tokens", 220); }
TEST(Golden, NoNormalizerNoTemplateNoDecoder) { run_folder("plain", 110); }
TEST(Golden, VocabTxtAlone) { run_folder("vocab_txt", 100); }
TEST(Golden, VocabTxtWithConfigAndSpecialTokensMap) { run_folder("vocab_txt_cased", 100); }
TEST(Golden, VocabTxtWithAddedTokensDecoder) { run_folder("vocab_txt_decoder", 100); }

}  // namespace
}  // namespace alate::tests
