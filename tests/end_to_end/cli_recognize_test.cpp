// alate recognize and alate redact: every output format, with builtin:pii and a tiny recognizer.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "program.h"
#include "tests/golden/tiny_recognizers.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {
namespace {

using formats::Json;

constexpr const char* kText = "My name is Ada Wong, call +44 20 7946 0958.";
constexpr const char* kRedacted = "My name is [GIVEN_NAME] [SURNAME], call [PHONE].";

std::string good(const std::vector<std::string>& arguments, const std::string& input = "") {
  const ProgramRun run = run_program(arguments, {.input = input});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  return run.out;
}

TEST(CliRecognize, TextHasALineForEachEntity) {
  const std::vector<std::string> lines =
      lines_of(good({"recognize", "builtin:pii", kText, "nothing to see", "Ada", "--quiet"}));
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_TRUE(lines[0].starts_with("GIVEN_NAME\t0.9")) << lines[0];
  EXPECT_TRUE(lines[0].ends_with("\t11\t14\tAda")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("SURNAME\t0.9")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("PHONE\t")) << lines[2];
  EXPECT_TRUE(lines[2].ends_with("\t26\t42\t+44 20 7946 0958")) << lines[2];
  EXPECT_EQ(lines[3] + lines[4], "");
  EXPECT_TRUE(lines[5].ends_with("\t0\t3\tAda")) << lines[5];
}

TEST(CliRecognize, JsonIsTheBodyOfTheRoute) {
  const Json body = formats::parse_json(
      good({"recognize", "builtin:pii", kText, "--labels", "SURNAME", "--output", "json", "--quiet"}), "output");
  EXPECT_EQ(body.get_string("model", ""), "builtin:pii");
  const Json::Array& entities = body.find("entities")->as_array("entities").at(0).as_array("entities");
  ASSERT_EQ(entities.size(), 1U);
  EXPECT_EQ(entities[0].get_string("text", ""), "Wong");
  EXPECT_EQ(entities[0].get_int("byte_start", -1), 15);
}

TEST(CliRecognize, JsonLinesAndCsvHaveTheTextsNumbers) {
  const std::string lines = good({"recognize", "builtin:pii", "--input", "jsonl", "--output", "jsonl", "--quiet"},
                                 R"({"id": 7, "text": "Ada"})"
                                 "\n"
                                 R"({"text": "x"})"
                                 "\n");
  const Json first = formats::parse_json(lines_of(lines).at(0), "line");
  EXPECT_EQ(first.get_int("id", 0), 7);
  EXPECT_EQ(first.get_string("text", ""), "Ada");
  EXPECT_EQ(first.find("entities")->as_array("entities").size(), 1U);
  const std::vector<std::string> csv =
      lines_of(good({"recognize", "builtin:pii", "x", "Ada, Grace", "--output", "csv", "--quiet"}));
  EXPECT_EQ(csv.at(0), "index,label,score,start,end,text");
  EXPECT_TRUE(csv.at(1).starts_with("1,")) << csv[1];
}

TEST(CliRecognize, AggregationIsAsInTransformers) {
  const base::TemporaryFolder folder;
  const RecordedRecognizer recorded = write_tiny_recognizer(folder.path() / "model");
  for (const RecordedRun& run : recorded.runs) {
    if (run.stride) continue;
    const Json body = formats::parse_json(
        good({"recognize", (folder.path() / "model").string(), recorded.texts[3], "--aggregation",
              std::string(to_string(run.aggregation)), "--long", "cut", "--output", "json", "--quiet"}),
        "output");
    EXPECT_EQ(body.find("entities")->as_array("entities").at(0).as_array("entities").size(), run.entities[3].size());
  }
  const ProgramRun other = run_program({"recognize", (folder.path() / "model").string(), "a", "--aggregation", "mean"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.error.find("--aggregation"), std::string::npos) << other.error;
}

TEST(CliRedact, TakesBuiltinPiiWhereNoModelIsNamed) {
  EXPECT_EQ(good({"redact", kText, "--quiet"}), std::string(kRedacted) + "\n");
  EXPECT_EQ(good({"redact", "builtin:pii", kText, "--quiet"}), std::string(kRedacted) + "\n");
  EXPECT_EQ(good({"redact", "--quiet"}, std::string(kText) + "\n"), std::string(kRedacted) + "\n");
  const ProgramRun absent = run_program({"redact", "nobody/model", kText});
  EXPECT_EQ(absent.exit_code, 4);
  EXPECT_NE(absent.error.find("--model builtin:pii"), std::string::npos) << absent.error;
}

TEST(CliRedact, AWordIsATextAndAFolderOrTheNameOfAModelIsAModel) {
  const base::TemporaryFolder folder;
  const std::string model = (folder.path() / "model").string();
  write_tiny_recognizer(model);
  EXPECT_EQ(good({"redact", "Ada", "--quiet"}), "[GIVEN_NAME]\n");
  EXPECT_EQ(good({"redact", "Ada", "Grace", "--quiet"}), "[GIVEN_NAME]\n[GIVEN_NAME]\n");
  EXPECT_EQ(good({"redact", "--model", "builtin:pii", "builtin:pii", "Ada", "--quiet"}), "builtin:pii\n[GIVEN_NAME]\n");
  EXPECT_EQ(good({"redact", "Ada", "--model", model, "--quiet"}).find("[GIVEN_NAME]"), std::string::npos);
  EXPECT_EQ(good({"redact", model, "Ada", "--quiet"}), good({"redact", "Ada", "--model", model, "--quiet"}));
  EXPECT_EQ(good({"redact", "model", "Ada", "--models-dir", folder.path().string(), "--quiet"}),
            good({"redact", model, "Ada", "--quiet"}));
}

TEST(CliRedact, SaysThatItOverlooksData) {
  const ProgramRun run = run_program({"redact", "Ada"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(lines_of(run.error).size(), 1U) << run.error;
  EXPECT_TRUE(run.error.starts_with("warn: builtin:pii finds names")) << run.error;
  EXPECT_NE(run.error.find("IP addresses"), std::string::npos);
  EXPECT_EQ(run_program({"redact", "Ada", "--quiet"}).error, "");
  EXPECT_EQ(run_program({"redact", "Ada", "--log-level", "error"}).error, "");
  const std::string help = good({"redact", "--help"});
  for (const std::string named : {"IP", "IBANs", "passwords", "--model MODEL"})
    EXPECT_NE(help.find(named), std::string::npos) << named;
}

TEST(CliRecognize, BuiltinPiiLabelsWholeWords) {
  const std::string text = "Write to grace.hopper@navy.mil or transfer it to GB29NWBK60161331926819 for Ada.";
  const auto entities = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"recognize", "builtin:pii", text, "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return good(arguments);
  };
  EXPECT_EQ(entities({}), entities({"--aggregation", "first"}));
  EXPECT_NE(entities({}), entities({"--aggregation", "simple"}));
}

TEST(CliRedact, NoFormatShowsTheOriginalText) {
  const std::string lines = good({"redact", kText, "--output", "jsonl", "--quiet"});
  EXPECT_EQ(formats::parse_json(lines, "line").get_string("text", ""), kRedacted);
  EXPECT_EQ(good({"redact", kText, "--output", "csv", "--quiet"}),
            "index,text\n0,\"" + std::string(kRedacted) + "\"\n");
  const Json body = formats::parse_json(good({"redact", kText, "It rains.", "--output", "json", "--quiet"}), "output");
  EXPECT_EQ(body.find("texts")->as_array("texts").at(0).as_string("text"), kRedacted);
  EXPECT_EQ(body.find("texts")->as_array("texts").at(1).as_string("text"), "It rains.");
  EXPECT_EQ(body.find("entities")->as_array("entities").size(), 2U);
  for (const char* format : {"text", "jsonl", "csv", "json"})
    EXPECT_EQ(good({"redact", kText, "--output", format, "--quiet"}).find("My name is Ada"), std::string::npos)
        << format;
}

TEST(CliRedact, PseudonymsAreThoseOfTheJob) {
  EXPECT_EQ(good({"redact", "--pseudonyms", "--quiet"}, "Ada met Grace.\nGrace lives in London.\n"),
            "[GIVEN_NAME_1] met [GIVEN_NAME_2].\n[GIVEN_NAME_2] lives in [CITY_1].\n");
  const base::TemporaryFolder folder;
  const std::string texts = folder.write("texts.txt", "Ada met Grace.\n").string();
  const ProgramRun resumed =
      run_program({"redact", "--file", texts, "--pseudonyms", "--resume", "--out", (folder.path() / "out").string()});
  EXPECT_EQ(resumed.exit_code, 2);
  EXPECT_NE(resumed.error.find("pseudonyms"), std::string::npos) << resumed.error;
}

TEST(CliRedact, RefusesToLeaveTextUnread) {
  const ProgramRun cut = run_program({"redact", kText, "--long", "cut"});
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_NE(cut.error.find("windows"), std::string::npos) << cut.error;
  EXPECT_EQ(run_program({"redact", kText, "--aggregation", "none"}).exit_code, 2);
}

}  // namespace
}  // namespace alate::tests
