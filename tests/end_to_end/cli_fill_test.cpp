// alate fill: every output format, with a tiny model.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "program.h"
#include "tests/golden/tiny_fillers.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {
namespace {

using formats::Json;

class CliFill : public testing::Test {
 protected:
  ProgramRun run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"fill", (folder_.path() / "model").string(), "--quiet"});
    return run_program(arguments);
  }
  std::string good(std::vector<std::string> arguments) const {
    const ProgramRun done = run(std::move(arguments));
    EXPECT_EQ(done.exit_code, 0) << done.error;
    return done.out;
  }

  base::TemporaryFolder folder_;
  const RecordedFiller recorded_ = write_tiny_filler(folder_.path() / "model");
};

TEST_F(CliFill, TextHasALineForEachToken) {
  const std::vector<std::string> lines = lines_of(good({recorded_.texts[0], recorded_.texts[1], "--top-k", "2"}));
  ASSERT_EQ(lines.size(), 7U);
  const Fill& best = recorded_.runs[0].fills[0][0][0];
  EXPECT_TRUE(lines[0].starts_with("0\t0.")) << lines[0];
  EXPECT_TRUE(lines[0].ends_with("\t" + best.token + "\t" + best.text)) << lines[0];
  EXPECT_EQ(lines[2], "");
  EXPECT_TRUE(lines[5].starts_with("1\t")) << lines[5];
}

TEST_F(CliFill, ATextWithoutAMaskIsAnErrorThatNamesTheMask) {
  const ProgramRun stopped = run({recorded_.texts[0], "a <mask> of another model"});
  EXPECT_EQ(stopped.exit_code, 2);
  EXPECT_EQ(
      stopped.error,
      "alate: invalid_argument: text 2 has no mask: this model's is \"[MASK]\", which belongs in each place to be "
      "filled\n");
  const ProgramRun skipped = run_program({"fill", (folder_.path() / "model").string(), "no mask", recorded_.texts[0],
                                          "--on-error", "skip", "--top-k", "1", "--output", "jsonl"});
  EXPECT_EQ(skipped.exit_code, 0) << skipped.error;
  const std::vector<std::string> lines = lines_of(skipped.out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0].find(R"("fills":{"error":{"code":"invalid_argument","message":"the text has no mask)"),
            std::string::npos)
      << lines[0];
  EXPECT_EQ(lines[1].find("error"), std::string::npos) << lines[1];
  EXPECT_TRUE(skipped.error.starts_with("warn: 1 text has no answer; the first: text 1 has no mask")) << skipped.error;
}

TEST_F(CliFill, AMaskInThePartThatIsCutIsNoAnswer) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "the ";
  const ProgramRun cut = run({text + "[MASK]"});
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_NE(cut.error.find("--long cut-left"), std::string::npos) << cut.error;
  EXPECT_EQ(run({text + "[MASK]", "--long", "cut-left"}).exit_code, 0);
}

TEST_F(CliFill, JsonIsTheBodyOfTheRoute) {
  const Json body = formats::parse_json(good({recorded_.texts[0], "--output", "json", "--top-k", "1"}), "output");
  const Json& fill = body.find("fills")->as_array("fills").at(0).as_array("masks").at(0).as_array("fills").at(0);
  EXPECT_EQ(fill.get_string("text", ""), recorded_.runs[0].fills[0][0][0].text);
  EXPECT_EQ(fill.get_int("id", -1), recorded_.runs[0].fills[0][0][0].id);
}

TEST_F(CliFill, CsvAndTargets) {
  const std::vector<std::string> lines =
      lines_of(good({recorded_.texts[1], recorded_.texts[0], "--targets", "the,and", "--output", "csv"}));
  ASSERT_EQ(lines.size(), 7U);  // the first text has two masks
  EXPECT_EQ(lines[0], "index,mask,score,token,text");
  EXPECT_TRUE(lines[5].starts_with("1,0,0.")) << lines[5];
  EXPECT_EQ(run({"a", "--long", "windows"}).exit_code, 2);
  EXPECT_EQ(run({"a", "--top-k", "0"}).exit_code, 2);
}

}  // namespace
}  // namespace alate::tests
