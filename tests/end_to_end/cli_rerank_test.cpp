// alate rerank: every output format against recorded scores, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "program.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

using formats::Json;

class CliRerank : public testing::Test {
 protected:
  CliRerank() { write_tiny_reranker(model_); }

  ProgramRun rerank(const std::vector<std::string>& more, const std::string& input = "") const {
    std::vector<std::string> arguments = {"rerank", model_.string(), "--query", recorded_.query};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, {.input = input});
  }
  // The recorded texts hold line breaks in other cases: JSON lines carry any text.
  std::string lines(const std::string& members = "") const {
    std::string out;
    for (const std::string& text : recorded_.texts)
      out += R"({"text":)" + formats::to_json_text(Json(text)) + members + "}\n";
    return out;
  }
  std::vector<float> scores() const {
    std::vector<float> scores = recorded_.logits;
    for (float& score : scores) score = 1 / (1 + std::exp(-score));
    return scores;
  }
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> order(recorded_.logits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return recorded_.logits[i]; });
    return order;
  }

  base::TemporaryFolder folder_;
  const std::filesystem::path model_ = folder_.path() / "reranker";
  const RecordedRanking recorded_ = recorded_ranking();
};

TEST_F(CliRerank, TextIsAScoreAndATextALineTheBestFirst) {
  const ProgramRun run = rerank({"--quiet", "the cat sat on the mat.", "fox"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const std::vector<std::string> found = lines_of(run.out);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].substr(8), "\tthe cat sat on the mat.");
  EXPECT_EQ(found[1].substr(8), "\tfox");
  EXPECT_NEAR(std::stof(found[0]), scores()[0], 1e-5);
  EXPECT_NEAR(std::stof(found[1]), scores()[3], 1e-5);
}

TEST_F(CliRerank, TextsOfEqualScoresAreInTheOrderOfTheModelsOwnNumbers) {
  std::vector<formats::NamedTensor> weights = formats::read_tensors(model_ / "model.safetensors");
  for (formats::NamedTensor& each : weights) {
    if (each.name == "classifier.bias")  // all sigmoids are 1
      each.tensor = Tensor::from<float>({1}, {each.tensor.values<float>()[0] + 30});
  }
  formats::write_tensors(model_ / "model.safetensors", weights);
  const std::filesystem::path out = folder_.path() / "ranking.jsonl", texts = folder_.path() / "texts.jsonl";
  folder_.write("texts.jsonl", lines());
  for (const std::size_t count : {order().size(), std::size_t{1}}) {
    const std::vector<std::string> common = {"--input", "jsonl", "--quiet", "--top-n", std::to_string(count)};
    const auto indices = [&](std::vector<std::string> more) {
      more.insert(more.end(), common.begin(), common.end());
      const ProgramRun run = rerank(more, lines());
      EXPECT_EQ(run.exit_code, 0) << run.error;
      return run.out;
    };
    std::string wanted;
    for (std::size_t i = 0; i < count; ++i) wanted += std::to_string(order()[i]) + " ";
    const auto indices_of = [](const std::string& written) {
      std::string found;
      for (const std::string& line : lines_of(written))
        found += std::to_string(formats::parse_json(line, "line").get_int("index", -1)) + " ";
      return found;
    };
    EXPECT_EQ(indices_of(indices({"--output", "jsonl"})), wanted);  // kept in memory
    indices({"--file", texts.string(), "--output", "jsonl", "--out", out.string(), "--resume"});
    EXPECT_EQ(indices_of(base::read_text_file(out)), wanted);  // kept in the file
    std::filesystem::remove(out);
    std::string ranked;
    const Json body = formats::parse_json(indices({"--output", "json"}), "output");
    for (const Json& result : body.find("results")->as_array("results"))
      ranked += std::to_string(result.get_int("index", -1)) + " ";
    EXPECT_EQ(ranked, wanted);
  }
}

