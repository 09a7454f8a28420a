// alate extract: every output format, with a tiny model.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "program.h"
#include "tests/golden/tiny_extractors.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {
namespace {

using formats::Json;

class CliExtract : public testing::Test {
 protected:
  CliExtract() { folder_.write("schema.json", recorded_.runs.front().schema); }
  ProgramRun run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"extract", (folder_.path() / "model").string(), "--quiet"});
    return run_program(arguments);
  }
  std::string good(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--schema", (folder_.path() / "schema.json").string(), "--threshold", "0.6"});
    const ProgramRun done = run(std::move(arguments));
    EXPECT_EQ(done.exit_code, 0) << done.error;
    return done.out;
  }

  base::TemporaryFolder folder_;
  const RecordedExtractor recorded_ = write_tiny_extractor(folder_.path() / "model", "experts");
};

TEST_F(CliExtract, JsonHasTheSchemasShape) {
  const Json body = formats::parse_json(good({recorded_.texts[0], "--output", "json"}), "output");
  EXPECT_EQ(formats::to_json_text(body.find("results")->as_array("results").at(0)),
            formats::to_json_text(recorded_.runs.front().plain.front()));
  const Json detailed =
      formats::parse_json(good({recorded_.texts[0], "--output", "json", "--spans", "--confidence"}), "output");
  EXPECT_NE(formats::to_json_text(detailed).find("\"confidence\""), std::string::npos);
}

TEST_F(CliExtract, TextAndCsvHaveALineForEachValue) {
  const std::vector<std::string> lines = lines_of(good({recorded_.texts[0]}));
  ASSERT_FALSE(lines.empty());
  EXPECT_TRUE(lines[0].starts_with("person\t1\t")) << lines[0];
  const std::vector<std::string> csv = lines_of(good({recorded_.texts[0], "--output", "csv"}));
  ASSERT_EQ(csv.size(), lines.size() + 1);
  EXPECT_EQ(csv[0], "index,part,instance,field,score,start,end,text");
  EXPECT_TRUE(csv[1].starts_with("0,person,1,")) << csv[1];
}

TEST_F(CliExtract, ASchemaMustBeOne) {
  EXPECT_EQ(run({"a"}).exit_code, 2);
  EXPECT_EQ(run({"a", "--schema", (folder_.path() / "nothing.json").string()}).exit_code, 4);
  folder_.write("wrong.json", R"({"a": "b"})");
  const ProgramRun wrong = run({"a", "--schema", (folder_.path() / "wrong.json").string()});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.error.find("schema"), std::string::npos) << wrong.error;
}

}  // namespace
}  // namespace alate::tests
