// alate classify on a tiny model of natural language inference.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "formats/json.h"
#include "tests/end_to_end/program.h"
#include "tests/golden/tiny_classifiers.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;
using formats::Json;

class CliClassify : public testing::Test {
 protected:
  CliClassify() { write_tiny_classifier(model_); }
  ProgramRun classify(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"classify", model_.string()});
    return run_program(arguments);
  }

  base::TemporaryFolder folder_;
  const fs::path model_ = folder_.path() / "model";
};

TEST_F(CliClassify, WritesTheBestLabelFirstInEveryFormat) {
  const ProgramRun text = classify({"where did the cat sit?", "fox"});
  EXPECT_EQ(text.exit_code, 0) << text.error;
  EXPECT_TRUE(text.out.starts_with("Entailment 0.533379, neutral 0.382062, contradiction 0.084559\twhere did"))
      << text.out;
  const Json body = formats::parse_json(classify({"fox", "--top-k", "1", "--output", "json"}).out, "json");
  const Json::Array& first = body.find("classifications")->as_array("classifications").at(0).as_array("first");
  ASSERT_EQ(first.size(), 1U);
  EXPECT_TRUE(first[0].find("label")->is_string());
  const std::string csv = classify({"a, b", "--output", "csv", "--top-k", "1"}).out;
  EXPECT_TRUE(csv.starts_with("index,label,score,text\n0,")) << csv;
  EXPECT_TRUE(csv.ends_with(",\"a, b\"\n")) << csv;
}

TEST_F(CliClassify, ChoosesAmongLabelsThatAreGiven) {
  const ProgramRun result = classify({"where did the cat sit?", "--labels", "the cat,fox", "--hypothesis-template",
                                      "it is {}!", "--output", "jsonl", "--multi-label"});
  const Json line = formats::parse_json(result.out, "line");
  const Json::Array& scores = line.find("classifications")->as_array("classifications");
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_FALSE(line.find("truncated")->as_bool("truncated"));
  EXPECT_EQ(classify({"a", "--labels", "b", "--hypothesis-template", "none"}).exit_code, 2);
}

TEST_F(CliClassify, LabelsAreStrippedAndMayHaveCommasInQuotes) {
  const auto labels_of = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"where did the cat sit?", "--output", "json"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProgramRun run = classify(all);
    EXPECT_EQ(run.exit_code, 0) << run.error;
    const Json body = formats::parse_json(run.out, "output");
    std::set<std::string> labels;
    for (const Json& one : body.find("classifications")->as_array("classifications").at(0).as_array("first"))
      labels.insert(one.get_string("label", ""));
    return labels;
  };
  EXPECT_EQ(labels_of({"--labels", "cats, dogs"}), (std::set<std::string>{"cats", "dogs"}));
  EXPECT_EQ(labels_of({"--labels", R"("cats, dogs",fox)"}), (std::set<std::string>{"cats, dogs", "fox"}));
  EXPECT_EQ(labels_of({"--labels", " a ", "--labels", "b,c"}), (std::set<std::string>{"a", "b", "c"}));
  const ProgramRun open = classify({"a", "--labels", "\"cats, dogs"});
  EXPECT_EQ(open.exit_code, 2);
  EXPECT_NE(open.error.find("--labels has an entry with an opening quote"), std::string::npos) << open.error;
}

TEST_F(CliClassify, TreatsLongTextsAsAsked) {
  std::string text = "fox";
  for (int i = 0; i < 40; ++i) text += " fox";
  const ProgramRun cut = classify({text});
  EXPECT_EQ(cut.exit_code, 0);
  EXPECT_NE(cut.error.find("cut"), std::string::npos) << cut.error;
  EXPECT_TRUE(classify({text, "--long", "windows"}).error.empty());
  const ProgramRun refused = classify({"a", text, "--long", "error"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.error.find("text 2 has more than the 32 tokens"), std::string::npos) << refused.error;
  const ProgramRun skipped = classify({text, "a", "--long", "error", "--on-error", "skip", "--output", "jsonl"});
  EXPECT_EQ(skipped.exit_code, 0) << skipped.error;
  EXPECT_NE(skipped.out.find(R"({"error":{"code":"invalid_argument","message":"the text has more than)"),
            std::string::npos)
      << skipped.out;
  EXPECT_EQ(classify({"a", "--long", "some"}).exit_code, 2);
}

}  // namespace
}  // namespace alate::tests