TEST_F(CliRerank, ACrossEncoderOfModulesRanksAndIsListedAsWhatItIs) {
  const std::filesystem::path modules = folder_.path() / "modules";
  write_tiny_reranker(modules, "modules");
  const ProgramRun run = run_program({"rerank", modules.string(), "--query", "where is the cat", "--model-scores",
                                      "--quiet", "Shares fell.", "money"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const std::vector<std::string> found = lines_of(run.out);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].ends_with("\tmoney")) << found[0];
  EXPECT_NEAR(std::stof(found[0]), -4.49802, 2e-4);
  EXPECT_NEAR(std::stof(found[1]), -5.67719, 2e-4);
  EXPECT_NE(run_program({"show", modules.string()}).out.find("reranker"), std::string::npos);
  // Another task's verb takes it only by force.
  const ProgramRun refused = run_program({"embed", modules.string(), "a"});
  EXPECT_EQ(refused.exit_code, 3) << refused.error;
  EXPECT_NE(refused.error.find("is a reranker"), std::string::npos) << refused.error;
  EXPECT_NE(refused.error.find("--force"), std::string::npos) << refused.error;
  EXPECT_EQ(run_program({"embed", modules.string(), "a", "--force", "--quiet"}).exit_code, 0);
  EXPECT_EQ(run_program({"similarity", modules.string(), "a", "b"}).exit_code, 3);
  EXPECT_EQ(run_program({"similarity", modules.string(), "a", "b", "--force", "--quiet"}).exit_code, 0);
  EXPECT_EQ(run_program({"chunk", modules.string(), "a b. c d.", "--method", "semantic"}).exit_code, 3);
  EXPECT_EQ(
      run_program({"chunk", modules.string(), "a b. c d.", "--method", "semantic", "--force", "--quiet"}).exit_code, 0);
  const std::string text = (folder_.path() / "a.txt").string();
  folder_.write("a.txt", "the cat");
  const std::string index = (folder_.path() / "index").string();
  EXPECT_EQ(run_program({"index", text, "--model", modules.string(), "--out", index}).exit_code, 3);
  EXPECT_EQ(run_program({"index", text, "--model", modules.string(), "--out", index, "--force"}).exit_code, 0);
  EXPECT_EQ(run_program({"search", index, "the cat", "--model", modules.string()}).exit_code, 0);
}

TEST_F(CliRerank, JsonIsTheBodyOfTheRoute) {
  const ProgramRun run = rerank({"--input", "jsonl", "--output", "json", "--quiet"}, lines());
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const Json body = formats::parse_json(run.out, "output");
  EXPECT_EQ(body.get_string("model", ""), model_.string());
  EXPECT_EQ(body.get_int("prompt_eval_count", 0), static_cast<std::int64_t>(recorded_.tokens));
  EXPECT_EQ(formats::to_json_text(*body.find("truncated")), "[1]");
  std::vector<float> found;
  for (const Json& score : body.find("scores")->as_array("scores"))
    found.push_back(static_cast<float>(score.as_double("score")));
  expect_near(found, scores());
  std::vector<std::size_t> ranks;
  for (const Json& result : body.find("results")->as_array("results"))
    ranks.push_back(static_cast<std::size_t>(result.get_int("index", 99)));
  EXPECT_EQ(ranks, order());
}

TEST_F(CliRerank, JsonLinesKeepTheirMembersAndSayWhatWasCut) {
  const ProgramRun run =
      rerank({"--input", "jsonl", "--output", "jsonl", "--top-n", "3", "--raw-scores", "--quiet"}, lines(R"(,"id":7)"));
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const std::vector<std::string> found = lines_of(run.out);
  ASSERT_EQ(found.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const Json line = formats::parse_json(found[i], "line");
    const std::size_t index = order()[i];
    EXPECT_EQ(line.get_int("id", 0), 7);
    EXPECT_EQ(line.get_int("index", -1), static_cast<std::int64_t>(index));
    EXPECT_EQ(line.get_string("text", "?"), recorded_.texts[index]);
    EXPECT_NEAR(line.find("relevance_score")->as_double("score"), recorded_.logits[index], 1e-5);
    EXPECT_EQ(line.find("truncated")->as_bool("truncated"), index == 1);
  }
}

