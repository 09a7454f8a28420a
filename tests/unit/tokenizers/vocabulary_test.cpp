#include "tokenizers/models/vocabulary.h"

#include <gtest/gtest.h>

#include <string>

#include "alate/error.h"
#include "base/threads/cancellation.h"
#include "tokenizers/unicode/normal_forms.h"
#include "tokenizers/unicode/utf8.h"
#include "tokenizers/work_budget.h"

namespace alate::tokenizers {
namespace {

TEST(Vocabulary, FindsEveryTokenAndNoOther) {
  Vocabulary vocabulary;
  for (int i = 0; i < 5000; ++i) vocabulary.add("token" + std::to_string(i * 7), i);
  vocabulary.finish();
  EXPECT_EQ(vocabulary.size(), 5000u);
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(vocabulary.id_of("token" + std::to_string(i * 7)), i);
    EXPECT_EQ(vocabulary.id_of("token" + std::to_string(i * 7 + 1)), std::nullopt);
    EXPECT_EQ(vocabulary.token_of(i), "token" + std::to_string(i * 7));
  }
  EXPECT_EQ(vocabulary.token_of(5000), std::nullopt);
  EXPECT_EQ(vocabulary.token_of(-1), std::nullopt);
}

TEST(Vocabulary, ScatteredIdsKeepTheirTokens) {
  Vocabulary vocabulary;
  vocabulary.add("low", 3);
  vocabulary.add("high", 2'000'000'000);
  vocabulary.finish();
  EXPECT_EQ(vocabulary.token_of(2'000'000'000), "high");
  EXPECT_EQ(vocabulary.token_of(3), "low");
  EXPECT_EQ(vocabulary.token_of(4), std::nullopt);
  EXPECT_EQ(vocabulary.token_of(0), std::nullopt);
}

TEST(Vocabulary, ATokenGivenTwiceHasTheLaterId) {
  Vocabulary vocabulary;
  vocabulary.add("again", 1);
  vocabulary.add("again", 2);
  vocabulary.finish();
  EXPECT_EQ(vocabulary.size(), 1u);
  EXPECT_EQ(vocabulary.id_of("again"), 2);
  EXPECT_EQ(vocabulary.token_of(1), std::nullopt);
}

TEST(Vocabulary, AnEmptyOneFindsNothing) {
  Vocabulary vocabulary;
  vocabulary.finish();
  EXPECT_EQ(vocabulary.id_of("a"), std::nullopt);
  EXPECT_EQ(vocabulary.token_of(0), std::nullopt);
}

TEST(Vocabulary, RefusesNegativeIdsAndEndlessTokens) {
  Vocabulary vocabulary;
  EXPECT_THROW(vocabulary.add("a", -1), Error);
  EXPECT_THROW(vocabulary.add(std::string(Vocabulary::kMaxTokenBytes + 1, 'a'), 1), Error);
}

TEST(Utf8, RepairsOneReplacementAMaximalInvalidPart) {
  EXPECT_EQ(repair_utf8("plain"), std::nullopt);
  EXPECT_EQ(repair_utf8("na\u00EFve \U0001F600"), std::nullopt);
  EXPECT_EQ(repair_utf8("\xFF"), "\uFFFD");
  EXPECT_EQ(repair_utf8("a\xE2\x82z"), "a\uFFFDz");                        // a cut code point is one
  EXPECT_EQ(repair_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate's bytes are three
  EXPECT_EQ(repair_utf8("\xC0\x80"), "\uFFFD\uFFFD");                      // overlong
  EXPECT_EQ(repair_utf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // past U+10FFFF
  EXPECT_EQ(repair_utf8("\xF0\x9F\x98"), "\uFFFD");
}

TEST(Utf8, TellsWhatFurtherBytesMayComplete) {
  EXPECT_EQ(incomplete_utf8_tail("a"), 0u);
  EXPECT_EQ(incomplete_utf8_tail(""), 0u);
  EXPECT_EQ(incomplete_utf8_tail("a\xE2"), 1u);
  EXPECT_EQ(incomplete_utf8_tail("a\xE2\x82"), 2u);
  EXPECT_EQ(incomplete_utf8_tail("a\xE2\x82\xAC"), 0u);
  EXPECT_EQ(incomplete_utf8_tail("\xF0\x9F\x98"), 3u);
  EXPECT_EQ(incomplete_utf8_tail("\xED\xA0"), 0u);  // a surrogate's beginning is invalid already
  EXPECT_EQ(incomplete_utf8_tail("\xC0"), 0u);
  EXPECT_EQ(incomplete_utf8_tail("\x80\x80"), 0u);
}

std::optional<std::vector<Change>> form_of(std::string_view text, NormalForm form) {
  WorkBudget budget(base::Cancellation::never(), text.size());
  return normal_form(text, form, budget);
}

TEST(NormalForms, ChangesSayWhatReplacesAndWhatIsNew) {
  // e with acute: e replaces it, the accent is new. Back: one code point takes the next one in.
  const auto decomposed = form_of("\u00E9", NormalForm::nfd).value();
  ASSERT_EQ(decomposed.size(), 2u);
  EXPECT_EQ(decomposed[0].change, 0);
  EXPECT_EQ(decomposed[1].value, 0x301u);
  EXPECT_EQ(decomposed[1].change, 1);
  const auto composed = form_of("e\u0301", NormalForm::nfc).value();
  ASSERT_EQ(composed.size(), 1u);
  EXPECT_EQ(composed[0].value, 0xE9u);
  EXPECT_EQ(composed[0].change, -1);
}

TEST(NormalForms, OnlyWhatChangesIsSaid) {
  EXPECT_EQ(form_of("caf\u00E9 \uAC00 \u4E2D", NormalForm::nfc), std::nullopt);
  EXPECT_EQ(form_of("\u0915\u094D\u0937", NormalForm::nfkc), std::nullopt);  // a mark that stays in its place
  EXPECT_EQ(form_of("e\u0301", NormalForm::nfd), std::nullopt);
  EXPECT_EQ(form_of("", NormalForm::nfkd), std::nullopt);
  // A syllable and the trailing part behind it become one; what is around them stays.
  const auto changes = form_of("\u00E9\uAC00\u11A8b", NormalForm::nfc).value();
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].value, 0xE9u);
  EXPECT_EQ(changes[1].value, 0xAC01u);
  EXPECT_EQ(changes[1].change, -1);
  EXPECT_EQ(changes[2].value, U'b');
}

}  // namespace
}  // namespace alate::tokenizers
