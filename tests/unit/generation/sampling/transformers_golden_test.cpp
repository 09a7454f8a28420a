// Steps of sampling against the logits processors of transformers: tests/golden/record_sampling.py.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "generation/sampling/penalties.h"
#include "generation/sampling/truncation.h"
#include "tests/source_folder.h"
#include "tests/unit/generation/sampling/rows.h"

namespace alate::generation {
namespace {

using formats::Json;

class TransformersGolden : public ::testing::Test {
 protected:
  TransformersGolden()
      : golden_(formats::parse_json(base::read_text_file(source_folder() / "tests/golden/sampling.json"),
                                    "sampling.json")) {
    for (const auto& [name, values] : golden_.find("rows")->as_object("rows")) {
      for (const Json& value : values.as_array(name))
        rows_[name].push_back(value.is_null() ? kForbidden : static_cast<float>(value.as_double(name)));
    }
  }

  const Json::Array& cases(const char* kind) const { return golden_.find(kind)->as_array(kind); }
  const std::vector<float>& row_of_case(const Json& json) const { return rows_.at(json.get_string("row", "")); }

  static std::vector<std::int32_t> tokens(const Json& json, const char* key) {
    std::vector<std::int32_t> tokens;
    for (const Json& token : json.find(key)->as_array(key))
      tokens.push_back(static_cast<std::int32_t>(token.as_int(key)));
    return tokens;
  }

 private:
  Json golden_;
  std::map<std::string, std::vector<float>> rows_;
};

TEST_F(TransformersGolden, StepsKeepTheSameTokens) {
  ASSERT_GT(cases("steps").size(), 60U);
  for (const Json& json : cases("steps")) {
    Candidates candidates = candidates_of(row_of_case(json));
    const std::string step = json.get_string("step", "");
    const double value = json.get_double("value", 0);
    const auto min_keep = static_cast<std::size_t>(json.get_int("min_keep", 1));
    if (step == "top_k") keep_top_k(candidates, static_cast<std::size_t>(value));
    if (step == "top_p") keep_top_p(candidates, value, min_keep);
    if (step == "min_p") keep_min_p(candidates, value, min_keep);
    if (step == "typical_p") keep_typical(candidates, value, min_keep);
    EXPECT_EQ(ids_of(candidates), tokens(json, "kept")) << to_json_text(json);
  }
}

TEST_F(TransformersGolden, RepetitionPenaltyGivesTheSameLogits) {
  for (const Json& json : cases("penalties")) {
    std::vector<float> row = row_of_case(json);
    const SamplingOptions options = {.repetition_penalty = json.get_double("penalty", 1)};
    TokenHistory history(TokenHistory::kAll);
    history.add_prompt(tokens(json, "tokens"));
    std::vector<std::uint32_t> counts(row.size());
    apply_penalties(options, history, row, counts);
    const std::vector<std::int32_t> distinct = tokens(json, "distinct");
    const Json::Array& scores = json.find("scores")->as_array("scores");
    ASSERT_EQ(scores.size(), distinct.size());
    for (std::size_t i = 0; i < distinct.size(); ++i)
      EXPECT_FLOAT_EQ(row[static_cast<std::size_t>(distinct[i])], static_cast<float>(scores[i].as_double("scores")));
  }
}

TEST_F(TransformersGolden, TemperatureGivesTheSameProbabilities) {
  for (const Json& json : cases("temperatures")) {
    Candidates candidates = candidates_of(row_of_case(json));
    candidates.divide(json.get_double("temperature", 1));
    const double total = candidates.total();
    const Json::Array& probabilities = json.find("probabilities")->as_array("probabilities");
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const auto id = static_cast<std::size_t>(candidates.id(i));
      if (id >= probabilities.size()) break;
      const double expected = probabilities[id].as_double("probabilities");
      EXPECT_NEAR(static_cast<double>(candidates.weights()[i]) / total, expected, 1e-9 + 2e-6 * expected);
    }
  }
}

}  // namespace
}  // namespace alate::generation