TEST_F(CliRerank, CsvQuotesTexts) {
  const ProgramRun run = rerank({"--output", "csv", "--quiet", "fox", "a \"cat\", sat"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const std::vector<std::string> found = lines_of(run.out);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], "index,relevance_score,text");
  const bool fox_is_first = found[1].starts_with("0,");
  EXPECT_TRUE(found[fox_is_first ? 1 : 2].ends_with(",fox")) << run.out;
  EXPECT_TRUE(found[fox_is_first ? 2 : 1].ends_with(",\"a \"\"cat\"\", sat\"")) << run.out;
}

TEST_F(CliRerank, WarnsOfTextsThatWereCut) {
  const ProgramRun run = rerank({recorded_.texts[0], recorded_.texts[1]});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.error.find("1 of 2 texts was cut to 32 tokens; their rest was not read (texts 1, counted from 0)"),
            std::string::npos)
      << run.error;
  EXPECT_NE(rerank({"--max-length", "8", recorded_.texts[0]}).error.find("the text was cut to 8 tokens"),
            std::string::npos);
}

TEST_F(CliRerank, LongTextsMayBeErrorsOrReadInWindows) {
  const ProgramRun stopped = rerank({"--input", "jsonl", "--long", "error"}, lines());
  EXPECT_EQ(stopped.exit_code, 2);
  EXPECT_NE(stopped.error.find("text 2 has, with the query, more than the 32 tokens"), std::string::npos)
      << stopped.error;
  const ProgramRun skipped =
      rerank({"--input", "jsonl", "--output", "jsonl", "--long", "error", "--on-error", "skip", "--quiet"}, lines());
  ASSERT_EQ(skipped.exit_code, 0) << skipped.error;
  const std::vector<std::string> found = lines_of(skipped.out);
  ASSERT_EQ(found.size(), 7U);
  const Json last = formats::parse_json(found.back(), "line");  // without a score
  EXPECT_EQ(last.get_int("index", 0), 1);
  EXPECT_NE(last.find("relevance_score")->find("error"), nullptr);
  const ProgramRun body =
      rerank({"--input", "jsonl", "--output", "json", "--long", "error", "--on-error", "skip", "--quiet"}, lines());
  const Json answer = formats::parse_json(body.out, "output");
  EXPECT_NE(answer.find("scores")->as_array("scores")[1].find("error"), nullptr);
  EXPECT_EQ(answer.find("results")->as_array("results").size(), 6U);
  const ProgramRun windows =
      rerank({"--input", "jsonl", "--output", "json", "--long", "windows", "--stride", "5", "--quiet"}, lines());
  EXPECT_EQ(formats::parse_json(windows.out, "output").find("truncated"), nullptr);
}

TEST_F(CliRerank, RefusesWhatItCannotDo) {
  const ProgramRun no_query = run_program({"rerank", model_.string(), "a text"});
  EXPECT_EQ(no_query.exit_code, 2);
  EXPECT_NE(no_query.error.find("--query is missing"), std::string::npos) << no_query.error;
  EXPECT_EQ(rerank({"--top-n", "0", "a"}).exit_code, 2);
  EXPECT_EQ(rerank({"--max-length", "41", "a"}).exit_code, 2);
  const ProgramRun pair = rerank({"--input", "jsonl"}, R"({"text":"a","pair":"b"})");
  EXPECT_EQ(pair.exit_code, 2);
  EXPECT_NE(pair.error.find("rerank takes single texts"), std::string::npos) << pair.error;
  const ProgramRun embedder = run_program({"rerank", tiny_model("st_mean").string(), "--query", "a", "b"});
  EXPECT_EQ(embedder.exit_code, 3);
  EXPECT_TRUE(embedder.error.ends_with(": BertModel\n")) << embedder.error;
}

}  // namespace
}  // namespace alate::tests
