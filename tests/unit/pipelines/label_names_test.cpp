// The names of labels in a config.json that has all, some or contradictory entries.
#include "pipelines/tasks/label_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/base/logged_warnings.h"

namespace alate::pipelines {
namespace {

using formats::Json;
using Names = std::vector<std::string>;

Json config(const std::string& members) { return formats::parse_json("{" + members + "}", "config.json"); }

TEST(LabelNames, AreThoseOfEitherTable) {
  EXPECT_EQ(label_names(config(R"("id2label": {"0": "no", "1": "yes"})"), 2), (Names{"no", "yes"}));
  EXPECT_EQ(label_names(config(R"("label2id": {"yes": 1, "no": 0})"), 2), (Names{"no", "yes"}));
  EXPECT_EQ(label_names(config(R"("id2label": {}, "label2id": {"yes": "1", "no": "0"})"), 2), (Names{"no", "yes"}));
  EXPECT_EQ(label_names(config(R"("id2label": {"0": "a"}, "label2id": {"b": 0, "c": 1})"), 2), (Names{"a", "LABEL_1"}));
  EXPECT_EQ(label_names(config(R"("id2label": {"0": 5, "1": "one", "7": "far", "1x": "none"})"), 2),
            (Names{"5", "one"}));
  EXPECT_EQ(label_names(config(""), 2), (Names{"LABEL_0", "LABEL_1"}));
}

TEST(LabelNames, AreCountedAsTransformersDoes) {
  EXPECT_EQ(stated_label_count(config(R"("id2label": {"0": "a"}, "num_labels": 3)")), 1);
  EXPECT_EQ(stated_label_count(config(R"("num_labels": 3, "label2id": {"a": 0})")), 3);
  EXPECT_EQ(stated_label_count(config(R"("label2id": {"a": 0})")), 1);
  EXPECT_EQ(stated_label_count(config("")), 2);
}

TEST(LabelNames, EachTableIsMadeOfTheOther) {
  const auto tables = [](const std::string& members) {
    const LabelTables made = label_tables(config(members));
    return formats::to_json_text(made.id2label) + formats::to_json_text(made.label2id);
  };
  EXPECT_EQ(tables(R"("label2id": {"yes": 1, "no": 0})"), R"({"0":"no","1":"yes"}{"yes":1,"no":0})");
  EXPECT_EQ(tables(R"("id2label": {"1": "yes", "0": "no"})"), R"({"1":"yes","0":"no"}{"no":0,"yes":1})");
  EXPECT_EQ(tables(""), R"({"0":"LABEL_0"}{"LABEL_0":0})");
}

Names warnings_of(const std::string& members) {
  const base::LoggedWarnings warnings;
  warn_of_differing_labels(config(members));
  return warnings.lines();
}

TEST(LabelNames, TablesThatDifferAreWarnedOf) {
  EXPECT_EQ(warnings_of(R"("id2label": {"0": "no", "1": "yes"}, "label2id": {"no": 1, "yes": 0}, "num_labels": 3)"),
            (Names{"config.json: id2label and label2id name labels differently; id2label is taken label=0 id2label=no "
                   "label2id=yes",
                   "config.json: num_labels is not the number of labels in id2label, which is taken num_labels=3 "
                   "id2label=2"}));
  for (const char* agreed : {"", R"("label2id": {"yes": 0})", R"("num_labels": 3)",
                             R"("id2label": {"0": "a"}, "label2id": {"a": 0}, "num_labels": 1)"})
    EXPECT_TRUE(warnings_of(agreed).empty()) << agreed;
}

}  // namespace
}  // namespace alate::pipelines
