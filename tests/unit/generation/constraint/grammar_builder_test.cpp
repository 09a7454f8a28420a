#include "generation/constraint/grammar.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "constrained_texts.h"

namespace alate::generation {
namespace {

std::shared_ptr<const Grammar> calls(bool is_required, bool repeats) {
  GrammarBuilder builder;
  const formats::Json schema = formats::parse_json(
      R"({"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]})", "schema");
  const Trigger trigger{builder.text("<call>"),
                        builder.sequence({builder.json_schema(schema, "the tool"), builder.text("</call>")})};
  return builder.build(builder.triggered(std::span(&trigger, 1), is_required, repeats), "the tools");
}

TEST(GrammarBuilder, TextIsFreeUpToATrigger) {
  const auto grammar = calls(false, false);
  EXPECT_TRUE(fits(*grammar, ""));
  EXPECT_TRUE(fits(*grammar, "héllo <call <cal"));
  EXPECT_EQ(fit(*grammar, "hello <call>"), Fit::begins);
  EXPECT_EQ(fit(*grammar, "hello <call>x"), Fit::no);
  EXPECT_TRUE(fits(*grammar, "hello <<call>{\"x\": 1}</call>"));
  EXPECT_EQ(fit(*grammar, "<call>{\"x\":1}</call> more"), Fit::no);
  EXPECT_EQ(fit(*grammar, "\xFF"), Fit::no);
}

TEST(GrammarBuilder, ATriggerMayBeRequiredAndRepeated) {
  const auto once = calls(true, false);
  EXPECT_EQ(fit(*once, "hello"), Fit::begins);
  EXPECT_TRUE(fits(*once, "hello <call>{\"x\":1}</call>"));
  const auto often = calls(true, true);
  EXPECT_EQ(fit(*often, "hello"), Fit::begins);
  EXPECT_TRUE(fits(*often, "a<call>{\"x\":1}</call>\n<call>{\"x\":2}</call> b"));
  EXPECT_EQ(fit(*often, "a<call>{\"x\":1}</call>\n<call>{\"y\""), Fit::no);
}

TEST(GrammarBuilder, FreeTextHasNoneOfTheTexts) {
  GrammarBuilder builder;
  const std::vector<std::string> without = {"aba", "bb"};
  const auto grammar = builder.build(builder.free_text(without), "the text");
  EXPECT_TRUE(fits(*grammar, "abxabé"));
  EXPECT_EQ(fit(*grammar, "xaba"), Fit::no);
  EXPECT_EQ(fit(*grammar, "abb"), Fit::no);
  expect_refused([] { GrammarBuilder().free_text(std::vector<std::string>{""}); }, "empty");
}

TEST(GrammarBuilder, EqualExpressionsMakeEqualTables) {
  EXPECT_EQ(calls(true, false)->tables(), calls(true, false)->tables());
  EXPECT_NE(calls(true, false)->tables(), calls(true, true)->tables());
}

TEST(GrammarBuilder, ACompileIsCancelled) {
  const auto is_gone = [] { return true; };
  try {
    compile_format({Kind::regex, "(a|b)*a((a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)){4}"},
                   base::Cancellation::when(is_gone));
    ADD_FAILURE() << "it was not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace alate::generation
