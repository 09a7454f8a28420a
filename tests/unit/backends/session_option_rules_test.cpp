#include "backends/session_option_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"

namespace alate::backends {
namespace {

std::string refusal(std::string_view key, std::string_view text) {
  const Error error = base::error_of([&] { (void)checked_session_option(key, text); });
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  return error.message();
}

TEST(SessionOptionRules, NoneTakesTextOfItsOwn) {
  for (const SessionOptionRule& rule : session_option_rules()) {
    for (const std::string text : {"/etc/passwd", "../x", "", "\n", "libcode.so"})
      EXPECT_NE(refusal(rule.key, text).find(rule.key), std::string::npos) << rule.key << ' ' << text;
    EXPECT_EQ(rule.key.find("file"), std::string_view::npos) << rule.key;
    EXPECT_EQ(rule.key.find("path"), std::string_view::npos) << rule.key;
  }
}

TEST(SessionOptionRules, ValuesAreSpelledAsTheRuntimeDoes) {
  EXPECT_EQ(checked_session_option("session.disable_prepacking", "true"), "1");
  EXPECT_EQ(checked_session_option("session.disable_prepacking", "0"), "0");
  EXPECT_EQ(checked_session_option("xla_cpu_enable_fast_math", "1"), "true");
  EXPECT_EQ(checked_session_option("intra_op_num_threads", "0016"), "16");
  EXPECT_EQ(checked_session_option("graph_optimization_level", "extended"), "extended");
}

TEST(SessionOptionRules, AMistypedKeyIsToldTheNearest) {
  EXPECT_NE(refusal("intra_op_num_thread", "1").find("did you mean intra_op_num_threads?"), std::string::npos);
  const std::string message = refusal(std::string(100'000, 'k') + '\n', "1");
  EXPECT_LT(message.size(), 400U);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(SessionOptionRules, AreInTheDocumentation) {
  const std::string page = base::read_text_file(source_folder() / "docs/model-folders.md");
  for (const SessionOptionRule& rule : session_option_rules()) {
    const std::string row = "| " + std::string(rule.backend) + " | `" + std::string(rule.key) + "` | ";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(SessionOptionRules, ABackendGetsItsOwn) {
  const SessionOptions all = {{"intra_op_num_threads", "2"}, {"xla_cpu_enable_fast_math", "true"}};
  EXPECT_EQ(session_options_for("onnx", all), (SessionOptions{{"intra_op_num_threads", "2"}}));
  EXPECT_EQ(session_options_for("xla", all), (SessionOptions{{"xla_cpu_enable_fast_math", "true"}}));
  EXPECT_EQ(session_options_for("somebodys", all), all);
}

}  // namespace
}  // namespace alate::backends
